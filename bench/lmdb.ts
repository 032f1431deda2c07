// LMDB as a peer of the load bench, if it is installed. It stores the same tables as SQLite, but as
// ordered keys.

import type { Edge } from './dataset.ts';
import { BATCH_EDGES } from './stores.ts';

export interface LmdbStore {
  load(path: string, edges: readonly Edge[]): Promise<void>;
}

/**
 * The part of the package's API that is used here. The package is not a dependency, so its own
 * types are missing.
 */
interface Lmdb {
  open(options: Record<string, unknown>): Environment;
}
interface Environment extends Database {
  openDB(options: Record<string, unknown>): Database;
  transactionSync(work: () => void): void;
  close(): Promise<void>;
}
interface Database {
  putSync(key: unknown, value: unknown): boolean;
}

/** Returns undefined if the package is not installed. */
export async function openLmdb(): Promise<LmdbStore | undefined> {
  const name = 'lmdb';
  let lmdb: Lmdb;
  try {
    lmdb = (await import(name)) as Lmdb;
  } catch {
    return undefined;
  }
  return { load: (path, edges) => load(lmdb, path, edges) };
}

/**
 * Stores edges by id as JSON text, and ids by (ts, id) and by (node, id). Every transaction is
 * synced before it ends.
 */
async function load(lmdb: Lmdb, path: string, edges: readonly Edge[]): Promise<void> {
  const environment = lmdb.open({ path, mapSize: 4 * 2 ** 30, maxDbs: 3 });
  const byId = environment.openDB({ name: 'e', encoding: 'string' });
  const byTime = environment.openDB({ name: 'ts', encoding: 'binary' });
  const byNode = environment.openDB({ name: 'm', encoding: 'binary' });
  const nothing = Buffer.alloc(0);
  for (let from = 0; from < edges.length; from += BATCH_EDGES) {
    environment.transactionSync(() => {
      for (let i = from; i < Math.min(edges.length, from + BATCH_EDGES); i++) {
        const { event_ts, members } = edges[i]!;
        byId.putSync(i + 1, `{"ts":${event_ts},"members":${JSON.stringify(members)}}`);
        byTime.putSync([event_ts, i + 1], nothing);
        for (const member of members) byNode.putSync([member, i + 1], nothing);
      }
    });
  }
  await environment.close();
}
