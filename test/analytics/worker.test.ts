// Tests measures in threads: which edges they see, and how their calls end. The tests of a real
// thread need dist/ (npm run build).

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Analytics, type AnalyticsOptions } from '../../src/analytics/index.ts';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { openSim } from '../support/sim-engine.ts';
import { SimFs } from '../support/sim-fs.ts';
import { insertAll, naiveActivity, naivePairs, naiveStrengths, randomEdges, type TestEdge } from './edges.ts';
import { InlineThread, until } from './inline-thread.ts';

const SCRIPT = new URL('../../dist/analytics/worker.js', import.meta.url);
const BUILT = existsSync(SCRIPT);

/** Sends all calls to threads that run inline. Each thread is added to `threads` when it starts. */
function inThreads(database: Database, fs: SimFs, threads: InlineThread[] = [], more: Partial<AnalyticsOptions> = {}) {
  const startThread = (cacheBytes: number) => {
    threads.push(new InlineThread(fs, cacheBytes));
    return threads.at(-1)!;
  };
  return new Analytics({ database, threads: 1, smallMembers: -1, startThread, ...more });
}

async function expectEdges(analytics: Analytics, edges: readonly TestEdge[], params: object = {}): Promise<void> {
  const { result: strengths } = await analytics.run(undefined, 'node_degree', { weighted: true, ...params });
  expect(strengths).toEqual(naiveStrengths(edges));
  const { result: pairs } = await analytics.run(undefined, 's_adjacency', params);
  expect(pairs).toEqual(naivePairs(edges));
  const { result: activity } = await analytics.run(undefined, 'temporal_activity', params);
  expect(activity).toEqual(naiveActivity(edges, 10));
}

describe('the snapshot of a measure', () => {
  let fs: SimFs;
  let database: Database;
  beforeEach(async () => {
    fs = new SimFs(1);
    database = await openSim(fs, { core: 'release' });
  });
  afterEach(() => database.close());

  /** Checks the edges both in this thread and in an inline worker thread. */
  const expectBoth = async (edges: readonly TestEdge[], params: object = {}) => {
    await expectEdges(new Analytics({ database, moveAfterMs: Infinity }), edges, params);
    await expectEdges(inThreads(database, fs), edges, params);
  };

  test('is the same for rows in the log, in segments or in both, with tombstones, and after a restart', async () => {
    const edges = randomEdges(1, 300, 40);
    await expectBoth([]);
    await insertAll(database.table(), edges.slice(0, 120));
    await expectBoth(edges.slice(0, 120));
    await database.compact({});
    await expectBoth(edges.slice(0, 120));
    // These rows interleave with those in the segments.
    await insertAll(database.table(), edges.slice(120));
    await expectBoth(edges);
    const gone = edges.filter((_, index) => index % 7 === 0);
    for (const { event_ts, members } of gone) await database.table().delete(event_ts, members);
    const isSame = (a: TestEdge, b: TestEdge) => a.event_ts === b.event_ts && String(a.members) === String(b.members);
    const left = edges.filter((edge) => !gone.some((each) => isSame(each, edge)));
    expect(left.length).toBeLessThan(edges.length);
    await expectBoth(left);
    for (const [start_ts, end_ts] of [
      [50, 200],
      [0, 0],
      [150, 149],
      [290, 5000],
      [-10, -1],
    ] as const)
      await expectBoth(
        left.filter(({ event_ts: ts }) => ts >= start_ts && ts <= end_ts),
        { start_ts, end_ts },
      );
    await database.close();
    database = await openSim(fs, { core: 'release' });
    await expectBoth(left);
    await database.compact({});
    await expectBoth(left);
  });

  test('does not change during writes and compactions, which only the next call sees', async () => {
    const edges = randomEdges(2, 200, 30);
    await insertAll(database.table(), edges.slice(0, 100));
    await database.compact({});
    await insertAll(database.table(), edges.slice(100, 150));
    const threads: InlineThread[] = [];
    const analytics = inThreads(database, fs, threads);
    await expectEdges(analytics, edges.slice(0, 150));
    const lsn = database.lastLsn;
    await database.table().insert({ event_ts: 1, members: [5000] });
    await database.table().delete(1, [5000]);
    threads[0]!.isHeld = true;
    const running = analytics.open(undefined, 'node_degree', { weighted: true });
    await until(() => threads[0]!.log.at(-1) === '<needs');
    await insertAll(database.table(), edges.slice(150));
    for (const { event_ts, members } of edges.slice(0, 30)) await database.table().delete(event_ts, members);
    await database.compact({});
    threads[0]!.release();
    const answer = await running;
    expect(answer.lsn).toBe(lsn + 2);
    expect((await answer.value()).result).toEqual(naiveStrengths(edges.slice(0, 150)));
    const { result } = await analytics.run(undefined, 'node_degree', { weighted: true });
    expect(result).not.toEqual(naiveStrengths(edges.slice(0, 150)));
    expect(result).toEqual(
      (await new Analytics({ database, moveAfterMs: Infinity }).run(undefined, 'node_degree', { weighted: true }))
        .result,
    );
  });

  test('is refused with the name of the segment if a segment is damaged', async () => {
    await insertAll(database.table(), randomEdges(3, 100, 30));
    await database.compact({});
    await database.close();
    database = await openSim(fs, { core: 'release' });
    const [name] = fs.list('/db/tables/1').filter((each) => each.endsWith('.hgs'));
    const path = `/db/tables/1/${name}`;
    fs.edit(path, (bytes) => {
      bytes[bytes.length >> 1]! ^= 0xff;
    });
    const analytics = inThreads(database, fs);
    for (const _ of [1, 2]) {
      const error = await analytics.run(undefined, 'density').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'table_corrupt', status: 500, message: expect.stringContaining(path) });
    }
    expect(() => database.table().scan({ format: 'json' })).toThrow(/corrupt/);
  });
});

