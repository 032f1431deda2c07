import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DuckDbChild, type DuckDbPeer, forkDuckDb } from '../../src/virtual/backends/duckdb-child.ts';
import { describeDuckDb, makeFiles, openWorld, outcome, rowsOf, type World } from './backend-files.ts';

const RUNAWAY = 'SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range + b.range < 0';

let world: World;
beforeAll(async () => {
  world = openWorld({ duckdb: { killAfterMs: 1000 } });
  await makeFiles(['CREATE TABLE own AS SELECT range AS a FROM range(300000)'], join(world.root, 'own.duckdb'));
});
afterAll(() => world.close());

const open = (of: World = world) => of.backends.open({ type: 'duckdb', path: 'own.duckdb' });

describeDuckDb('a runaway query', () => {
  it('ends at its deadline, and the same process answers the next query', async () => {
    await rowsOf(open(), 'SELECT 1');
    const pid = world.backends.duckdbPid();
    expect(await outcome(rowsOf(open(), RUNAWAY, [], { deadlineMs: 300 }))).toMatch(/^timeout: /);
    expect(await rowsOf(open(), 'SELECT count(*) FROM own')).toEqual([[300_000]]);
    expect(world.backends.duckdbPid()).toBe(pid);
  });

  it('ends when its caller aborts', async () => {
    const controller = new AbortController();
    const running = outcome(rowsOf(open(), RUNAWAY, [], { signal: controller.signal }));
    setTimeout(() => controller.abort(new Error('gone')), 100);
    expect(await running).toBe('no code: gone');
    expect(await rowsOf(open(), 'SELECT 2')).toEqual([[2]]);
  });

  it('does not block other queries while it runs', async () => {
    const running = outcome(rowsOf(open(), RUNAWAY, [], { deadlineMs: 1500 }));
    expect(await rowsOf(open(), 'SELECT 3')).toEqual([[3]]);
    expect(await running).toMatch(/^timeout: /);
  });

  it('ends at its deadline even if it is still waiting to be started', async () => {
    const many = Array.from({ length: 9 }, () => outcome(rowsOf(open(), RUNAWAY, [], { deadlineMs: 500 })));
    for (const one of await Promise.all(many)) expect(one).toMatch(/^timeout: /);
    expect(await rowsOf(open(), 'SELECT 4')).toEqual([[4]]);
  });

  it('is refused when it needs too much memory', async () => {
    const small = openWorld({ duckdb: { memoryMb: 64, spillMb: 32 } });
    try {
      await makeFiles(['CREATE TABLE own (a INTEGER)'], join(small.root, 'own.duckdb'));
      const greedy = "SELECT length(string_agg(md5(range::VARCHAR), '')) FROM range(4000000)";
      expect(await outcome(rowsOf(open(small), greedy))).toMatch(/^backend_failed: .* needs more memory/);
      expect(await rowsOf(open(small), 'SELECT 5')).toEqual([[5]]);
    } finally {
      await small.close();
    }
  });
});

describeDuckDb('rows in batches', () => {
  it('all arrive', async () => {
    let batches = 0;
    for await (const batch of open().query({ sql: 'SELECT a FROM own', parameters: [] }, {})) {
      expect(batch.length).toBeLessThanOrEqual(2048);
      batches++;
    }
    expect(batches).toBeGreaterThan(100);
    const all = await rowsOf(open(), 'SELECT a FROM own ORDER BY a');
    expect(all.length).toBe(300_000);
    expect(all.every(([value], index) => value === index)).toBe(true);
  });

  it('are produced only as fast as the caller reads, and the query ends when reading stops', async () => {
    let taken = 0;
    // Without backpressure the rows would quickly fill the small heap of the process.
    for await (const batch of open().query(
      { sql: "SELECT 'row ' || range FROM range(1000000000000)", parameters: [] },
      {},
    )) {
      taken += batch.length;
      if (taken > 20_000) break;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    expect(taken).toBeLessThan(30_000);
    const pid = world.backends.duckdbPid();
    expect(await rowsOf(open(), 'SELECT 1')).toEqual([[1]]);
    expect(world.backends.duckdbPid()).toBe(pid);
  });

  it('wait for a slow reader', async () => {
    const seen: number[] = [];
    for await (const batch of open().query({ sql: 'SELECT a FROM own ORDER BY a LIMIT 10000', parameters: [] }, {})) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen.push(...[...batch].map(([value]) => value as number));
    }
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
  });
});

