// Tests `client.changes` against a real service: what it yields, and that it goes on without a
// missing or repeated change when connections are cut or the service restarts.

import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type Change,
  type ChangesOptions,
  type ClientOptions,
  HedgerowClient,
  type Hyperedge,
} from '../../src/client/index.ts';
import { GatedFs, startWorld, type World, type WorldOptions } from '../service/worlds.ts';
import { testTransport } from '../support/transport.ts';
import { caught } from './scripted-fetch.ts';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function started(options: WorldOptions = {}): Promise<World> {
  const world = await startWorld(options);
  closing.push(() => world.close());
  return world;
}

function clientAt(url: string, options: Partial<ClientOptions> = {}): HedgerowClient {
  return new HedgerowClient({ url, apiKey: 'bootstrap', baseDelayMs: 1, ...options });
}

/** Reads changes until `count` have been read or there are no more; by default, all there are. */
async function collect(
  client: HedgerowClient,
  options: ChangesOptions = { follow: false },
  isLast: (change: Change) => boolean = () => false,
): Promise<Change[]> {
  const found: Change[] = [];
  for await (const change of client.changes(options)) {
    found.push(change);
    if (isLast(change)) break;
  }
  return found;
}

const edge = (n: number, table?: string) => ({ event_ts: n, members: [n], ...(table === undefined ? {} : { table }) });
const isInsertAt = (ts: number) => (change: Change) => change.op === 'insert' && change.row.event_ts === ts;
const timesOf = (changes: readonly Change[]) =>
  changes.flatMap((change) => (change.op === 'insert' ? [change.row.event_ts] : []));

