// Who is signed in: the key of this browser tab, the client that sends it, and whether the service
// wants one at all.

import { Analytics } from '../client/analytics.ts';
import { Connection } from '../client/connection.ts';
import { type Health, HedgerowApiError } from '../client/index.ts';
import { Query } from '../client/query.ts';
import { Indexes, Keys, Service, Tables, Wal } from '../client/resources.ts';
import { Rules } from '../client/rules.ts';
import { sentenceOf } from './failure.tsx';
import { given } from './given.ts';
import { signal } from './preact.ts';
import { watchedFetch } from './service-state.ts';

/**
 * Those of the client that the page begins with; views that need others make them over the
 * connection.
 */
function resourcesOver(connection: Connection) {
  return {
    query: new Query(connection),
    analytics: new Analytics(connection),
    rules: new Rules(connection),
    tables: new Tables(connection),
    indexes: new Indexes(connection),
    wal: new Wal(connection),
    keys: new Keys(connection),
    service: new Service(connection),
  };
}

export interface Session {
  readonly connection: Connection;
  readonly client: ReturnType<typeof resourcesOver>;
  /** Empty: the service asks for none. */
  readonly key: string;
  readonly health: Health;
}

const STORED_KEY = 'hedgerow.key';

/** Undefined: nobody is signed in. */
export const session = signal<Session | undefined>(undefined);
/** False until it is known whether a key is needed. */
export const hasLooked = signal(false);

/** The service that the page came from, whatever path a proxy puts in front. */
export const serviceUrl = (): string => new URL('.', location.href).href.replace(/\/$/, '');

/**
 * Takes the key that this tab holds, or the one in its address, or none where the service needs
 * none.
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

/** The page came with the answer: without a key any question would be refused. */
function isKeyWanted(): boolean {
  return document.querySelector('meta[name=hedgerow-key]')?.getAttribute('content') === 'wanted';
}

/** Throws what the service says of the key. */
export async function signIn(key: string): Promise<void> {
  const connection = new Connection({
    url: serviceUrl(),
    apiKey: key,
    maxAttempts: 2,
    readYourWrites: true,
    fetch: watchedFetch,
  });
  const client = resourcesOver(connection);
  const health = await client.service.health();
  if (key !== '' && !health.auth_disabled) sessionStorage.setItem(STORED_KEY, key);
  session.value = { connection, client, key: health.auth_disabled ? '' : key, health };
}

export function signOut(): void {
  sessionStorage.clear();
  session.value = undefined;
}

/** Of the person who is signed in; views are shown to nobody else. */
function current(): Session {
  if (session.value === undefined) throw new Error('Sign in first.');
  return session.value;
}

export const client = (): Session['client'] => current().client;
export const connection = (): Connection => current().connection;
