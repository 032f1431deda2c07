// Reads whole results from a backend. Several questions can share one deadline.

import type { QueryOptions, RowBatches, SqlRow } from '../backend.ts';
import { openDeadline } from './deadline.ts';

/**
 * Runs SQL written by this package and reads the whole result. `most` is a time limit in
 * milliseconds.
 */
export type Ask = (sql: string, most?: number) => Promise<readonly SqlRow[]>;

/**
 * Runs `work`, which may ask any number of questions. Together the questions must keep to the time
 * limit in `options`.
 */
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
