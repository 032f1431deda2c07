// Opens logs in a PostgreSQL of the tests: each in a schema of its own, as a leader that takes the
// lease at once.

import { Postgres } from '../../src/high-availability/connection.ts';
import { takeLease } from '../../src/high-availability/lease.ts';
import { notLeader } from '../../src/high-availability/log-appender.ts';
import { openPostgresLog, type PostgresLog } from '../../src/high-availability/postgres-log.ts';
import { initSchema } from '../../src/high-availability/schema.ts';
import { SharedConnection } from '../../src/high-availability/shared-connection.ts';
import { Tenure } from '../../src/high-availability/tenure.ts';
import type { LogOpening } from '../../src/storage/log-store.ts';
import { crc32c } from './crc32c.ts';
import type { TestPostgres } from './postgres.ts';

let schemas = 0;

/** Returns the address of a new schema with the tables of the log. */
export async function newSchema(server: Pick<TestPostgres, 'address' | 'run'>): Promise<string> {
  const name = `log_${++schemas}`;
  await server.run(`CREATE SCHEMA ${name}`);
  const dsn = `${server.address}?options=-csearch_path%3D${name}`;
  const connection = await new Postgres({ dsn }).connect({ commits: 'wait' });
  await initSchema(connection);
  await connection.close();
  return dsn;
}

/** Runs one statement in a schema. */
export async function runIn(dsn: string, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const connection = await new Postgres({ dsn }).connect({ commits: 'wait' });
  try {
    return await connection.run(sql);
  } finally {
    await connection.close();
  }
}

let holders = 0;

/**
 * Takes the lease, whoever has it, as if its time had passed. `dsn` may lead through a proxy, and
 * `direct` past it.
 */
export async function takeTenure(dsn: string, direct = dsn): Promise<Tenure> {
  const postgres = new Postgres({ dsn });
  const connection = await postgres.connect({ commits: 'wait' });
  const holder = `test-${++holders}`;
  let epoch: number | undefined;
  while (epoch === undefined) {
    // The present holder may renew it in between.
    await runIn(direct, "UPDATE hedgerow_lease SET expires_at = '-infinity'");
    epoch = await takeLease(connection, holder, 'http://127.0.0.1:1');
  }
  await connection.close();
  return new Tenure({
    connection: new SharedConnection(postgres, { commits: 'local' }),
    ...{ holder, epoch, error: notLeader, renewMs: 20 },
    now: () => performance.now(),
    takenMs: performance.now(),
  });
}

/** Opens a log that leads. */
export async function openLeadingLog(
  dsn: string,
  opening: LogOpening,
  direct = dsn,
): Promise<{ log: PostgresLog; tenure: Tenure }> {
  const tenure = await takeTenure(dsn, direct);
  const log = await openPostgresLog({
    ...opening,
    postgres: new Postgres({ dsn }),
    crc32c,
    tenure,
    pieceBytes: 4096,
  });
  return { log, tenure };
}
