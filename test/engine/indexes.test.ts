// Tests secondary indexes (PSI) on a simulated disk: their catalog, their orders in segments,
// restarts and crashes.

import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { MAX, orders, Pair, pairOn, valued } from '../support/filtered-table.ts';
import { Random } from '../support/random.ts';
import { openSim, PausingRunner, simDisk, turn } from '../support/sim-engine.ts';
import type { Fault, Operation, SimFs } from '../support/sim-fs.ts';
import { codeOf } from '../support/sim-tables.ts';

describe('the catalog of indexes', () => {
  test('lists, refuses and drops indexes by table and column, ignoring case', async () => {
    const database = await openSim(simDisk());
    const { table } = await pairOn(database, new Random(2));
    expect(database.indexes()).toEqual([]);
    const item = { table: 'Tracks', column: 'Speed', created_at: 1_000_000_000 };
    expect(await database.createIndex('TRACKS', 'sPEED')).toEqual(item);
    await database.createIndex('tracks', 'Weight');
    await database.createIndex('hyperedges', 'MEAN_DIST_M');
    expect(database.indexes('tracks')).toEqual([item, { ...item, column: 'weight' }]);
    expect(database.indexes()).toHaveLength(3);
    expect(database.figures()).toMatchObject({ indexes: 3, tables: 2, compactionsRunning: 0, compactionsQueued: 0 });
    const refused: [string, string, string][] = [
      ['Tracks', 'SPEED', 'index_exists'],
      ['nowhere', 'weight', 'table_not_found'],
      ['Tracks', 'nope', 'unknown_column'],
      ['Tracks', 'event_ts', 'unknown_column'],
      ['Tracks', 'id', 'unknown_column'],
      ['Tracks', 'note', 'invalid_input'],
      ['Tracks', 'open', 'invalid_input'],
      ['hyperedges', 'formation', 'invalid_input'],
    ];
    const { lastLsn } = database;
    for (const [name, column, code] of refused)
      expect(await codeOf(database.createIndex(name, column)), column).toBe(code);
    expect(await codeOf(database.dropIndex('Tracks', 'count'))).toBe('index_not_found');
    expect(await codeOf(database.dropIndex('Tracks', 'nope'))).toBe('index_not_found');
    expect(await codeOf(database.dropIndex('nowhere', 'weight'))).toBe('table_not_found');
    expect(() => database.indexes('nowhere')).toThrow(/nowhere/);
    expect(database.lastLsn).toBe(lastLsn);
    expect(await database.dropIndex('TRACKS', 'SPEED')).toEqual({ table: 'Tracks', column: 'Speed' });
    expect(database.indexes(table.name)).toHaveLength(1);
    await database.close();
  });

  test('survives a restart, both from the log and from the manifest, with the stored answers', async () => {
    const fs = simDisk();
    let database = await openSim(fs);
    const pair = await pairOn(database, new Random(3));
    await pair.insert(50);
    const entry = (id: string) => ({ id, bodyHash: 'h', status: 201, contentType: 'text/plain', body: id, at: 1e12 });
    await database.createIndex('tracks', 'count', (item) => entry(`create ${item.column}`));
    await database.createIndex('tracks', 'speed');
    await database.dropIndex('tracks', 'SPEED', (dropped) => entry(`drop ${dropped.column}`));
    const indexes = database.indexes();
    database = await openSim(fs.crash());
    expect(database.indexes()).toEqual(indexes);
    expect(database.replays.find('create Count')).toMatchObject({ body: 'create Count' });
    expect(database.replays.find('drop Speed')).toBeDefined();
    await database.compact({});
    await database.compact({ table: 'hyperedges' });
    await database.close();
    database = await openSim(fs.crash());
    expect(database.indexes()).toEqual(indexes);
    await database.close();
  });

  test('gets one index if two requests create it at the same time, and none if the table is dropped meanwhile', async () => {
    const database = await openSim(simDisk());
    const pair = await pairOn(database, new Random(4));
    await pair.insert(50);
    const twice = [database.createIndex('Tracks', 'weight'), database.createIndex('Tracks', 'WEIGHT')];
    expect(await Promise.all(twice.map(codeOf))).toEqual(['none', 'index_exists']);
    const compaction = database.compact({});
    const dropped = database.dropTable('Tracks');
    const late = database.createIndex('Tracks', 'speed');
    expect(database.figures()).toMatchObject({ compactionsQueued: 2 });
    await Promise.all([compaction, dropped]);
    expect(await codeOf(late)).toBe('table_not_found');
    expect(database.indexes()).toEqual([]);
    await database.close();
  });
});

