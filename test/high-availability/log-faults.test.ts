// Tests the log in PostgreSQL against connections that are cut and leaders that are late: nothing
// is acknowledged that is not in the log, and nothing is in the log twice.

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { HedgerowError } from '../../src/errors.ts';
import { Postgres } from '../../src/high-availability/connection.ts';
import { readLease, renewLease, takeLease } from '../../src/high-availability/lease.ts';
import { type ChainedFrame, EMPTY_LOG, frameCrc, insertFrames } from '../../src/high-availability/log-rows.ts';
import { openPostgresLog, type PostgresLog } from '../../src/high-availability/postgres-log.ts';
import type { Tenure } from '../../src/high-availability/tenure.ts';
import { crc32c } from '../support/crc32c.ts';
import { framesOf, textFrame, turn } from '../support/open-test-log.ts';
import { startPostgres, waitForNobody } from '../support/postgres.ts';
import { newSchema, openLeadingLog, runIn, takeTenure } from '../support/postgres-log.ts';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const server = await startPostgres({ settings: ['max_connections=100'] });
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => server?.stop());

interface Opened {
  readonly log: PostgresLog;
  readonly tenure: Tenure;
  readonly durable: number[];
  readonly failures: HedgerowError[];
}

/** Opens a log that leads; `dsn` may lead through a proxy, and `direct` past it. */
async function leading(dsn: string, direct = dsn): Promise<Opened> {
  const durable: number[] = [];
  const failures: HedgerowError[] = [];
  const opening = {
    durability: 'fsync' as const,
    minimumLsn: 0,
    onDurable: (lsn: number) => durable.push(lsn),
    onFailed: (error: HedgerowError) => failures.push(error),
  };
  const { log, tenure } = await openLeadingLog(dsn, opening, direct);
  ends.push(async () => {
    await log.close().catch(() => undefined);
    await tenure.end();
  });
  return { log, tenure, durable, failures };
}

async function proxied(): Promise<{ dsn: string; direct: string; proxy: TcpProxy }> {
  const direct = await newSchema(server!);
  const proxy = await startProxy(server!.port);
  ends.push(() => proxy.close());
  return { dsn: direct.replace(`:${server!.port}/`, `:${proxy.port}/`), direct, proxy };
}

