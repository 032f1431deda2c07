// Manages a temporary directory for one run of the benches. Several parts share its stores, each of
// which is built at its first use.

import { closeSync, cpSync, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from 'hedgerow';
import type { Edge } from './dataset.ts';
import { insertEdges, loadHedgerow, loadSqlite } from './stores.ts';

export class Workspace {
  readonly dir = mkdtempSync(join(tmpdir(), 'hedgerow-bench-'));
  #next = 1;
  #compacted: string | undefined;
  #logged: string | undefined;
  #sqlite: string | undefined;

  /** Returns a path that is not used elsewhere. */
  fresh(name: string): string {
    return join(this.dir, `${name}-${this.#next++}`);
  }

  /** Returns a data directory, compacted and closed. Callers must copy it before changing it. */
  async compacted(edges: readonly Edge[]): Promise<string> {
    if (this.#compacted === undefined) {
      const dir = this.fresh('compacted');
      await (await loadHedgerow(dir, edges)).close();
      this.#compacted = dir;
    }
    return this.#compacted;
  }

  /**
   * Returns a data directory with all edges in the log, as a crash leaves it. It is copied while
   * the database is open, after its last commit.
   */
  async logged(edges: readonly Edge[]): Promise<string> {
    if (this.#logged === undefined) {
      const open = this.fresh('open');
      const database = await openDatabase({ dir: open });
      await insertEdges(database, edges);
      this.#logged = this.copy(open);
      await database.close();
      this.remove(open);
    }
    return this.#logged;
  }

  /** Returns an SQLite file, vacuumed and closed, with its WAL checkpointed. */
  sqlite(edges: readonly Edge[]): string {
    if (this.#sqlite === undefined) {
      const file = this.fresh('sqlite');
      const database = loadSqlite(file, edges);
      database.exec('vacuum');
      database.pragma('wal_checkpoint(TRUNCATE)');
      database.close();
      this.#sqlite = file;
    }
    return this.#sqlite;
  }

  /**
   * Copies a data directory without its lock. Syncs the copy, so that the first sync of a database
   * opened on it does not have to write the copied bytes.
   */
  copy(dir: string): string {
    const target = this.fresh('copy');
    cpSync(dir, target, { recursive: true, filter: (path) => !path.slice(dir.length).startsWith('/lock') });
    syncFiles(target);
    return target;
  }

  remove(path: string): void {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { recursive: true, force: true });
  }

  dispose(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

function syncFiles(path: string): void {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) syncFiles(join(path, name));
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Returns the disk space used by the files below a path, in bytes. */
export function diskBytes(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.blocks * 512;
  let bytes = 0;
  for (const name of readdirSync(path)) bytes += diskBytes(join(path, name));
  return bytes;
}