describe('the index orders in segments', () => {
  test('are built for existing rows, kept by compactions, and removed when segments are rewritten after a DROP INDEX', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    const pair = await pairOn(database, new Random(6));
    const { table } = pair;
    await pair.insert(80);
    await database.compact({});
    expect(orders(table)).toEqual({});
    await database.createIndex('Tracks', 'speed');
    expect(orders(table)).toEqual({ Speed: valued(table, 'speed') });
    const before = table.version.segments;
    await database.compact({});
    expect(table.version.segments.every((segment, place) => segment === before[place])).toBe(true);
    await pair.insert(80);
    await database.compact({});
    expect(orders(table)).toEqual({ Speed: valued(table, 'speed') });
    await database.dropIndex('Tracks', 'speed');
    await database.compact({});
    expect(orders(table)).toEqual({ Speed: valued(table, 'speed') });
    pair.compare(30, database.lastLsn);
    await pair.remove(2);
    const kept = new Set(table.version.segments);
    await database.compact({});
    const rewritten = table.version.segments.filter((segment) => !kept.has(segment));
    expect(rewritten.length).toBeGreaterThan(0);
    expect(rewritten.length).toBeLessThan(table.version.segments.length);
    expect(rewritten.flatMap(({ facts }) => facts.columns).filter(({ ordered }) => ordered)).toEqual([]);
    // Three compactions for the table's new or deleted rows, and one that builds the index.
    expect(database.figures().compactions).toBe(4);
    await database.close();
  });

  // Recovery leaves segments in this state if it compacts before it reaches the log entry of the
  // index.
  test('are built by the next compaction if a segment lacks them, and reads are right until then', async () => {
    const fs = simDisk();
    let database = await openSim(fs);
    const pair = await pairOn(database, new Random(7));
    await pair.insert(100);
    await database.compact({});
    const { table } = pair;
    table.definition = { ...table.definition, indexes: [{ column: table.columns.find('speed')!.id, createdAt: 5 }] };
    expect(database.indexes()).toEqual([{ table: 'Tracks', column: 'Speed', created_at: 5 }]);
    expect(pair.compare(50, database.lastLsn)).not.toContain('PSI_RANGE');
    await pair.insert(1);
    await database.setCompactThreshold(1, 'Tracks');
    while ((orders(table).Speed ?? 0) === 0) await turn();
    expect(orders(table)).toEqual({ Speed: valued(table, 'speed') });
    expect(pair.compare(50, database.lastLsn)).toContain('PSI_RANGE');
    await database.close();
    database = await openSim(fs);
    expect(orders(database.table('tracks'))).toEqual(orders(table));
    await database.close();
  });

  test('are built while writers continue, and while readers continue at their snapshots', async () => {
    const gates: (() => void)[] = [];
    let paused = false;
    const fs = simDisk();
    const runner = new PausingRunner(fs, async (step) => {
      if (paused && step === 'part') await new Promise<void>((resolve) => gates.push(resolve));
    });
    const database = await openSim(fs, { runner });
    const pair = await pairOn(database, new Random(8));
    await pair.insert(100);
    await database.compact({});
    const snapshot = database.snapshot(pair.table);
    paused = true;
    const created = database.createIndex('Tracks', 'weight');
    let parts = 0;
    let done = false;
    void created.then(() => (done = true));
    while (!done) {
      await turn();
      if (gates.length === 0) continue;
      expect(database.indexes()).toEqual([]);
      expect(database.figures().compactionsRunning).toBe(1);
      await pair.insert(3);
      await pair.remove(2);
      pair.compare(10, database.lastLsn);
      pair.compareAll(snapshot.lsn, snapshot);
      parts++;
      gates.pop()!();
    }
    paused = false;
    expect(parts).toBeGreaterThan(5);
    expect(database.figures().snapshotsOpen).toBe(1);
    snapshot.release();
    snapshot.release();
    expect(database.figures().snapshotsOpen).toBe(0);
    expect(pair.compare(60, database.lastLsn)).toContain('PSI_RANGE');
    new Pair((await openSim(fs.crash())).table('tracks'), pair.random, pair.model).compareAll(MAX);
  });
});

