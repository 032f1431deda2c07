// Runs the tests of the log contract on the log in PostgreSQL.

import { afterAll, afterEach } from 'vitest';
import type { Tenure } from '../../src/high-availability/tenure.ts';
import type { LogStore } from '../../src/storage/log-store.ts';
import { expectLogContract, type LogMedium } from '../storage/log-contract.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { newSchema, openLeadingLog, runIn } from '../support/postgres-log.ts';

const server = await startPostgres({ settings: ['max_connections=100'] });
const opened: { log: LogStore; tenure: Tenure }[] = [];

afterEach(async () => {
  for (const { log, tenure } of opened.splice(0)) {
    await log.close().catch(() => undefined);
    await tenure.end();
  }
});
afterAll(() => server?.stop());

const SQL_STATES = { EIO: '58030', ENOSPC: '53100' } as const;

/** A schema that is made when it is first opened; `made` is one that exists. */
function inSchema({ address, run }: TestPostgres, made?: () => Promise<string>): LogMedium {
  let schema: Promise<string> | undefined;
  const dsn = () => {
    schema ??= made === undefined ? newSchema({ address, run }) : made();
    return schema;
  };
  const next = () =>
    inSchema(server!, async () => {
      await runIn(await dsn(), 'DROP TRIGGER IF EXISTS fail ON hedgerow_log');
      return dsn();
    });
  return {
    async open(opening) {
      const one = await openLeadingLog(await dsn(), opening);
      opened.push(one);
      return one.log;
    },
    crash: next,
    kill: next,
    async failOnce(code) {
      const state = SQL_STATES[code];
      const body = `BEGIN RAISE EXCEPTION 'simulated' USING ERRCODE = '${state}'; END`;
      await runIn(await dsn(), `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$`);
      await runIn(await dsn(), 'CREATE TRIGGER fail BEFORE INSERT ON hedgerow_log EXECUTE FUNCTION fail()');
    },
    setFull: () => undefined,
    async damage(lsn) {
      const damaged = 'UPDATE hedgerow_log SET payload = set_byte(payload, 0, get_byte(payload, 0) # 1)';
      await runIn(await dsn(), `${damaged} WHERE first_lsn <= ${lsn} AND last_lsn >= ${lsn}`);
    },
  };
}

if (server !== undefined)
  expectLogContract('a log in PostgreSQL', () => inSchema(server), {
    ownsDisk: false,
    takenOver: 'leader_unavailable',
  });