async function rowsOf(dsn: string): Promise<string[]> {
  const rows = await runIn(dsn, "SELECT first_lsn, epoch, convert_from(payload, 'UTF8') FROM hedgerow_log ORDER BY 1");
  return rows.map((row) => row.join(' '));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/**
 * Holds up every INSERT in the server, once it has locked the lease; resolves with a function that
 * lets them go on.
 */
async function lockLog(dsn: string): Promise<() => Promise<void>> {
  const connection = await new Postgres({ dsn }).connect({ commits: 'wait' });
  const key = ++locks;
  const body = `BEGIN PERFORM pg_advisory_xact_lock_shared(${key}); RETURN NEW; END`;
  await connection.run(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$`);
  await connection.run('CREATE TRIGGER wait BEFORE INSERT ON hedgerow_log FOR EACH ROW EXECUTE FUNCTION wait()');
  await connection.run(`SELECT pg_advisory_lock(${key})`);
  return () => connection.close();
}

let locks = 0;

describe.skipIf(server === undefined)('a log in PostgreSQL', () => {
  test('acknowledges a group once whose commit was answered, but whose answer did not arrive', async () => {
    const { dsn, direct, proxy } = await proxied();
    const { log, durable, failures, tenure } = await leading(dsn, direct);
    log.append(1, textFrame('a'));
    await log.flush();
    const { epoch } = tenure;
    proxy.swallow();
    log.append(2, textFrame('b'));
    await proxy.caught();
    while ((await rowsOf(direct)).length < 2) await turn();
    expect(durable).toEqual([1]);
    proxy.cut();
    proxy.release();
    await log.flush();
    expect([durable, failures]).toEqual([[1, 3], []]);
    expect(tenure.epoch).toBeGreaterThan(epoch);
    log.append(1, textFrame('c'));
    await log.flush();
    expect(await rowsOf(direct)).toEqual([`1 ${epoch} a`, `2 ${epoch} b`, `4 ${tenure.epoch} c`]);
  });

  test('finds out by itself that an answer was lost, while the connection looks open', async () => {
    const { dsn, direct, proxy } = await proxied();
    const tenure = await takeTenure(direct);
    const durable: number[] = [];
    const log = await openPostgresLog({
      ...{ durability: 'fsync', minimumLsn: 0, postgres: new Postgres({ dsn }), crc32c, tenure },
      onDurable: (lsn) => durable.push(lsn),
      onFailed: () => undefined,
    });
    ends.push(async () => {
      await log.close();
      await tenure.end();
    });
    proxy.swallow();
    log.append(1, textFrame('a'));
    await proxy.caught();
    while ((await rowsOf(direct)).length === 0) await turn();
    proxy.release();
    await log.flush();
    expect([durable, log.failed]).toEqual([[1], null]);
  });

  test('is poisoned if the connection was cut before the group arrived, and does not send it again', async () => {
    const { dsn, direct, proxy } = await proxied();
    const { log, durable, failures } = await leading(dsn, direct);
    proxy.hold();
    log.append(1, textFrame('lost'));
    await proxy.caught();
    proxy.cut();
    proxy.release();
    await expect(log.flush()).rejects.toMatchObject({ code: 'log_failed' });
    expect([durable, failures.length, await rowsOf(direct)]).toEqual([[], 1, []]);
  });

  test('waits for an INSERT that still runs when its connection was cut, and acknowledges it then', async () => {
    const { dsn, direct, proxy } = await proxied();
    const { log, durable, failures } = await leading(dsn, direct);
    const unlock = await lockLog(direct);
    log.append(1, textFrame('late'));
    const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT%'";
    while ((await runIn(direct, waiting))[0]![0] === '0') await turn();
    proxy.cut();
    for (let time = 0; time < 20; time++) await turn();
    expect([durable, failures]).toEqual([[], []]);
    await unlock();
    await log.flush();
    expect([durable, failures]).toEqual([[1], []]);
    expect((await rowsOf(direct)).length).toBe(1);
  });

  test('of a leader whose group arrives after another one leads has nothing of that group', async () => {
    const { dsn, direct, proxy } = await proxied();
    const old = await leading(dsn, direct);
    old.log.append(1, textFrame('a'));
    await old.log.flush();
    proxy.hold();
    old.log.append(1, textFrame('too late'));
    await proxy.caught();
    const next = await leading(direct);
    next.log.append(1, textFrame('b'));
    await next.log.flush();
    proxy.release();
    await expect(old.log.flush()).rejects.toMatchObject({ code: 'leader_unavailable' });
    expect(old.durable).toEqual([1]);
    expect(old.log.failed).toMatchObject({ code: 'leader_unavailable', status: 503 });
    expect(await framesOf(next.log)).toEqual(['1+1:a', '2+1:b']);
  });

  test('a new leader waits for the group of the former one that is being committed', async () => {
    const dsn = await newSchema(server!);
    const old = await leading(dsn);
    const unlock = await lockLog(dsn);
    old.log.append(1, textFrame('first'));
    const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT%'";
    while ((await runIn(dsn, waiting))[0]![0] === '0') await turn();
    const taking = leading(dsn);
    const changes = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%epoch + 1%'";
    while ((await runIn(dsn, changes))[0]![0] === '0') await turn();
    await unlock();
    const next = await taking;
    expect(next.log.headLsn).toBe(1);
    next.log.append(1, textFrame('second'));
    await next.log.flush();
    expect(await framesOf(next.log)).toEqual(['1+1:first', '2+1:second']);
  });

  test('takes a group only after the frame that it follows', async () => {
    const dsn = await newSchema(server!);
    const connection = await new Postgres({ dsn }).connect({ commits: 'wait' });
    ends.push(() => connection.close());
    const epoch = (await takeLease(connection, 'one', 'http://127.0.0.1:1'))!;
    const frameAt = (firstLsn: number, previous: number): ChainedFrame => {
      const frame = { firstLsn, operations: 2, seconds: 7, previous, payload: textFrame('x')[0]! };
      return { ...frame, crc: frameCrc(crc32c, frame) };
    };
    const first = frameAt(1, 0);
    expect(await insertFrames(connection, epoch, { lsn: 1, crc: 0 }, [frameAt(2, 0)])).toBe(false);
    expect(await insertFrames(connection, epoch, EMPTY_LOG, [first])).toBe(true);
    const end = { lsn: 2, crc: first.crc };
    for (const other of [EMPTY_LOG, { lsn: 2, crc: first.crc ^ 1 }, { lsn: 1, crc: first.crc }])
      expect(await insertFrames(connection, epoch, other, [frameAt(3, first.crc)])).toBe(false);
    expect(await insertFrames(connection, epoch + 1, end, [frameAt(3, first.crc)])).toBe(false);
    expect(await insertFrames(connection, epoch, end, [frameAt(3, first.crc)])).toBe(true);
  });

  test('a renewal waits for no append, and a lease that was not renewed is free by the clock of the server', async () => {
    const dsn = await newSchema(server!);
    const { log, tenure } = await leading(dsn);
    const unlock = await lockLog(dsn);
    log.append(1, textFrame('a'));
    const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT%'";
    while ((await runIn(dsn, waiting))[0]![0] === '0') await turn();
    const connection = await new Postgres({ dsn }).connect({ commits: 'local' });
    ends.push(() => connection.close());
    const { holder } = await readLease(connection);
    expect(await renewLease(connection, holder, tenure.epoch, 5000)).toBe(true);
    await unlock();
    await log.flush();
    expect(await takeLease(connection, 'another', 'http://127.0.0.1:2')).toBe(undefined);
    await tenure.end();
    await until(() => log.failed !== null);
    await runIn(dsn, "UPDATE hedgerow_lease SET expires_at = clock_timestamp() - interval '1 ms'");
    expect((await readLease(connection)).leftMs).toBeLessThan(0);
    expect(await takeLease(connection, 'another', 'http://127.0.0.1:2')).toBe(tenure.epoch + 1);
  });

  test('does not take a commit for durable for whose standby the server has ceased to wait', async () => {
    const own = (await startPostgres())!;
    ends.push(() => own.stop());
    const dsn = await newSchema(own);
    const { log, durable, failures } = await leading(dsn);
    // From now on, every commit waits for a standby that is not there.
    await waitForNobody(own.address);
    const waits = async () => {
      const rows = await own.run(
        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%INSERT%'",
      );
      return rows.map(([pid]) => pid as number);
    };
    log.append(1, textFrame('a'));
    while ((await waits()).length === 0) await turn();
    for (const pid of await waits()) await own.run(`SELECT pg_cancel_backend(${pid})`);
    // It is visible in the server by now, and the leader advances the epoch, which waits.
    const advances = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%epoch + 1%'";
    while (Number((await own.run(advances))[0]![0]) === 0) await turn();
    expect((await own.run(`SELECT count(*) FROM ${/log_\d+/.exec(dsn)![0]}.hedgerow_log`))[0]![0]).toBe('1');
    expect(durable).toEqual([]);
    await own.run('ALTER SYSTEM RESET synchronous_standby_names');
    await own.run('SELECT pg_reload_conf()');
    // If that took longer than the lease lasts, this process does not lead any more.
    await log.flush().catch(() => undefined);
    expect(durable).toEqual(failures.length === 0 ? [1] : []);
  });

  test('keeps a large frame, which is read in pieces', async () => {
    const dsn = await newSchema(server!);
    const { log } = await leading(dsn);
    const large = new Uint8Array(40 * 2 ** 20 + 3).map((_, index) => index % 251);
    log.append(1, textFrame('before'));
    await log.appendInSlices(5, [large.subarray(0, 1000), large.subarray(1000)], turn);
    await log.flush();
    const found: Uint8Array[] = [];
    for await (const batch of log.read(1)) found.push(...batch.map(({ payload }) => payload.slice()));
    expect(found.length).toBe(2);
    expect(Buffer.compare(found[1]!, large)).toBe(0);
  });

  test('refuses to lead if commits would be confirmed before they are durable', async () => {
    const dsn = await newSchema(server!);
    const weak = `${dsn}%20-csynchronous_commit%3Doff`;
    await expect(leading(weak, dsn)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('synchronous_commit = off'),
    });
    const strong = await leading(`${dsn}%20-csynchronous_commit%3Dremote_apply`, dsn);
    strong.log.append(1, textFrame('a'));
    await strong.log.flush();
  });
});
