// Fills tables on a simulated disk with simple rows, and reads what tests of compactions inspect.

import type { Database, Table } from '../../src/engine/index.ts';
import { rowsOf } from './sim-engine.ts';
import type { SimFs } from './sim-fs.ts';

/** Directory that contains the segments of the primary table. */
const DIR = '/db/tables/1';

export async function fill(table: Table, times: Iterable<number>): Promise<void> {
  const bulk = table.bulk();
  for (const eventTs of times) bulk.add({ event_ts: eventTs, members: [eventTs % 7, eventTs + 100] });
  await bulk.commit();
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

export function segmentFiles(fs: SimFs, dir = DIR): string[] {
  return fs.exists(dir) ? fs.list(dir).filter((name) => name.startsWith('seg-')) : [];
}

export function times(database: Database): number[] {
  return rowsOf(database.table()).map((row) => row.event_ts as number);
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}
