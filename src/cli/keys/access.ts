// Gives `hedgerow keys` access to API keys: on a running server, or in a data directory that no
// server has open.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CreatedKey, KeyItem } from '../../access/key-record.ts';
import { KeyStore, type NewKey } from '../../access/keys.ts';
import { type Database, openDatabase } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { loadSettings } from '../config/load.ts';
import { NoAnswer, ServerClient } from '../import/targets/server-client.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { UsageError, type World } from '../world.ts';

export interface AccessFlags {
  url?: string | undefined;
  apiKey?: string | undefined;
  data?: string | undefined;
  config?: string | undefined;
}

export interface KeyAccess {
  list(): Promise<KeyItem[]>;
  create(input: NewKey): Promise<CreatedKey>;
  revoke(keyId: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the keys of the server or data directory that the flags name. With `mayMake`, creates a
 * missing directory. Throws UsageError, ConfigError, or the error of opening the directory.
 */
export function openKeyAccess(flags: AccessFlags, mayMake: boolean, world: World): Promise<KeyAccess> {
  if (flags.data !== undefined) return openDirectory(flags.data, flags, mayMake, world);
  if (flags.config !== undefined) throw new UsageError('--config needs --data: a server has its own settings.');
  const client = new ServerClient({ url: urlOf(flags.url ?? DEFAULT_URL), apiKey: flags.apiKey }, world.now);
  return Promise.resolve(new ServerKeys(client));
}

class ServerKeys implements KeyAccess {
  readonly #client: ServerClient;

  constructor(client: ServerClient) {
    this.#client = client;
  }

  list(): Promise<KeyItem[]> {
    return reached(this.#client.listKeys());
  }

  create({ role, description, expiresDays }: NewKey): Promise<CreatedKey> {
    return reached(this.#client.createKey({ role, description, expires_days: expiresDays }));
  }

  revoke(keyId: string): Promise<void> {
    return reached(this.#client.revokeKey(keyId));
  }

  async close(): Promise<void> {}
}

async function reached<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw new Error(`${error.message} Start it with hedgerow serve, or name its directory with --data DIR.`);
  }
}

async function openDirectory(data: string, flags: AccessFlags, mayMake: boolean, world: World): Promise<KeyAccess> {
  if (flags.url !== undefined) throw new UsageError('--data and --url exclude each other.');
  const dir = resolve(world.cwd, data);
  if (!mayMake && !existsSync(dir)) throw new Error(`There is no directory ${data}.`);
  // The settings need a valid address, although no server is started.
  const settings = { host: '127.0.0.1', dataDir: dir };
  const { primaryTable, memoryBudgetMb, maxMembers } = loadSettings({ config: flags.config, settings }, world).config;
  let database: Database;
  try {
    database = await openDatabase({ dir, primaryTable, memoryBudgetMb, maxMembers });
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.code !== 'conflict') throw error;
    throw new HedgerowError(
      'conflict',
      `${error.message} If a server runs on the directory, --url sends the command to it.`,
    );
  }
  try {
    return new DirectoryKeys(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

class DirectoryKeys implements KeyAccess {
  readonly #database: Database;
  readonly #keys: KeyStore;

  constructor(database: Database) {
    this.#database = database;
    this.#keys = KeyStore.load({ documents: database.documents, now: () => Date.now(), randomBytes });
  }

  async list(): Promise<KeyItem[]> {
    return this.#keys.list();
  }

  create(input: NewKey): Promise<CreatedKey> {
    if (input.role !== 'admin' && this.#keys.validAdmins === 0) {
      throw new Error('There is no valid admin key in this directory; create one first, with --role admin.');
    }
    return this.#keys.create(input);
  }

  revoke(keyId: string): Promise<void> {
    return this.#keys.revoke(keyId);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
