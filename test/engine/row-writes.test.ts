// Tests rows that are changed by their id: updates that keep the id, and removals of one row,
// wherever the older versions of the row are stored.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildColumnPlan, loadCore, makeChecksum, readColumnBlocks } from '../../src/core/index.ts';
import { restoreBackup } from '../../src/engine/backup/restore.ts';
import { decodeKills, encodeKills, OPERATION, readRuns, runHeader } from '../../src/engine/commit/operations.ts';
import type { AnswerToKeep, Database, EngineOptions, Table } from '../../src/engine/index.ts';
import type { EdgeInput, RowKey } from '../../src/engine/types.ts';
import { verifyDirectory } from '../../src/engine/verify/verify-directory.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { drain, openSim, PausingRunner, rowsOf, simDisk, turn } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { codeOf, fill, range } from '../support/sim-tables.ts';

const MAX = Number.MAX_SAFE_INTEGER;

/** Changes one row in its own commit, and returns the LSN of the commit. */
async function update(database: Database, table: Table, key: RowKey, edge: EdgeInput): Promise<number> {
  const transaction = database.begin();
  transaction.updateRow(table, key, edge);
  return (await transaction.commit()).lsn;
}

async function remove(database: Database, table: Table, key: RowKey): Promise<number> {
  const transaction = database.begin();
  transaction.deleteRow(table, key);
  return (await transaction.commit()).lsn;
}

/** Returns `id@time [members]` for every row. */
function shown(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(({ id, event_ts, members }) => `${id}@${event_ts} [${members}]`);
}

async function faultsOf(fs: SimFs): Promise<unknown[]> {
  const core = loadCore('debug');
  const tools = { fs, core, crc32c: makeChecksum(core.instantiate()) };
  return (await verifyDirectory(tools, '/db', async () => {})).problems;
}

describe('the encoding of changes by id', () => {
  test('has the bytes documented in FORMAT.md for an update', async () => {
    const format = readFileSync(new URL('../../src/storage/FORMAT.md', import.meta.url), 'utf8');
    const example = format.slice(format.indexOf('Example: edge 7 of table 1'), format.indexOf('## Epochs'));
    const wanted = [...example.matchAll(/^[0-9a-f]{4}: ((?:[0-9a-f]{2} ?)+) {2,}/gm)].flatMap(([, bytes]) =>
      bytes!.trim().split(' '),
    );
    const fs = simDisk();
    const database = await openSim(fs, { logFileBytes: 2 ** 20 });
    await fill(database.table(), range(94, 101));
    await update(database, database.table(), { eventTs: 100, id: 7 }, { event_ts: 103, members: [5] });
    await database.close();
    const log = Buffer.from(wanted.join(''), 'hex');
    expect(log).toHaveLength(74);
    const handle = fs.open(`/db/log/${fs.list('/db/log').find((name) => name.startsWith('log-0'))}`, 'read');
    const found = Buffer.alloc(handle.size());
    handle.read(found, 0);
    handle.close();
    expect(found.includes(log)).toBe(true);
  });

  test('encodes and decodes keys of any safe integers, and refuses other keys', () => {
    const keys = [
      { eventTs: -MAX, id: 1 },
      { eventTs: MAX, id: MAX },
      { eventTs: 0, id: 2 ** 40 },
    ];
    const bytes = encodeKills(keys);
    const run = { kind: OPERATION.kill, tableId: 1, operations: 3, bytes };
    expect(decodeKills(run, 'here', 0)).toEqual(keys);
    expect(() => decodeKills({ ...run, operations: 2 }, 'here', 7)).toThrow(/here is corrupt at offset 7/);
    bytes[16 + 7] = 0x7f;
    expect(() => decodeKills(run, 'here', 7)).toThrow(/here is corrupt at offset 23/);
    const [read] = readRuns(Buffer.concat([runHeader(OPERATION.kill, 1, 3, 48), bytes]), 3, 'here');
    expect(read).toMatchObject({ kind: 6, operations: 3 });
  });
});

