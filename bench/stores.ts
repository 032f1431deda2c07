// Loads the two stores that are compared, both in the same way: Hedgerow through its package, and
// SQLite through better-sqlite3.

import Sqlite from 'better-sqlite3';
import { openDatabase } from 'hedgerow';
import type { Edge } from './dataset.ts';

/** Number of edges per durable commit. */
export const BATCH_EDGES = 10_000;

export type Hedgerow = Awaited<ReturnType<typeof openDatabase>>;

/** Inserts into the primary table, with a durable commit per batch. */
export async function insertEdges(database: Hedgerow, edges: readonly Edge[]): Promise<void> {
  const table = database.table();
  for (let from = 0; from < edges.length; from += BATCH_EDGES) {
    const to = Math.min(edges.length, from + BATCH_EDGES);
    const bulk = table.bulk();
    for (let i = from; i < to; i++) bulk.add(edges[i]!);
    await bulk.commit();
  }
}

/** Opens a directory, loads it and compacts it, which builds its indexes. */
export async function loadHedgerow(dir: string, edges: readonly Edge[]): Promise<Hedgerow> {
  const database = await openDatabase({ dir });
  await insertEdges(database, edges);
  await database.compact();
  return database;
}

const SCHEMA = `
  create table e(id integer primary key, ts integer not null, members text not null, weight real);
  create table m(node integer not null, eid integer not null, primary key(node, eid)) without rowid;
  create index e_ts on e(ts);
`;

/**
 * Opens a file as a durable SQLite database. Its cache holds the whole file, just as ours holds all
 * segments.
 */
export function openSqlite(file: string): Sqlite.Database {
  const database = new Sqlite(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('cache_size = -524288');
  database.pragma('mmap_size = 536870912');
  return database;
}

/** Loads the edges with the ids that Hedgerow assigns: 1, 2, 3, ... in edge order. */
export function loadSqlite(file: string, edges: readonly Edge[]): Sqlite.Database {
  const database = openSqlite(file);
  database.exec(SCHEMA);
  const insertEdge = database.prepare('insert into e(id, ts, members, weight) values (?, ?, ?, null)');
  const insertMember = database.prepare('insert into m(node, eid) values (?, ?)');
  const insertBatch = database.transaction((from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const { event_ts, members } = edges[i]!;
      insertEdge.run(i + 1, event_ts, JSON.stringify(members));
      for (const member of members) insertMember.run(member, i + 1);
    }
  });
  for (let from = 0; from < edges.length; from += BATCH_EDGES)
    insertBatch(from, Math.min(edges.length, from + BATCH_EDGES));
  return database;
}
