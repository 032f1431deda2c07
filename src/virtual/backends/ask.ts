// Asks a backend for rows all at once, within the time that the whole work has.

import type { QueryOptions, RowBatches, SqlRow } from '../backend.ts';
import { openDeadline } from './deadline.ts';

/** Runs SQL of this package and reads it whole. `most`: milliseconds. */
export type Ask = (sql: string, most?: number) => Promise<readonly SqlRow[]>;

/** `work` asks as often as it likes; all its questions together have the time of `options`. */
export async function asking<T>(
  options: QueryOptions,
  run: (sql: string, options: QueryOptions) => RowBatches,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const deadline = openDeadline(options);
  try {
    return await work(async (sql, most) => {
      const left = deadline.left();
      const deadlineMs = most === undefined || left === undefined ? (most ?? left) : Math.min(most, left);
      const rows: SqlRow[] = [];
      for await (const batch of run(sql, { deadlineMs, signal: deadline.signal })) rows.push(...batch);
      return rows;
    });
  } finally {
    deadline.end();
  }
}
