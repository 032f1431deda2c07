// Holds who is signed in: the key of this browser tab, the client that sends it, and whether the
// service needs a key at all.

import { Analytics } from '../client/analytics.ts';
import { Connection } from '../client/connection.ts';
import { type Health, HedgerowApiError } from '../client/index.ts';
import { Query } from '../client/query.ts';
import { sentenceOf } from './failure.tsx';
import { given } from './given.ts';
import { signal } from './preact.ts';
import { watchedFetch } from './service-state.ts';

/**
 * Returns the parts of the client that the page needs at first; views create further parts, or make
 * single calls, over the connection.
 */
function resourcesOver(connection: Connection) {
  return {
    query: new Query(connection),
    analytics: new Analytics(connection),
  };
}

export interface Session {
  readonly connection: Connection;
  readonly client: ReturnType<typeof resourcesOver>;
  /** Empty when the service needs no key. */
  readonly key: string;
  readonly health: Health;
}

const STORED_KEY = 'hedgerow.key';

/** Undefined when nobody is signed in. */
export const session = signal<Session | undefined>(undefined);
/** False until the page knows whether a key is needed, or has failed to ask the service. */
export const hasLooked = signal(false);

/** Returns the URL from which the page was loaded, including a path that a proxy puts in front. */
export const serviceUrl = (): string => new URL('.', location.href).href.replace(/\/$/, '');

/**
 * Signs in with the key stored in this tab or in the address, or without a key if the service needs
 * none. Resolves with a message when that fails.
 */
export async function resumeSession(): Promise<string | undefined> {
  const key = sessionStorage.getItem(STORED_KEY) ?? given.key;
  if (key === '' && isKeyWanted()) {
    hasLooked.value = true;
    return undefined;
  }
  try {
    await signIn(key);
    return undefined;
  } catch (error) {
    if (error instanceof HedgerowApiError && error.statusCode === 401) {
      sessionStorage.removeItem(STORED_KEY);
      return key === '' ? undefined : error.detail;
    }
    return sentenceOf(error);
  } finally {
    hasLooked.value = true;
  }
}

/**
 * Returns whether the page states that a key is needed; any request without a key would then be
 * refused.
 */
function isKeyWanted(): boolean {
  return document.querySelector('meta[name=hedgerow-key]')?.getAttribute('content') === 'wanted';
}

/** Signs in with a key. Throws the error of the service if it refuses the key. */
export async function signIn(key: string): Promise<void> {
  const connection = new Connection({
    url: serviceUrl(),
    apiKey: key,
    maxAttempts: 2,
    readYourWrites: true,
    fetch: watchedFetch,
  });
  const client = resourcesOver(connection);
  const health = await connection.json<Health>('getHealth');
  if (key !== '' && !health.auth_disabled) sessionStorage.setItem(STORED_KEY, key);
  session.value = { connection, client, key: health.auth_disabled ? '' : key, health };
}

export function signOut(): void {
  sessionStorage.clear();
  session.value = undefined;
}

/** Returns the session. Views are shown only to a user who is signed in. */
function current(): Session {
  if (session.value === undefined) throw new Error('Sign in first.');
  return session.value;
}

export const client = (): Session['client'] => current().client;
export const connection = (): Connection => current().connection;
