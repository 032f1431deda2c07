// Tests ALTER: columns are added, dropped and renamed, and tables are renamed, without rewriting
// the rows in the log and in segments.

import { describe, expect, test } from 'vitest';
import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { OPERATION, singleRun } from '../../src/engine/commit/operations.ts';
import type { AlterAction, AnswerToKeep, Database, Table } from '../../src/engine/index.ts';
import { verifyDirectory } from '../../src/engine/verify/verify-directory.ts';
import { drain, openSim, PausingRunner, rowsOf, simDisk, turn } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { codeOf, range, segmentFiles } from '../support/sim-tables.ts';

const LONG = 'long text '.repeat(500);

async function tracks(database: Database): Promise<Table> {
  const columns = [
    { name: 'Speed', type: 'REAL' as const },
    { name: 'Crew', type: 'INTEGER' as const, default: 7 },
    { name: 'Note', type: 'TEXT' as const },
  ];
  return database.createTable({ name: 'Tracks', columns });
}

/** Inserts rows whose id is their time + 1. */
async function insert(
  table: Table,
  times: readonly number[],
  properties: (time: number) => Record<string, unknown>,
): Promise<void> {
  const bulk = table.bulk();
  for (const time of times)
    bulk.add({ event_ts: time, members: [1], properties: properties(time) as Record<string, number | string> });
  await bulk.commit();
}

function column(table: Table, name: string): unknown[] {
  return rowsOf(table).map((row) => row[name]);
}

/** Returns the bytes of all segments of table 2. */
function segmentBytes(fs: SimFs): Buffer {
  return Buffer.concat(
    segmentFiles(fs, '/db/tables/2').map((name) => {
      const handle = fs.open(`/db/tables/2/${name}`, 'read');
      const bytes = Buffer.alloc(handle.size());
      handle.read(bytes, 0);
      handle.close();
      return bytes;
    }),
  );
}

async function faultsOf(fs: SimFs): Promise<unknown[]> {
  const core = loadCore('debug');
  const tools = { fs, core, crc32c: makeChecksum(core.instantiate()) };
  return (await verifyDirectory(tools, '/db', async () => {})).problems;
}

const add = (
  name: string,
  type: 'REAL' | 'INTEGER' | 'TEXT' | 'BOOLEAN',
  more: { default?: number | string | boolean } = {},
): AlterAction => ({
  kind: 'addColumn',
  column: { name, type, ...more },
});

