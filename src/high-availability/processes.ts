// The processes of a database, as each tells the others: its address, how far it is, and which part
// of the log it still needs.

import type { Connection } from './connection.ts';

export interface ProcessState {
  /** Random; another one after each start. */
  readonly id: string;
  readonly url: string;
  /** Newest LSN that its reads see. */
  readonly lsn: number;
  /** It does not need the log up to this LSN. */
  readonly neededLsn: number;
  /** Time since it said so, in milliseconds. */
  readonly ageMs: number;
}

/** A process that says nothing for this long is taken for dead: the log is not kept for it. */
const LIVE_SECONDS = 60;
/** After this long, it is forgotten. */
const FORGOTTEN_SECONDS = 3600;

export async function tellState(
  connection: Connection,
  { id, url, lsn, neededLsn }: Omit<ProcessState, 'ageMs'>,
): Promise<void> {
  await connection.run(
    `INSERT INTO hedgerow_followers VALUES ($1, $2, $3, $4, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET url = $2, lsn = $3, needed_lsn = $4, seen_at = clock_timestamp()`,
    [id, url, lsn, neededLsn],
  );
}

/** Removes this process, which ends, and those that ended long ago. */
export async function leave(connection: Connection, id: string): Promise<void> {
  await connection.run(
    `DELETE FROM hedgerow_followers
      WHERE id = $1 OR seen_at < clock_timestamp() - interval '${FORGOTTEN_SECONDS} seconds'`,
    [id],
  );
}

export async function readProcesses(connection: Connection): Promise<ProcessState[]> {
  const rows = await connection.run(
    `SELECT id, url, lsn, needed_lsn, extract(epoch FROM clock_timestamp() - seen_at) * 1000
      FROM hedgerow_followers WHERE seen_at > clock_timestamp() - interval '${LIVE_SECONDS} seconds' ORDER BY url, id`,
  );
  return rows.map(([id, url, lsn, neededLsn, ageMs]) => ({
    id: id!,
    url: url!,
    lsn: Number(lsn),
    neededLsn: Number(neededLsn),
    ageMs: Number(ageMs),
  }));
}

/**
 * Resolves with the LSN up to which neither another live process than `id` nor a new one, which
 * begins with the newest snapshot, needs the log.
 */
export async function removableLsn(connection: Connection, id: string): Promise<number> {
  const [row] = await connection.run(
    `SELECT COALESCE((SELECT max(log_lsn) FROM hedgerow_snapshot), 0),
      (SELECT min(needed_lsn) FROM hedgerow_followers
        WHERE id <> $1 AND seen_at > clock_timestamp() - interval '${LIVE_SECONDS} seconds')`,
    [id],
  );
  const [snapshotLsn, neededLsn] = row!;
  return Math.min(Number(snapshotLsn), neededLsn === null ? Number.POSITIVE_INFINITY : Number(neededLsn));
}