/** Passes connections on to a service, and cuts each one once its answers have `passed` bytes. */
async function cuttingProxy(world: World, passed: number): Promise<{ url: string; cuts: () => number }> {
  const sockets = new Set<Socket>();
  let cuts = 0;
  const proxy = createServer((socket) => {
    const upstream = connect(Number(new URL(world.url).port), '127.0.0.1');
    for (const one of [socket, upstream]) {
      sockets.add(one);
      one.on('error', () => {});
    }
    socket.pipe(upstream);
    let left = passed;
    upstream.on('data', (data) => {
      if (left <= 0) return;
      const part = data.subarray(0, left);
      left -= part.length;
      socket.write(part, () => {
        if (left > 0) return;
        cuts += 1;
        socket.destroy();
        upstream.destroy();
      });
    });
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as { port: number }).port}`, cuts: () => cuts };
}

test('every change is yielded in order, with the fields of its operation', async () => {
  const client = clientAt((await started()).url);
  await client.tables.create({ name: 'ships', columns: [{ name: 'speed', type: 'REAL' }] });
  await client.hyperedges.insertMany([edge(1), edge(2)], 'ships');
  await client.query.run('UPDATE ships SET speed = 5 WHERE id = 2');
  await client.hyperedges.delete({ table: 'ships', event_ts: 1, members: [1] });
  await client.indexes.create({ table: 'ships', column: 'speed' });
  await client.tables.drop('ships');
  const changes = await collect(client);
  expect(changes.map(({ op, table, commit_end }) => [op, table, commit_end])).toEqual([
    ['table_created', 'hyperedges', true],
    ['table_created', 'ships', true],
    ['insert', 'ships', undefined],
    ['insert', 'ships', true],
    ['update', 'ships', true],
    ['delete', 'ships', true],
    ['index_created', 'ships', true],
    ['table_dropped', 'ships', true],
  ]);
  for (const change of changes) {
    if (change.op === 'update') expect([change.before?.speed, change.row.speed]).toEqual([null, 5]);
    if (change.op === 'delete') expect(change.before).toMatchObject({ id: 1, event_ts: 1, speed: null });
    if (change.op === 'table_created' && change.table === 'ships')
      expect(change.columns.map(({ name }) => name)).toEqual(['weight', 'mean_dist_m', 'formation', 'speed']);
  }
});

test.each([true, false])('a table, an LSN and a limit select changes (follow: %s)', async (follow) => {
  const client = clientAt((await started()).url);
  await client.tables.create({ name: 'other' });
  for (let n = 1; n <= 6; n++) await client.hyperedges.insert(edge(n, n % 2 === 0 ? 'other' : 'hyperedges'));
  const all = await collect(client);
  const other = all.filter(({ table }) => table === 'other');
  expect(await collect(client, { follow, table: 'other', limit: other.length })).toEqual(other);
  expect(await collect(client, { follow, fromLsn: all[3]!.lsn, limit: 2 })).toEqual(all.slice(4, 6));
  expect(await collect(client, { follow, limit: 0 })).toEqual([]);
  expect(await collect(client, { follow: false, fromLsn: all.at(-1)!.lsn })).toEqual([]);
});

test('changes to come are yielded as they are committed', async () => {
  const world = await started();
  const client = clientAt(world.url);
  const reader = clientAt(world.url);
  const changes = reader.changes({ fromLsn: world.database.lastLsn });
  for (let n = 1; n <= 3; n++) {
    const next = changes.next();
    await client.hyperedges.insert(edge(n));
    const { value } = await next;
    expect(value).toMatchObject({ op: 'insert', row: { event_ts: n } });
    // A read that reflects `lastLsn` reflects every change that was yielded.
    expect(reader.lastLsn).toBeGreaterThanOrEqual(value!.lsn);
  }
  await changes.return();
  expect(await changes.next()).toEqual({ done: true, value: undefined });
});

describe('a connection that is cut again and again', () => {
  test.each([2500, 4001, 20_000])('after %i bytes: no change is missing and none comes twice', async (passed) => {
    const world = await started();
    const proxy = await cuttingProxy(world, passed);
    const writer = clientAt(world.url);
    const write = async () => {
      for (let n = 1; n <= 150; n++) {
        if (n % 10 === 0) await writer.hyperedges.insertMany(Array.from({ length: 9 }, () => edge(n)));
        else await writer.hyperedges.insert(edge(n));
      }
      await writer.hyperedges.insert(edge(999));
    };
    const [followed] = await Promise.all([collect(clientAt(proxy.url), {}, isInsertAt(999)), write()]);
    const all = await collect(writer);
    expect(followed).toEqual(all);
    expect(proxy.cuts()).toBeGreaterThan(1);
  });

  test('changes that exist already are read to their end', async () => {
    const world = await started();
    const proxy = await cuttingProxy(world, 20_000);
    const client = clientAt(world.url);
    await client.hyperedges.insertMany(Array.from({ length: 4000 }, (_, n) => edge(n)));
    const all = await collect(clientAt(proxy.url));
    expect(timesOf(all)).toEqual(Array.from({ length: 4000 }, (_, n) => n));
    expect(all).toEqual(await collect(client));
    expect(proxy.cuts()).toBeGreaterThan(0);
  });
});

/** Over node:http, because uWebSockets.js cannot listen on a port again at once. */
const AGAIN: WorldOptions = { transport: testTransport('node') };

test('a service that stops and starts again is read on, and the program learns of it', async () => {
  const disk = new GatedFs(1);
  const first = await startWorld({ disk, ...AGAIN });
  const port = Number(new URL(first.url).port);
  const client = clientAt(first.url, { maxDelayMs: 20 });
  await client.hyperedges.insert(edge(1));
  let lost: () => void = () => {};
  const isLost = new Promise<void>((resolve) => {
    lost = resolve;
  });
  const failures: number[] = [];
  const onRetry = (_error: unknown, count: number) => {
    failures.push(count);
    // More attempts than a call has: the feed was open, so it is opened again without end.
    if (count > 6) lost();
  };
  const reading = collect(client, { onRetry }, isInsertAt(3));
  await client.hyperedges.insert(edge(2));
  await first.close();
  await isLost;
  await started({ disk, port, ...AGAIN });
  await client.hyperedges.insert(edge(3));
  const followed = await reading;
  expect(timesOf(followed)).toEqual([1, 2, 3]);
  expect(followed).toEqual(await collect(client));
  expect(failures.slice(0, 7)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

describe('what ends the feed', () => {
  test('409 when the service has never reached the LSN, also while it is followed', async () => {
    const first = await startWorld(AGAIN);
    const port = Number(new URL(first.url).port);
    const client = clientAt(first.url, { maxDelayMs: 20 });
    await client.hyperedges.insertMany(Array.from({ length: 30 }, (_, n) => edge(n)));
    const { lastLsn } = first.database;
    for (const follow of [true, false]) {
      const error = await caught(collect(client, { follow, fromLsn: 2 ** 40 }));
      expect(error).toMatchObject({ statusCode: 409, code: 'lsn_ahead', lastLsn });
      expect((error as Error).message).toContain('Read all rows again');
    }
    const changes = client.changes({ fromLsn: client.lastLsn - 1 });
    await changes.next();
    await first.close();
    // Another database at the same address, as after a restore.
    await started({ port, ...AGAIN });
    expect(await caught(changes.next())).toMatchObject({ statusCode: 409, code: 'lsn_ahead' });
  });

  test('410 when changes after the LSN are no longer kept; without an LSN, reading begins with the oldest', async () => {
    const world = await started({ history: { seconds: 0, bytes: 0 } });
    const client = clientAt(world.url);
    for (let round = 0; round < 8; round++) {
      await client.hyperedges.insertMany(Array.from({ length: 200 }, (_, n) => edge(n)));
      await client.hyperedges.compact();
    }
    await client.hyperedges.insert(edge(77));
    for (const follow of [true, false]) {
      const error = await caught(collect(client, { follow, fromLsn: 1 }));
      expect(error).toMatchObject({ statusCode: 410, code: 'lsn_gone', oldestLsn: expect.any(Number) });
      expect((error as Error).message).toContain('Read all rows again');
      const kept = await collect(client, { follow }, isInsertAt(77));
      expect(kept.at(-1)).toMatchObject({ op: 'insert', row: { event_ts: 77 } });
    }
  });

  test('an unknown table, a wrong key, a service that was never reached', async () => {
    const world = await started();
    const client = clientAt(world.url);
    expect(await caught(collect(client, { table: 'none' }))).toMatchObject({
      statusCode: 404,
      code: 'table_not_found',
    });
    expect(await caught(collect(clientAt(world.url, { apiKey: 'x' }), {}))).toMatchObject({ statusCode: 401 });
    const gone = await startWorld();
    await gone.close();
    const failures: number[] = [];
    const onRetry = (_error: unknown, count: number) => failures.push(count);
    expect(await caught(collect(clientAt(gone.url), { onRetry }))).toMatchObject({ name: 'HedgerowConnectionError' });
    expect(failures).toEqual([1, 2, 3]);
  });

  test('an AbortSignal, with its reason', async () => {
    const client = clientAt((await started()).url);
    const controller = new AbortController();
    const changes = client.changes({ signal: controller.signal });
    expect((await changes.next()).value).toMatchObject({ op: 'table_created' });
    const next = caught(changes.next());
    controller.abort(new Error('enough'));
    expect(await next).toMatchObject({ message: 'enough' });
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });
});

test('a copy of a table follows it: rows first, then the changes after their LSN', async () => {
  const world = await started();
  const writer = clientAt(world.url);
  await writer.hyperedges.insertMany([edge(1), edge(2), edge(3)]);
  const client = clientAt(world.url);
  const copy = new Map<number, Hyperedge>();
  const rows = client.hyperedges.rangeRows({ start_ts: 0, end_ts: 999 });
  const first = await rows.next();
  // Written after the state that is being read.
  await writer.hyperedges.insert(edge(4));
  copy.set(first.value!.id, first.value!);
  for await (const row of rows) copy.set(row.id, row);
  expect(copy.size).toBe(3);
  const changes = client.changes({ fromLsn: client.lastLsn, table: 'hyperedges' });
  await writer.query.run('UPDATE hyperedges SET weight = 9 WHERE id = 1');
  await writer.hyperedges.delete({ event_ts: 2, members: [2] });
  await writer.hyperedges.insert(edge(999));
  for await (const change of changes) {
    if (change.op === 'insert' || change.op === 'update') copy.set(change.id, change.row as Hyperedge);
    else if (change.op === 'delete') copy.delete(change.id);
    if (isInsertAt(999)(change)) break;
  }
  const { hyperedges } = await writer.hyperedges.range({ start_ts: 0, end_ts: 999 });
  expect([...copy.values()].sort((a, b) => a.id - b.id)).toEqual([...hyperedges].sort((a, b) => a.id - b.id));
});