const PLACES: [string, Partial<EngineOptions>][] = [
  ['with small segments', { segmentRows: 4 }],
  ['with one segment in memory at a time', { segmentRows: 4, memoryBudgetBytes: 1 }],
  ['with large segments', { segmentRows: 60 }],
];

describe.each(PLACES)('a row changed by its id, %s', (_, options) => {
  test('keeps its id and can change everything else, in the log, in segments and after restarts', async () => {
    let fs = simDisk();
    let database = await openSim(fs, options);
    let table = database.table();
    await fill(table, range(0, 12));
    const wanted = shown(rowsOf(table));
    const settle = [
      async () => {},
      () => database.compact({}),
      async () => {
        await database.close();
        database = await openSim(fs, options);
        table = database.table();
      },
    ];
    for (const [round, before] of settle.entries()) {
      await before();
      // Each round updates another row, and row 10 again, in place. After the rounds one row moves
      // to another time, and one is removed.
      await update(database, table, { eventTs: 3 + round, id: 4 + round }, { event_ts: 3 + round, members: [round] });
      await update(database, table, { eventTs: 9, id: 10 }, { event_ts: 9, members: [7, round] });
      wanted[3 + round] = `${4 + round}@${3 + round} [${round}]`;
      wanted[9] = `10@9 [${round},7]`;
      expect(shown(rowsOf(table))).toEqual(wanted);
      expect(shown(rowsOf(table, { nodes: [7] }))).toEqual([`10@9 [${round},7]`]);
      expect(table.rowCount).toBe(12);
    }
    await update(database, table, { eventTs: 11, id: 12 }, { event_ts: -5, members: [1] });
    await remove(database, table, { eventTs: 0, id: 1 });
    const last = ['12@-5 [1]', ...wanted.slice(1, 11)];
    expect(shown(rowsOf(table))).toEqual(last);
    for (const isKill of [false, true]) {
      fs = isKill ? fs.kill() : fs.crash();
      const found = await openSim(fs, options);
      expect(shown(rowsOf(found.table()))).toEqual(last);
      expect(await faultsOf(fs)).toEqual([]);
      if (isKill) await found.compact({});
      expect(shown(rowsOf(found.table()))).toEqual(last);
      expect(found.table().nextId).toBe(13);
    }
  });

  test('is found once by every kind of read, even if an older version has the same key', async () => {
    const database = await openSim(simDisk(), options);
    const table = database.table();
    await fill(table, range(0, 20));
    await database.compact({});
    for (const time of range(0, 20)) {
      const edge = { event_ts: time, members: [time % 7, 500], properties: { weight: time } };
      // Some versions get a memtable of their own.
      if (time % 5 === 0) table.rotateMemtable(database.lastLsn);
      if (time % 3 !== 0) await update(database, table, { eventTs: time, id: time + 1 }, edge);
      if (time % 3 === 2) await update(database, table, { eventTs: time, id: time + 1 }, edge);
    }
    const all = rowsOf(table);
    expect(all.map(({ id }) => id)).toEqual(range(1, 21));
    expect(rowsOf(table, { nodes: [500] }).map(({ event_ts }) => event_ts)).toEqual(
      range(0, 20).filter((t) => t % 3 !== 0),
    );
    expect(rowsOf(table, { where: [{ column: 'weight', low: 4, high: 8 }] }).map(({ id }) => id)).toEqual([5, 6, 8, 9]);
    const plan = buildColumnPlan({ ids: true, columns: [] });
    const ids: number[] = [];
    const scan = table.scan({ format: 'columns', columns: plan });
    for (let slice = scan.next(); slice !== null; slice = scan.next())
      for (const block of readColumnBlocks(slice as Uint8Array<ArrayBuffer>, plan)) ids.push(...block.ids);
    expect(ids).toEqual(range(1, 21));
    const paged: unknown[] = [];
    let after: RowKey | undefined;
    for (let page = 0; page < 20; page++) {
      const one = table.scan({ format: 'ndjson', limit: 3, after });
      paged.push(
        ...drain(one)
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      );
      after = one.lastKey;
      if (!one.hasMore) break;
    }
    expect(paged).toEqual(all);
    expect(table.count({ startTs: 3, endTs: 11 })).toBe(9);
    expect(table.timeBounds({ startTs: 3, endTs: 11 })).toEqual({ least: 3, greatest: 11 });
  });

  test('is unchanged for an older snapshot, also after compactions', async () => {
    const database = await openSim(simDisk(), options);
    const table = database.table();
    await fill(table, range(0, 10));
    const before = shown(rowsOf(table));
    const snapshots = [database.snapshot(table)];
    await database.compact({});
    snapshots.push(database.snapshot(table));
    await update(database, table, { eventTs: 4, id: 5 }, { event_ts: 4, members: [1] });
    await update(database, table, { eventTs: 5, id: 6 }, { event_ts: 8, members: [1] });
    await remove(database, table, { eventTs: 6, id: 7 });
    const between = database.snapshot(table);
    const changed = shown(rowsOf(table));
    await update(database, table, { eventTs: 4, id: 5 }, { event_ts: 4, members: [2] });
    await database.compact({});
    await update(database, table, { eventTs: 8, id: 6 }, { event_ts: 8, members: [3] });
    for (const snapshot of snapshots) expect(shown(rowsOf(table, {}, snapshot))).toEqual(before);
    expect(shown(rowsOf(table, {}, between))).toEqual(changed);
    expect(shown(rowsOf(table)).slice(4, 8)).toEqual(['5@4 [2]', '8@7 [0,107]', '6@8 [3]', '9@8 [1,108]']);
    for (const snapshot of [...snapshots, between]) snapshot.release();
  });
});