describe('an added column', () => {
  test('has its default in old rows and in new rows without a value, and no segment is written for it', async () => {
    const fs = simDisk();
    let database = await openSim(fs);
    let table = await tracks(database);
    await insert(table, range(0, 10), (time) => ({ speed: time }));
    await database.compact({});
    await insert(table, range(10, 14), () => ({}));
    const files = segmentFiles(fs, '/db/tables/2');
    expect(await database.alterTable('tracks', add('Depth', 'INTEGER', { default: 3 }))).toBe(table);
    await database.alterTable('TRACKS', add('Open', 'BOOLEAN'));
    await database.alterTable('tracks', add('Kind', 'TEXT', { default: 'ship' }));
    expect(segmentFiles(fs, '/db/tables/2')).toEqual(files);
    await insert(table, range(14, 17), (time) => (time === 15 ? { depth: 9, open: true, KIND: 'boat' } : {}));
    const nulled = database.begin();
    nulled.insert(table, { event_ts: 17, members: [1], properties: { depth: null } });
    nulled.updateRow(table, { eventTs: 2, id: 3 }, { event_ts: 2, members: [1], properties: { depth: 4 } });
    await nulled.commit();
    const depths = [...range(0, 18).map(() => 3)] as (number | null)[];
    depths[15] = 9;
    depths[17] = null;
    depths[2] = 4;
    const check = (): void => {
      expect(Object.keys(rowsOf(table)[0]!).slice(3)).toEqual([
        ...['weight', 'mean_dist_m', 'formation', 'Speed', 'Crew', 'Note', 'Depth', 'Open', 'Kind'],
      ]);
      expect(column(table, 'Depth')).toEqual(depths);
      expect(column(table, 'Open')).toEqual(range(0, 18).map((time) => (time === 15 ? true : null)));
      expect(column(table, 'Kind')).toEqual(range(0, 18).map((time) => (time === 15 ? 'boat' : 'ship')));
      const found = rowsOf(table, { where: [{ column: 'depth', low: 3, high: 3 }] });
      expect(found.map(({ event_ts }) => event_ts)).toEqual(range(0, 18).filter((time) => depths[time] === 3));
    };
    check();
    for (const next of ['compact', 'reopen', 'index', 'reopen', 'compact']) {
      if (next === 'compact') await database.compact({});
      else if (next === 'index') await database.createIndex('tracks', 'depth');
      else {
        await database.close();
        database = await openSim(fs);
        table = database.table('tracks');
      }
      check();
    }
    expect(await faultsOf(fs)).toEqual([]);
  });

  test('is in the compacted rows and in new rows when it is added during a compaction', async () => {
    for (const step of ['open', 'part', 'close'] as const) {
      const fs = simDisk();
      let go: () => void = () => {};
      let met: () => void = () => {};
      const reached = new Promise<void>((resolve) => (met = resolve));
      const gate = new Promise<void>((resolve) => (go = resolve));
      const pause = async (now: string): Promise<void> => {
        if (now !== step) return;
        met();
        await gate;
      };
      let database = await openSim(fs, { runner: new PausingRunner(fs, pause, 'debug') });
      let table = await tracks(database);
      await insert(table, range(0, 12), (time) => ({ speed: time, crew: time }));
      const compacted = database.compact({ table: 'tracks' });
      await reached;
      await database.alterTable('tracks', add('a', 'INTEGER', { default: 5 }));
      await database.alterTable('tracks', { kind: 'dropColumn', column: 'crew' });
      await database.alterTable('tracks', { kind: 'renameColumn', column: 'speed', to: 'pace' });
      await insert(table, range(12, 15), (time) => ({ a: time, pace: 1 }));
      await database.alterTable('tracks', { kind: 'renameTable', to: 'ways' });
      go();
      await compacted;
      for (let round = 0; round < 3; round++) {
        expect(column(table, 'a')).toEqual([...range(0, 12).map(() => 5), 12, 13, 14]);
        expect(column(table, 'pace')).toEqual([...range(0, 12), 1, 1, 1]);
        expect(rowsOf(table)[0]).not.toHaveProperty('Crew');
        if (round === 0) {
          database = await openSim(fs.kill());
          table = database.table('ways');
        } else await database.compact({});
      }
      await database.close();
    }
  });
});

