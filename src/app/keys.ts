// Opens the API keys of the service.

import { randomBytes } from 'node:crypto';
import { KeyStore } from '../access/keys.ts';
import type { Config } from '../config.ts';
import type { Database } from '../engine/index.ts';
import type { Logger } from '../observe/log.ts';

export const KEY_FLUSH_MS = 60_000;

export interface OpenedKeys {
  keys: KeyStore | undefined;
  firstKey: string | undefined;
}

export const NO_KEYS: OpenedKeys = { keys: undefined, firstKey: undefined };

/** Opens the keys of a leader, whose changes arrive with its log. */
export function followKeys({ documents }: Database): KeyStore {
  return KeyStore.follow({ documents, now: () => Date.now(), randomBytes });
}

/** Opens the keys of a database that this process writes, and creates the first one. */
export async function openKeys({ apiKey }: Config, { documents }: Database, log: Logger): Promise<OpenedKeys> {
  const opened = await KeyStore.open({ documents, now: () => Date.now(), randomBytes, bootstrapKey: apiKey });
  const { keys } = opened;
  if (apiKey !== undefined && !keys.knows(apiKey)) {
    log.warn('HEDGEROW_API_KEY is not among the stored keys: it becomes a key only in a data directory that has none.');
  }
  if (keys.validAdmins === 0) {
    log.warn('No admin key is valid. Stop the server and make one: hedgerow keys create --role admin --data DIR.');
  }
  return opened;
}

/** Stores when the keys were last used. Never rejects. */
export async function flushKeys(keys: KeyStore, log: Logger): Promise<void> {
  try {
    await keys.flush();
  } catch (error) {
    log.warn('the times at which keys were last used could not be written', { error: (error as Error).message });
  }
}