test('a backup contains rows changed by id and altered columns, from the log and from segments', async () => {
  const root = mkdtempSync(join(tmpdir(), 'hedgerow-rows-'));
  mkdirSync(join(root, 'backups'));
  const fs = nodeFs;
  const database = await openSim(fs, { segmentRows: 4, dir: join(root, 'db') });
  const table = await database.createTable({ name: 't', columns: [{ name: 'a', type: 'INTEGER', default: 1 }] });
  await fill(table, range(0, 12));
  await database.compact({});
  const change = async (time: number): Promise<void> => {
    await update(database, table, { eventTs: time, id: time + 1 }, { event_ts: time, members: [time, 500] });
    await update(database, table, { eventTs: time, id: time + 1 }, { event_ts: time + 1, members: [time, 600] });
    await remove(database, table, { eventTs: time + 2, id: time + 3 });
  };
  await change(1);
  await database.alterTable('t', { kind: 'addColumn', column: { name: 'b', type: 'TEXT', default: 'x' } });
  await database.alterTable('t', { kind: 'dropColumn', column: 'a' });
  await database.alterTable('t', { kind: 'renameTable', to: 'u' });
  await change(5);
  const core = loadCore('debug');
  const tools = { fs, core, crc32c: makeChecksum(core.instantiate()), progress: () => {}, checkStopped: () => {} };
  for (const compactFirst of [false, true]) {
    const { path } = await database.backup({ dir: join(root, 'backups'), compactFirst });
    const wanted = rowsOf(table);
    await change(compactFirst ? 8 : 9);
    const dir = join(root, `restored-${compactFirst}`);
    const { tables } = await restoreBackup({ ...tools, file: path, dir });
    expect(tables).toEqual(['hyperedges', 'u']);
    const found = await openSim(fs, { dir });
    expect(rowsOf(found.table('u'))).toEqual(wanted);
    await found.close();
  }
  await database.close();
  rmSync(root, { recursive: true });
});

