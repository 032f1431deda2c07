// What an operator does with the tables in PostgreSQL: makes them, and looks at their state.

import { Postgres } from './connection.ts';
import { readLease } from './lease.ts';
import { readEnd, readOldest } from './log-rows.ts';
import { type ProcessState, readProcesses } from './processes.ts';
import { checkDurability, initSchema, readIdentity } from './schema.ts';
import { newestSnapshot, type StoredSnapshot } from './snapshots.ts';

export interface InitResult {
  /** Version of the tables before; 0 if there were none. */
  readonly from: number;
  readonly to: number;
  readonly database: string;
  readonly warnings: readonly string[];
}

export interface ClusterStatus {
  readonly database: string;
  readonly log: { readonly oldestLsn: number | null; readonly lastLsn: number; readonly bytes: number };
  /** Null if the lease is free. */
  readonly leader: { readonly url: string; readonly holder: string; readonly leftMs: number } | null;
  readonly epoch: number;
  /** The live processes, with the leader. */
  readonly processes: readonly ProcessState[];
  readonly snapshot: StoredSnapshot | null;
  readonly warnings: readonly string[];
}

/**
 * Makes the tables, or brings them up to date. Rejects with `ConnectionLost`, or with
 * `invalid_input` if the server cannot be used.
 */
export async function initCluster(dsn: string): Promise<InitResult> {
  const connection = await new Postgres({ dsn }).connect({ commits: 'wait' });
  try {
    const warnings = await checkDurability(connection);
    const { from, to } = await initSchema(connection);
    const { id } = await readIdentity(connection);
    return { from, to, database: id, warnings };
  } finally {
    await connection.close();
  }
}

/** Rejects like `initCluster`. */
export async function readStatus(dsn: string): Promise<ClusterStatus> {
  const connection = await new Postgres({ dsn }).connect({ commits: 'local' });
  try {
    const { id } = await readIdentity(connection);
    const { epoch, url, holder, leftMs } = await readLease(connection);
    const [size] = await connection.run("SELECT pg_total_relation_size('hedgerow_log')");
    return {
      database: id,
      log: {
        oldestLsn: (await readOldest(connection)) ?? null,
        lastLsn: (await readEnd(connection)).lsn,
        bytes: Number(size![0]),
      },
      leader: leftMs > 0 ? { url, holder, leftMs: Math.round(leftMs) } : null,
      epoch,
      processes: await readProcesses(connection),
      snapshot: (await newestSnapshot(connection)) ?? null,
      warnings: await durabilityWarnings(connection),
    };
  } finally {
    await connection.close();
  }
}

/** This connection does not wait for the standby, so only what concerns the server is looked at. */
async function durabilityWarnings(connection: Parameters<typeof checkDurability>[0]): Promise<string[]> {
  await connection.run('RESET synchronous_commit');
  return checkDurability(connection).catch((error: Error) => [error.message]);
}