describe('the end of a call', () => {
  let fs: SimFs;
  let database: Database;
  beforeEach(async () => {
    fs = new SimFs(1);
    database = await openSim(fs, { core: 'release' });
    await insertAll(database.table(), randomEdges(4, 60, 12));
  });
  afterEach(() => database.close());

  test('is caused by a deadline, a signal or budget_ms; the snapshot is released when the thread has stopped', async () => {
    const threads: InlineThread[] = [];
    const analytics = inThreads(database, fs, threads);
    await analytics.run(undefined, 'density');
    const [thread] = threads as [InlineThread];
    await database.table().insert({ event_ts: 5, members: [1, 2] });
    thread.isHeld = true;
    await expect(analytics.run(undefined, 'betweenness', {}, { timeoutMs: 5 })).rejects.toMatchObject({
      code: 'timeout',
      status: 504,
      message: expect.stringContaining('5 ms'),
    });
    const gone = new Error('the client has gone');
    const controller = new AbortController();
    const left = analytics.run(undefined, 'betweenness', {}, { signal: controller.signal });
    controller.abort(gone);
    await expect(left).rejects.toBe(gone);
    await expect(analytics.run(undefined, 'density', {}, { signal: controller.signal })).rejects.toBe(gone);
    expect(database.table().openSnapshots).toBeGreaterThan(0);
    thread.release();
    await until(() => database.table().openSnapshots === 0);
    expect(thread.log.filter((line) => line === '>cancel').length).toBeGreaterThan(1);
    const { result } = await analytics.run(undefined, 'node_degree', { node_id: 1 });
    expect(result).toHaveProperty('1');
  });

  test('is caused by a signal in this thread too, and releases the snapshot', async () => {
    const analytics = new Analytics({ database, moveAfterMs: Infinity });
    const controller = new AbortController();
    const left = analytics.run(undefined, 'betweenness', {}, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    await expect(analytics.run(undefined, 'density', { kind: 'uniform' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(database.table().openSnapshots).toBe(0);
  });

  test('is caused by the death of its thread, and the next call starts another thread', async () => {
    const threads: InlineThread[] = [];
    const analytics = inThreads(database, fs, threads);
    const { result } = await analytics.run(undefined, 'closeness');
    threads[0]!.isHeld = true;
    const lost = analytics.run(undefined, 'closeness');
    await until(() => threads[0]!.log.filter((line) => line === '>run').length === 2);
    threads[0]!.emit('exit', 1);
    await expect(lost).rejects.toMatchObject({
      code: 'overloaded',
      status: 503,
      message: expect.stringContaining('Try again'),
    });
    expect((await analytics.run(undefined, 'closeness')).result).toEqual(result);
    expect(threads).toHaveLength(2);
    expect(database.table().openSnapshots).toBe(0);
  });

  test('brings advice on what to ask for instead when it is caused by a lack of memory', async () => {
    const threads: InlineThread[] = [];
    const analytics = inThreads(database, fs, threads);
    await analytics.run(undefined, 'density');
    threads[0]!.isHeld = true;
    const lost = analytics.run(undefined, 'density');
    await until(() => threads[0]!.log.filter((line) => line === '>run').length === 2);
    threads[0]!.emit('error', Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }));
    await expect(lost).rejects.toMatchObject({
      code: 'query_too_large',
      message: expect.stringContaining('smaller window'),
    });
  });

  test('comes for every running call when the analytics are closed', async () => {
    const threads: InlineThread[] = [];
    const analytics = inThreads(database, fs, threads);
    await analytics.run(undefined, 'density');
    threads[0]!.isHeld = true;
    const lost = analytics.run(undefined, 'density');
    await until(() => threads[0]!.log.filter((line) => line === '>run').length === 2);
    await Promise.all([expect(lost).rejects.toMatchObject({ code: 'draining' }), analytics.close()]);
  });

  test('comes with the same result when a small table takes long and is moved to a thread', async () => {
    const threads: InlineThread[] = [];
    const analytics = inThreads(database, fs, threads, { smallMembers: 20_000, moveAfterMs: -1 });
    const here = new Analytics({ database, moveAfterMs: Infinity });
    expect(await analytics.run(undefined, 'pagerank')).toEqual(await here.run(undefined, 'pagerank'));
    expect(threads).toHaveLength(1);
  });

  test('is preceded by reports of progress that never decrease', async () => {
    const told: number[] = [];
    const analytics = inThreads(database, fs);
    await analytics.run(undefined, 'betweenness', {}, { progress: (done) => told.push(done) });
    expect(told.length).toBeGreaterThan(0);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBeLessThanOrEqual(1);
  });
});

describe.skipIf(!BUILT)('a real worker thread', () => {
  let dir: string;
  let database: Database;
  let analytics: Analytics;
  const workers: Worker[] = [];
  const edges = randomEdges(5, 12_000, 900);
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'hedgerow-analytics-'));
    database = await openDatabase({ dir, memoryBudgetMb: 64 });
    await insertAll(database.table(), edges.slice(0, 7000));
    await database.compact({});
    await insertAll(database.table(), edges.slice(7000));
    workers.length = 0;
    const startThread = (cacheBytes: number) => {
      workers.push(new Worker(SCRIPT, { execArgv: [], workerData: { cacheBytes } }));
      return workers.at(-1)!;
    };
    analytics = new Analytics({ database, threads: 1, startThread });
  });
  afterEach(async () => {
    await analytics.close();
    await database.close();
    rmSync(dir, { recursive: true });
  });

  test('reads the segment files itself and agrees with a naive reading, in many chunks', async () => {
    await expectEdges(analytics, edges);
    expect(workers).toHaveLength(1);
    expect(database.table().openSnapshots).toBe(0);
  });

  test('stops a long measure and continues with the next', async () => {
    const error = await analytics
      .run(undefined, 'betweenness', {}, { timeoutMs: 1 })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'timeout' });
    expect((await analytics.run(undefined, 'uniformity')).result).toHaveProperty('modal_size');
    expect(workers).toHaveLength(1);
  });

  test('answers 503 when it is terminated, and is replaced', async () => {
    const lost = analytics.run(undefined, 'betweenness').catch((thrown: unknown) => thrown);
    await until(() => workers.length === 1);
    await workers[0]!.terminate();
    expect(await lost).toBeInstanceOf(HedgerowError);
    expect(await lost).toMatchObject({ code: 'overloaded' });
    expect((await analytics.run(undefined, 'uniformity')).result).toHaveProperty('modal_size');
    expect(workers).toHaveLength(2);
  });

  test('names a damaged file that it finds', async () => {
    const folder = `${dir}/tables/1`;
    const name = readdirSync(folder).find((each) => each.endsWith('.hgs'))!;
    const bytes = readFileSync(`${folder}/${name}`);
    bytes[bytes.length >> 1]! ^= 0xff;
    writeFileSync(`${folder}/${name}`, bytes);
    await expect(analytics.run(undefined, 'density')).rejects.toMatchObject({
      code: 'table_corrupt',
      message: expect.stringContaining(name),
    });
  });
});