describe('a row changed by its id while a compaction runs', () => {
  test('can be changed repeatedly at the same key', async () => {
    for (const step of ['open', 'part', 'close'] as const) {
      const fs = simDisk();
      let met: () => void = () => {};
      let go: () => void = () => {};
      const reached = new Promise<void>((resolve) => (met = resolve));
      const gate = new Promise<void>((resolve) => (go = resolve));
      const pause = async (now: string) => {
        if (now !== step) return;
        met();
        await gate;
      };
      const database = await openSim(fs, { segmentRows: 4, runner: new PausingRunner(fs, pause, 'debug') });
      const table = database.table();
      await fill(table, range(0, 9));
      await update(database, table, { eventTs: 5, id: 6 }, { event_ts: 5, members: [1] });
      const old = database.snapshot(table);
      const before = shown(rowsOf(table));
      const compacted = database.compact({});
      await reached;
      for (const member of [2, 3]) {
        await update(database, table, { eventTs: 5, id: 6 }, { event_ts: 5, members: [member] });
        await update(database, table, { eventTs: member, id: member + 1 }, { event_ts: member, members: [member] });
      }
      await remove(database, table, { eventTs: 8, id: 9 });
      const after = shown(rowsOf(table));
      expect(after).toEqual([
        ...['1@0 [0,100]', '2@1 [1,101]', '3@2 [2]', '4@3 [3]', '5@4 [4,104]'],
        ...['6@5 [3]', '7@6 [6,106]', '8@7 [0,107]'],
      ]);
      go();
      await compacted;
      expect(shown(rowsOf(table))).toEqual(after);
      expect(shown(rowsOf(table, {}, old))).toEqual(before);
      old.release();
      const found = await openSim(fs.crash(), { segmentRows: 4 });
      expect(shown(rowsOf(found.table()))).toEqual(after);
      await found.compact({});
      expect(shown(rowsOf(found.table()))).toEqual(after);
      await found.close();
    }
  });

  test('survives a compaction that drops old rows if the update moves it to a newer time', async () => {
    const fs = simDisk();
    let go: () => void = () => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const pause = async (step: string) => (step === 'part' ? gate : undefined);
    const database = await openSim(fs, { segmentRows: 4, runner: new PausingRunner(fs, pause, 'debug') });
    const table = database.table();
    await fill(table, [...range(0, 6), ...range(100, 104)]);
    const compacted = database.compact({ ttlSeconds: 1_000_000_000 - 50 });
    await turn();
    await update(database, table, { eventTs: 2, id: 3 }, { event_ts: 102, members: [3] });
    go();
    await compacted;
    const wanted = ['7@100 [2,200]', '8@101 [3,201]', '3@102 [3]', '9@102 [4,202]', '10@103 [5,203]'];
    expect(shown(rowsOf(table))).toEqual(wanted);
    expect(shown(rowsOf((await openSim(fs.crash())).table()))).toEqual(wanted);
  });
});