describeDuckDb('the DuckDB process', () => {
  it('makes the running query fail with 502 when it is killed, and is replaced for the next query', async () => {
    await rowsOf(open(), 'SELECT 1');
    const pid = world.backends.duckdbPid()!;
    const running = outcome(rowsOf(open(), RUNAWAY, [], { deadlineMs: 20_000 }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.kill(pid, 'SIGKILL');
    expect(await running).toMatch(/^backend_failed: .*SIGKILL/);
    expect(await rowsOf(open(), 'SELECT 6')).toEqual([[6]]);
    expect(world.backends.duckdbPid()).not.toBe(pid);
  });

  it('is killed when it does not stop a statement, and is replaced for the next query', async () => {
    await rowsOf(open(), 'SELECT 1');
    const pid = world.backends.duckdbPid()!;
    // A process that received SIGSTOP does not react to any message.
    process.kill(pid, 'SIGSTOP');
    expect(await outcome(rowsOf(open(), 'SELECT 7', [], { deadlineMs: 100 }))).toMatch(/^timeout: /);
    await expect.poll(() => world.backends.duckdbPid(), { timeout: 10_000 }).toBe(undefined);
    expect(await rowsOf(open(), 'SELECT 7')).toEqual([[7]]);
  });

  it('ends when it is idle, and starts again for the next query', async () => {
    const idle = openWorld({ duckdb: { idleMs: 50 } });
    try {
      await makeFiles(['CREATE TABLE own (a INTEGER)'], join(idle.root, 'own.duckdb'));
      expect(await rowsOf(open(idle), 'SELECT 8')).toEqual([[8]]);
      await expect.poll(() => idle.backends.duckdbPid(), { timeout: 10_000 }).toBe(undefined);
      expect(await rowsOf(open(idle), 'SELECT 9')).toEqual([[9]]);
    } finally {
      await idle.close();
    }
  });

  it('closes an idle database, so that other processes can write to it', async () => {
    const brief = openWorld({ duckdb: { keepOpenMs: 20 } });
    try {
      const file = join(brief.root, 'own.duckdb');
      await makeFiles(['CREATE TABLE own AS SELECT 1 AS a'], file);
      expect(await rowsOf(open(brief), 'SELECT a FROM own')).toEqual([[1]]);
      const write = () => outcome(makeFiles(['UPDATE own SET a = 2'], file));
      await expect.poll(write, { timeout: 10_000, interval: 100 }).toBe('ok');
      expect(await rowsOf(open(brief), 'SELECT a FROM own')).toEqual([[2]]);
    } finally {
      await brief.close();
    }
  });

  it("does not get the service's environment variables", async () => {
    const found = await import('node:fs/promises').then((fs) =>
      fs.readFile(`/proc/${world.backends.duckdbPid()}/environ`, 'utf8'),
    );
    expect(
      found
        .split('\0')
        .filter((line) => !/^(TZ|UV_THREADPOOL_SIZE|MALLOC_ARENA_MAX|NODE_CHANNEL_(FD|SERIALIZATION_MODE))=/.test(line))
        .join(''),
    ).toBe('');
  });
});

describeDuckDb('a service that has ended', () => {
  it('leaves neither a DuckDB process nor its folder behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hedgerow-virtual-'));
    const peer = forkDuckDb(folder) as ChildProcess;
    const child = new DuckDbChild(peer, {
      memoryMb: 64,
      threads: 1,
      spillFolder: folder,
      spillMb: 64,
      keepOpenMs: 1000,
    });
    await child.ready;
    writeFileSync(join(folder, 'spilled.tmp'), 'rows');
    peer.disconnect();
    await child.gone;
    expect(existsSync(folder)).toBe(false);
  });
});

describeDuckDb('without the package @duckdb/node-api', () => {
  it('PostgreSQL is still available, and the error names the package to install', async () => {
    const bare = openWorld({ installed: () => false });
    try {
      expect(bare.backends.types().flatMap(({ type, available }) => (available ? [type] : []))).toEqual(['postgres']);
      const answer = await outcome((async () => bare.backends.open({ type: 'csv', path: 'a.csv' }))());
      expect(answer).toMatch(/^virtual_unavailable: .*npm install @duckdb\/node-api/);
    } finally {
      await bare.close();
    }
  });

  it('a process that cannot load DuckDB reports that it is not installed', async () => {
    const bare = openWorld({ duckdb: { start: absentPeer } });
    try {
      await makeFiles(['CREATE TABLE own (a INTEGER)'], join(bare.root, 'own.duckdb'));
      expect(await outcome(rowsOf(open(bare), 'SELECT 1'))).toMatch(
        /^virtual_unavailable: .*npm install @duckdb\/node-api/,
      );
    } finally {
      await bare.close();
    }
  });
});

function absentPeer(): DuckDbPeer {
  const emitter = new EventEmitter();
  return Object.assign(emitter, {
    pid: 1,
    connected: true,
    send: () => {
      setImmediate(() => emitter.emit('message', { kind: 'absent', reason: 'not found' }));
      return true;
    },
    kill: () => setImmediate(() => emitter.emit('exit', null, 'SIGKILL')) !== undefined,
  }) as unknown as DuckDbPeer;
}
