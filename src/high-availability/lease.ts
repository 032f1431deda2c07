// The lease of the leader: one row, which says who may append to the log and until when. All times
// are those of the database's clock, so the clocks of the processes do not matter.
//
// Every change of the holder makes the epoch one higher. An append names its epoch and locks the
// row's key while it is committed; a change of the epoch, which is the key, waits for it. So once a
// change has returned, no append of an earlier epoch can be committed any more, however long its
// sender was stopped. A renewal does not change the key and waits for no append.

import type { Connection } from './connection.ts';

/** How long a lease lasts without a renewal: three of them are missed. */
export const LEASE_MS = 3000;
export const RENEW_MS = 1000;

export interface LeaseState {
  readonly epoch: number;
  readonly holder: string;
  /** Address of the holder for clients. */
  readonly url: string;
  /** Time until it expires; 0 or less if it is free. */
  readonly leftMs: number;
}

export async function readLease(connection: Connection, timeoutMs?: number): Promise<LeaseState> {
  const [row] = await connection.run(
    `SELECT epoch, holder, url,
      CASE WHEN isfinite(expires_at) THEN extract(epoch FROM expires_at - clock_timestamp()) * 1000 ELSE -1 END
      FROM hedgerow_lease`,
    [],
    timeoutMs,
  );
  const [epoch, holder, url, leftMs] = row!;
  return { epoch: Number(epoch), holder: holder!, url: url!, leftMs: Number(leftMs) };
}

/** Takes the lease if it is free. Resolves with the new epoch; undefined if another has it. */
export function takeLease(
  connection: Connection,
  holder: string,
  url: string,
  timeoutMs?: number,
): Promise<number | undefined> {
  return changeEpoch(
    connection,
    `UPDATE hedgerow_lease SET epoch = epoch + 1, holder = $1, url = $2, ${EXPIRES}
      WHERE expires_at <= clock_timestamp() OR holder = $1 RETURNING epoch`,
    [holder, url],
    timeoutMs,
  );
}

/**
 * Goes on to the next epoch under the same holder; waits for appends of the present one that are
 * still being committed. Resolves with the new epoch; undefined if the lease was lost.
 */
export function advanceLease(connection: Connection, holder: string, epoch: number): Promise<number | undefined> {
  return changeEpoch(
    connection,
    `UPDATE hedgerow_lease SET epoch = epoch + 1, ${EXPIRES} WHERE epoch = $2 AND holder = $1 RETURNING epoch`,
    [holder, epoch],
  );
}

const EXPIRES = `expires_at = clock_timestamp() + interval '${LEASE_MS} milliseconds'`;

async function changeEpoch(
  connection: Connection,
  sql: string,
  values: readonly unknown[],
  timeoutMs?: number,
): Promise<number | undefined> {
  const { warnings } = connection;
  const [row] = await connection.run(sql, values, timeoutMs);
  // The server warns if it has not waited for the standby. The next change of the epoch waits
  // again.
  if (connection.warnings !== warnings) return undefined;
  return row === undefined ? undefined : Number(row[0]);
}

/** Resolves with false if the lease was lost. */
export async function renewLease(
  connection: Connection,
  holder: string,
  epoch: number,
  timeoutMs: number,
): Promise<boolean> {
  const sql = `UPDATE hedgerow_lease SET ${EXPIRES} WHERE epoch = $2 AND holder = $1 RETURNING 1`;
  return (await connection.run(sql, [holder, epoch], timeoutMs)).length > 0;
}

/** Gives the lease back, so that another can take it at once. */
export async function releaseLease(connection: Connection, holder: string, timeoutMs: number): Promise<void> {
  const sql = "UPDATE hedgerow_lease SET expires_at = '-infinity' WHERE holder = $1";
  await connection.run(sql, [holder], timeoutMs);
}