describe('the changes in one transaction', () => {
  test('see the effects of earlier ones, and form one frame', async () => {
    for (const compacted of [false, true]) {
      const fs = simDisk();
      const database = await openSim(fs);
      const table = database.table();
      await fill(table, range(0, 6));
      if (compacted) await database.compact({});
      const { lastLsn } = database;
      const transaction = database.begin({ pinned: true });
      const own = transaction.insert(table, { event_ts: 2, members: [9] });
      transaction.updateRow(table, { eventTs: 3, id: 4 }, { event_ts: 3, members: [1] });
      transaction.updateRow(table, { eventTs: 3, id: 4 }, { event_ts: 7, members: [2] });
      const answered = transaction.updateRow(table, { eventTs: 7, id: 4 }, { event_ts: 2, members: [3, 2] });
      expect(answered).toMatchObject({ id: 4, event_ts: 2, members: [2, 3], weight: null });
      transaction.updateRow(table, { eventTs: 2, id: own.id }, { event_ts: 2, members: [8] });
      transaction.updateRow(table, { eventTs: 5, id: 6 }, { event_ts: 5, members: [1] });
      transaction.deleteRow(table, { eventTs: 5, id: 6 });
      transaction.deleteRow(table, { eventTs: 0, id: 1 });
      for (const gone of [
        { eventTs: 5, id: 6 },
        { eventTs: 0, id: 1 },
        { eventTs: 4, id: 99 },
        { eventTs: 3, id: 5 },
      ])
        expect(await codeOf(Promise.resolve().then(() => transaction.deleteRow(table, gone)))).toBe('invalid_input');
      const wanted = ['2@1 [1,101]', '3@2 [2,102]', '4@2 [2,3]', '7@2 [8]', '5@4 [4,104]'];
      const seen = transaction.scan(table, { format: 'json' });
      expect(shown(JSON.parse(`[${drain(seen)}]`))).toEqual(wanted);
      expect(shown(rowsOf(table))).toHaveLength(6);
      const { lsn, results } = await transaction.commit();
      // One insert, two removals, and two operations per update.
      expect(lsn).toBe(lastLsn + 1 + 2 + 2 * 5);
      expect(results).toHaveLength(8);
      expect(results.at(-1)).toMatchObject({ matched: 1, id: 1, event_ts: 0 });
      expect(results[3]).toMatchObject({ row: answered });
      expect(shown(rowsOf(table))).toEqual(wanted);
      expect(shown(rowsOf((await openSim(fs.crash())).table()))).toEqual(wanted);
    }
  });

  test('can remove, by time and members, rows that earlier ones left, and the stored answer has the right counts', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    for (const _ of range(0, 3)) await table.insert({ event_ts: 1, members: [1] });
    await database.compact({});
    const transaction = database.begin();
    transaction.insert(table, { event_ts: 1, members: [1] });
    transaction.updateRow(table, { eventTs: 1, id: 1 }, { event_ts: 2, members: [1] });
    transaction.deleteRow(table, { eventTs: 1, id: 2 });
    transaction.delete(table, 1, [1]);
    transaction.updateRow(table, { eventTs: 2, id: 1 }, { event_ts: 1, members: [1] });
    transaction.insert(table, { event_ts: 1, members: [1] });
    transaction.delete(table, 1, [1]);
    transaction.delete(table, 2, [1]);
    transaction.insert(table, { event_ts: 1, members: [1] });
    let told: unknown;
    const attach = (outcome: unknown): AnswerToKeep => {
      told = outcome;
      return { id: 'a', bodyHash: '', status: 200, contentType: '', body: '', at: 1e12 };
    };
    const { results } = await transaction.commit(attach);
    expect(results.map((each) => ('matched' in each ? each.matched : each.row.id))).toEqual([
      4, 1, 1, 2, 1, 5, 2, 0, 6,
    ]);
    expect(told).toMatchObject({ results: results.map(({ lsn: _, ...outcome }) => outcome) });
    expect(shown(rowsOf(table))).toEqual(['6@1 [1]']);
  });

  test('do not see rows that an earlier one removed by time and members', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    await fill(table, range(0, 4));
    const transaction = database.begin();
    const { id } = transaction.insert(table, { event_ts: 9, members: [9] });
    transaction.delete(table, 1, [1, 101]);
    transaction.delete(table, 9, [9]);
    for (const key of [
      { eventTs: 1, id: 2 },
      { eventTs: 9, id },
    ])
      expect(await codeOf(Promise.resolve().then(() => transaction.deleteRow(table, key)))).toBe('invalid_input');
    transaction.deleteRow(table, { eventTs: 2, id: 3 });
    await transaction.commit();
    expect(shown(rowsOf(table))).toEqual(['1@0 [0,100]', '4@3 [3,103]']);
  });

  test('may hide very many rows, which the commit processes in slices', async () => {
    let us = 0;
    const database = await openSim(simDisk(), { core: 'release', nowUs: () => (us += 4000), logFileBytes: 2 ** 20 });
    const table = database.table();
    await fill(table, range(0, 70_000));
    const transaction = database.begin();
    for (const time of range(0, 69_990)) transaction.deleteRow(table, { eventTs: time, id: time + 1 });
    transaction.updateRow(table, { eventTs: 69_995, id: 69_996 }, { event_ts: 90_000, members: [1] });
    const scan = transaction.scan(table, { format: 'ndjson' });
    let empty = 0;
    let text = '';
    for (let slice = scan.next(); slice !== null; slice = scan.next()) {
      if (slice.length === 0) empty++;
      text += Buffer.from(slice).toString();
    }
    expect(empty).toBeGreaterThan(0);
    const ids = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual([...range(69_991, 70_001).filter((id) => id !== 69_996), 69_996]);
    expect(table.count({}, transaction.snapshotOf(table), transaction.overlayOf(table))).toBe(10);
    await transaction.commit();
    expect(table.rowCount).toBe(10);
    await database.close();
  });
});