describe('building an index', () => {
  interface Prepared {
    fs: SimFs;
    database: Database;
    pair: Pair;
  }

  async function prepared(): Promise<Prepared> {
    const fs = simDisk();
    const database = await openSim(fs, { core: 'release', memoryBudgetBytes: 1, logFileBytes: 4096 + 1500 });
    const pair = await pairOn(database, new Random(9));
    await pair.insert(18);
    await database.compact({});
    await pair.insert(4);
    await pair.remove(2);
    return { fs, database, pair };
  }

  async function operationsOf(): Promise<Operation[]> {
    const { fs, database } = await prepared();
    const seen: Operation[] = [];
    fs.schedule = (operation) => void seen.push(operation);
    await database.createIndex('Tracks', 'weight');
    return seen;
  }

  /**
   * Checks what must hold on any disk: all rows are there, the index is in the catalog with its
   * orders or not there at all, and a missing index can be created.
   */
  async function check(disk: SimFs, pair: Pair, what: string): Promise<boolean> {
    const database = await openSim(disk, { core: 'release' });
    const again = new Pair(database.table('Tracks'), new Random(10), pair.model);
    const isThere = database.indexes().length === 1;
    again.compareAll(MAX);
    if (isThere) expect(orders(again.table).weight, what).toBe(valued(again.table, 'weight'));
    else await database.createIndex('Tracks', 'weight');
    expect(database.indexes(), what).toHaveLength(1);
    expect(again.compare(30, MAX), what).toContain('PSI_RANGE');
    again.compareAll(MAX);
    await database.close();
    return isThere;
  }

  test.each(['crash', 'kill'] as const)(
    'leaves all rows, and the whole index or none, when the machine stops at any point (%s)',
    async (how) => {
      const operations = await operationsOf();
      expect(operations.length).toBeGreaterThan(20);
      const outcomes = new Set<boolean>();
      // If `step` is the number of operations, everything is done before the crash.
      for (let step = 0; step <= operations.length; step++) {
        const { fs, database, pair } = await prepared();
        const at = fs.operations + 1 + step;
        fs.schedule = (operation) => (operation.index === at ? 'crash' : undefined);
        await Promise.race([database.createIndex('Tracks', 'weight').catch(() => undefined), fs.whenStopped]);
        const disk = how === 'crash' ? fs.crash() : fs.kill();
        outcomes.add(await check(disk, pair, `step ${step} of ${how}`));
      }
      expect(outcomes).toEqual(new Set([true, false]));
    },
  );

  test('either succeeds or is refused without a trace when the disk fails at any point', async () => {
    const operations = await operationsOf();
    const codes = new Set<string>();
    for (let step = 0; step < operations.length; step++) {
      for (const fault of [{ code: 'EIO' }, { code: 'ENOSPC' }] satisfies Fault[]) {
        if (fault.code === 'ENOSPC' && operations[step]!.kind !== 'write') continue;
        const { fs, database, pair } = await prepared();
        const at = fs.operations + 1 + step;
        fs.schedule = (operation) => (operation.index === at ? fault : undefined);
        const code = await codeOf(database.createIndex('Tracks', 'weight'));
        fs.schedule = () => undefined;
        codes.add(code);
        const what = `${fault.code} at ${operations[step]!.kind} ${operations[step]!.path}: ${code}`;
        if (code === 'none') expect(database.indexes(), what).toHaveLength(1);
        else if (code !== 'log_failed' && code !== 'table_corrupt') expect(database.indexes(), what).toEqual([]);
        await check(fs.crash(), pair, what);
      }
    }
    expect([...codes].sort()).toEqual(['disk_failed', 'disk_full', 'log_failed', 'none', 'table_corrupt']);
  });
});