describe('a dropped column', () => {
  test('disappears at once with its index, and its id is not used again', async () => {
    const fs = simDisk();
    let database = await openSim(fs, { logFileBytes: 2 ** 20 });
    let table = await tracks(database);
    await insert(table, range(0, 20), (time) => ({ speed: time, note: `${LONG}${time}`, crew: 1 }));
    await database.createIndex('tracks', 'speed');
    await database.createIndex('tracks', 'crew');
    await insert(table, range(20, 24), () => ({ note: LONG, speed: 3 }));
    const { columns } = table.definition;
    expect(segmentBytes(fs).includes(LONG)).toBe(true);
    await database.alterTable('tracks', { kind: 'dropColumn', column: 'NOTE' });
    await database.alterTable('tracks', { kind: 'dropColumn', column: 'speed' });
    expect(database.indexes('tracks')).toMatchObject([{ column: 'Crew' }]);
    expect(table.item(true).columns).toEqual([{ name: 'Crew', type: 'INTEGER', default: 7 }]);
    expect(table.item().columns).toEqual([{ name: 'Crew', type: 'INTEGER' }]);
    expect(await codeOf(table.insert({ event_ts: 1, members: [1], properties: { speed: 1 } }))).toBe('unknown_column');
    expect(() => table.scan({ format: 'json', where: [{ column: 'speed' }] })).toThrow(/no column "speed"/);
    expect(segmentBytes(fs).includes(LONG)).toBe(true);
    // Other columns get the same names.
    await database.alterTable('tracks', add('Speed', 'TEXT', { default: 'fast' }));
    await database.alterTable('tracks', add('Note', 'INTEGER'));
    const used = columns.map(({ id }) => id);
    expect(table.definition.columns.map(({ id }) => used.includes(id))).toEqual([true, false, false]);
    await insert(table, [24], () => ({ speed: 'slow', note: 6 }));
    const check = (): void => {
      expect(column(table, 'Speed')).toEqual([...range(0, 24).map(() => 'fast'), 'slow']);
      expect(column(table, 'Note')).toEqual([...range(0, 24).map(() => null), 6]);
      expect(column(table, 'Crew')).toEqual([...range(0, 20).map(() => 1), ...range(20, 25).map(() => 7)]);
    };
    check();
    database = await openSim(fs.kill());
    table = database.table('tracks');
    check();
    await database.close();
  });

  test('is no longer in the files after a compaction has rewritten them', async () => {
    const fs = simDisk();
    const database = await openSim(fs, { logFileBytes: 2 ** 20 });
    const table = await tracks(database);
    await insert(table, range(0, 12), () => ({ note: LONG, speed: 1 }));
    await database.compact({});
    await database.createIndex('tracks', 'speed');
    await insert(table, range(12, 15), () => ({ note: LONG }));
    await database.alterTable('tracks', { kind: 'dropColumn', column: 'note' });
    await database.alterTable('tracks', { kind: 'dropColumn', column: 'speed' });
    for (const time of range(0, 15)) await table.delete(time, [1]);
    await insert(table, range(0, 15), (time) => ({ crew: time }));
    await database.compact({});
    await turn();
    expect(segmentBytes(fs).includes(LONG.slice(0, 50))).toBe(false);
    const ids = new Set(table.version.segments.flatMap(({ facts }) => facts.columns.map(({ id }) => id)));
    expect([...ids]).toEqual([0, 1, 2, 4]);
    expect(column(table, 'Crew')).toEqual(range(0, 15));
    expect(await faultsOf(fs)).toEqual([]);
  });
});

describe('a new name', () => {
  test('leaves the values and the index of a column unchanged', async () => {
    const fs = simDisk();
    let database = await openSim(fs);
    let table = await tracks(database);
    await insert(table, range(0, 20), (time) => ({ speed: time }));
    await database.createIndex('tracks', 'speed');
    await insert(table, range(20, 24), (time) => ({ speed: time }));
    await database.alterTable('tracks', { kind: 'renameColumn', column: 'sPEED', to: 'Pace' });
    await database.alterTable('tracks', { kind: 'renameColumn', column: 'crew', to: 'CREW' });
    await database.alterTable('tracks', add('Speed', 'REAL', { default: -1 }));
    for (let round = 0; round < 3; round++) {
      expect(column(table, 'Pace')).toEqual(range(0, 24));
      expect(column(table, 'Speed')).toEqual(range(0, 24).map(() => -1));
      expect(column(table, 'CREW')).toEqual(range(0, 24).map(() => 7));
      expect(database.indexes('tracks')).toMatchObject([{ column: 'Pace' }]);
      const scan = table.scan({ format: 'json', where: [{ column: 'pace', low: 3, high: 3 }] });
      expect(JSON.parse(drain(scan))).toMatchObject({ event_ts: 3 });
      expect(scan.plan().strategy).toBe('PSI_RANGE');
      if (round === 0) {
        database = await openSim(fs.kill());
        table = database.table('tracks');
      } else await database.compact({});
    }
    expect(await database.dropIndex('tracks', 'pace')).toEqual({ table: 'Tracks', column: 'Pace' });
    await database.close();
  });

  test('replaces the old name of a table, and its rows stay in place', async () => {
    const fs = simDisk();
    let database = await openSim(fs);
    const table = await tracks(database);
    await insert(table, range(0, 12), () => ({}));
    await database.compact({});
    const files = segmentFiles(fs, '/db/tables/2');
    const tag = table.contentTag;
    await database.alterTable('Tracks', { kind: 'renameTable', to: 'ways' });
    expect(table.contentTag).not.toBe(tag);
    expect(() => database.table('tracks')).toThrow(/no table "tracks"/);
    const other = await tracks(database);
    expect(database.tables().map(({ name }) => name)).toEqual(['Tracks', 'hyperedges', 'ways']);
    await database.alterTable('WAYS', { kind: 'renameTable', to: 'Ways' });
    await insert(other, range(0, 3), () => ({}));
    await insert(table, [12], () => ({}));
    await database.close();
    database = await openSim(fs);
    expect(rowsOf(database.table('ways'))).toHaveLength(13);
    expect(rowsOf(database.table('tracks'))).toHaveLength(3);
    expect(segmentFiles(fs, '/db/tables/2')).toEqual(files);
    expect(database.wal().tables).toHaveProperty('Ways');
    await database.dropTable('Tracks');
    await database.alterTable('ways', { kind: 'renameTable', to: 'TRACKS' });
    const core = loadCore('debug');
    const tools = { fs, core, crc32c: makeChecksum(core.instantiate()) };
    await database.close();
    const report = await verifyDirectory(tools, '/db', async () => {});
    expect(report).toMatchObject({ problems: [], tables: [{ name: 'TRACKS' }, { name: 'hyperedges' }] });
    expect(rowsOf((await openSim(fs)).table('tracks'))).toHaveLength(13);
  });
});

