// Who is signed in: the key of this browser tab, the client that sends it, and whether the service wants one at all.

import { type Health, HedgerowApiError, HedgerowClient } from '../client/index.ts';
import { sentenceOf } from './failure.tsx';
import { given } from './given.ts';
import { signal } from './preact.ts';

export interface Session {
  readonly client: HedgerowClient;
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

/** Takes up the key this tab holds, or the one its address brought, or goes on without one where none is asked for. */
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
  const client = new HedgerowClient({ url: serviceUrl(), apiKey: key, maxAttempts: 2, readYourWrites: true });
  const health = await client.service.health();
  if (key !== '' && !health.auth_disabled) sessionStorage.setItem(STORED_KEY, key);
  session.value = { client, key: health.auth_disabled ? '' : key, health };
}

export function signOut(): void {
  sessionStorage.clear();
  session.value = undefined;
}

/** The client of whoever is signed in; views are shown to nobody else. */
export function client(): HedgerowClient {
  const current = session.value;
  if (current === undefined) throw new Error('Sign in first.');
  return current.client;
}
