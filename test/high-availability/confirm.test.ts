// A primary that was restarted shows commits that its standby does not have: they are taken for
// durable only after a commit that waits for the standby.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConnectionLost, Postgres } from '../../src/high-availability/connection.ts';
import { startPostgres, type TestPostgres, type TestStandby } from '../support/postgres.ts';

const server = await startPostgres();
let standby: TestStandby;

beforeAll(async () => {
  if (server !== undefined) standby = await server.standby();
}, 60_000);
afterAll(async () => {
  await standby?.stop();
  await server?.stop();
});

async function confirmed({ address: dsn }: TestPostgres): Promise<number> {
  const connection = await new Postgres({ dsn }).connect({ commits: 'local', timeoutMs: 2000 });
  try {
    await connection.confirm();
    const [row] = await connection.run('SELECT count(*) FROM things');
    return Number(row![0]);
  } finally {
    await connection.close();
  }
}

test.skipIf(server === undefined)('shows nothing that a promoted standby would not have', async () => {
  await server!.run('CREATE TABLE things (id int); INSERT INTO things VALUES (1)');
  expect(await confirmed(server!)).toBe(1);
  await standby.kill();
  // This commit waits for the standby for ever, and is not confirmed.
  const unconfirmed = server!.run('INSERT INTO things VALUES (2)').catch(() => 'lost');
  const seen = () => server!.run("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  while (Number((await seen())[0]![0]) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await server!.kill();
  expect(await unconfirmed).toBe('lost');
  await server!.start();
  expect((await server!.run('SELECT count(*) FROM things'))[0]![0]).toBe('2');
  await expect(confirmed(server!)).rejects.toThrow(ConnectionLost);
  await standby.start();
  expect(await confirmed(server!)).toBe(2);
  expect((await standby.run('SELECT count(*) FROM things'))[0]![0]).toBe('2');
});