describe('ALTER', () => {
  test('refuses impossible changes without changing anything', async () => {
    const database = await openSim(simDisk());
    const table = await tracks(database);
    const refused: [string, AlterAction, string][] = [
      ['nowhere', add('a', 'TEXT'), 'table_not_found'],
      ['tracks', add('SPEED', 'TEXT'), 'column_exists'],
      ['tracks', add('weight', 'TEXT'), 'column_exists'],
      ['tracks', add('Event_Ts', 'TEXT'), 'column_exists'],
      ['tracks', add('no space', 'TEXT'), 'invalid_input'],
      ['tracks', add('a', 'DATE' as 'TEXT'), 'invalid_input'],
      ['tracks', add('a', 'INTEGER', { default: 'x' }), 'invalid_input'],
      ['tracks', add('a', 'INTEGER', { default: 0.5 }), 'invalid_input'],
      ['tracks', { kind: 'dropColumn', column: 'formation' }, 'invalid_input'],
      ['tracks', { kind: 'dropColumn', column: 'ID' }, 'invalid_input'],
      ['tracks', { kind: 'dropColumn', column: 'depth' }, 'unknown_column'],
      ['tracks', { kind: 'renameColumn', column: 'members', to: 'a' }, 'invalid_input'],
      ['tracks', { kind: 'renameColumn', column: 'depth', to: 'a' }, 'unknown_column'],
      ['tracks', { kind: 'renameColumn', column: 'speed', to: 'crew' }, 'column_exists'],
      ['tracks', { kind: 'renameColumn', column: 'speed', to: 'MEMBERS' }, 'column_exists'],
      ['tracks', { kind: 'renameColumn', column: 'speed', to: '5' }, 'invalid_input'],
      ['tracks', { kind: 'renameTable', to: 'HyperEdges' }, 'table_exists'],
      ['tracks', { kind: 'renameTable', to: 'a b' }, 'invalid_input'],
      ['HYPEREDGES', { kind: 'renameTable', to: 'a' }, 'primary_table'],
    ];
    const { lastLsn, catalogVersion } = database;
    const { definition } = table;
    for (const [name, action, code] of refused)
      expect(await codeOf(database.alterTable(name, action)), JSON.stringify(action)).toBe(code);
    expect([database.lastLsn, database.catalogVersion, table.definition]).toEqual([
      lastLsn,
      catalogVersion,
      definition,
    ]);
    for (let count = 0; count < 997; count++) await database.alterTable('tracks', add(`c${count}`, 'REAL'));
    expect(await codeOf(database.alterTable('tracks', add('more', 'REAL')))).toBe('invalid_input');
    await database.alterTable('tracks', { kind: 'dropColumn', column: 'c5' });
    await database.alterTable('tracks', add('more', 'REAL'));
    await insert(table, range(0, 3), (time) => ({ more: time }));
    await database.compact({});
    expect(column(table, 'more')).toEqual([0, 1, 2]);
    await database.close();
  }, 60_000);

  test('increments the version of the catalog', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    const versions = [database.catalogVersion];
    const next = async (change: Promise<unknown>): Promise<void> => {
      await change;
      versions.push(database.catalogVersion);
    };
    await next(tracks(database));
    await next(database.alterTable('tracks', add('a', 'REAL')));
    await next(database.alterTable('tracks', { kind: 'renameColumn', column: 'a', to: 'b' }));
    await next(database.createIndex('tracks', 'b'));
    await next(database.alterTable('tracks', { kind: 'dropColumn', column: 'b' }));
    await next(database.setCompactThreshold(5, 'tracks'));
    await next(database.alterTable('tracks', { kind: 'renameTable', to: 'c' }));
    await next(database.dropTable('c'));
    expect(versions).toEqual(range(versions[0]!, versions[0]! + 9));
    await database.table().insert({ event_ts: 1, members: [1] });
    await database.compact({});
    expect(database.catalogVersion).toBe(versions.at(-1));
    await database.close();
  });

  test('stores the answer to its request in the frame of the change', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    const table = await tracks(database);
    const told: unknown[] = [];
    const attach = (outcome: unknown): AnswerToKeep => {
      told.push(outcome);
      return { id: `a${told.length}`, bodyHash: '', status: 200, contentType: '', body: '', at: 1e12 };
    };
    await database.alterTable('tracks', add('a', 'REAL'), attach);
    expect(told.pop()).toEqual(table.item());
    await database.alterTable('tracks', { kind: 'renameTable', to: 'ways' }, attach);
    expect(told.pop()).toEqual(table.item());
    expect(table.item()).toMatchObject({ name: 'ways', primary: false });
    const found = await openSim(fs.crash());
    expect(found.replays.find('a1')).toBeDefined();
    expect(found.table('ways').item().columns.at(-1)).toEqual({ name: 'a', type: 'REAL' });
  });

  test.each([
    ['of a table', 0],
    ['of a table that does not exist', 7],
  ])('is refused at the next open if this version does not know the kind of change %s', async (_name, beyond) => {
    const fs = simDisk();
    const database = await openSim(fs);
    const table = await tracks(database);
    const change = Buffer.from(JSON.stringify({ op: 'swap_columns', id: table.id + beyond, columns: [3, 4] }));
    const { committer } = table.context;
    const { durable } = await committer.write(() => committer.commit(1, singleRun(OPERATION.catalog, change)));
    await durable;
    await database.close();
    expect((await faultsOf(fs)).map((each) => (each as { what: string }).what)).toEqual([
      expect.stringContaining('a catalog change "swap_columns", which this build does not know'),
    ]);
    expect(await codeOf(openSim(fs))).toBe('corrupt');
  });

  test('does not affect a running scan', async () => {
    const database = await openSim(simDisk(), { core: 'release' });
    const table = await tracks(database);
    await insert(table, range(0, 3000), (time) => ({ speed: time, note: 'n' }));
    await database.compact({});
    await insert(table, range(3000, 6000), (time) => ({ speed: time, note: 'n' }));
    const wanted = drain(table.scan({ format: 'ndjson', where: [{ column: 'speed', low: 10 }] }));
    const scan = table.scan({ format: 'ndjson', where: [{ column: 'speed', low: 10 }] });
    const parts = [scan.next()!];
    await database.alterTable('tracks', { kind: 'dropColumn', column: 'note' });
    await database.alterTable('tracks', { kind: 'renameColumn', column: 'speed', to: 'pace' });
    await database.alterTable('tracks', add('a', 'REAL', { default: 1 }));
    await table.insert({ event_ts: 5000, members: [2], properties: { pace: 20 } });
    await database.compact({});
    for (let slice = scan.next(); slice !== null; slice = scan.next()) parts.push(slice);
    expect(Buffer.concat(parts).toString()).toBe(wanted);
    await database.close();
  });
});
