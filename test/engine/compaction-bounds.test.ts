// Checks that a compaction keeps its limits in bytes for files, for parts and for slices of old
// segments, whatever the rows are.

import { expect, test } from 'vitest';
import { loadCore } from '../../src/core/index.ts';
import { InlineRunner } from '../../src/engine/compaction/merge-files.ts';
import type { OpenWork, PartWork, WorkDone } from '../../src/engine/compaction/work.ts';
import type { Database, Table } from '../../src/engine/index.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import { range, times } from '../support/sim-tables.ts';

/** A runner that records the size in bytes of the new records in each part. */
class WeighingRunner extends InlineRunner {
  parts: number[] = [];
  maxBytes: number[] = [];

  constructor(fs: Fs) {
    super(fs, loadCore());
  }

  override open(work: OpenWork): Promise<void> {
    this.maxBytes.push(work.maxBytes);
    return super.open(work);
  }

  override part(work: PartWork): Promise<WorkDone> {
    this.parts.push(work.runs.reduce((sum, run) => sum + run.length, 0));
    return super.part(work);
  }
}

const LIMIT = 20_000;

async function opened(): Promise<{ database: Database; table: Table; runner: WeighingRunner }> {
  const fs = simDisk();
  const runner = new WeighingRunner(fs);
  const database = await openSim(fs, { runner, core: 'release', segmentRows: 512, compactionBytes: LIMIT });
  const table = await database.createTable({ name: 'notes', columns: [{ name: 'note', type: 'TEXT' }] });
  return { database, table, runner };
}

async function insert(table: Table, at: readonly number[], note: (time: number) => string): Promise<void> {
  const bulk = table.bulk();
  for (const time of at) bulk.add({ event_ts: time, members: [time % 5], properties: { note: note(time) } });
  await bulk.commit();
}

/**
 * Returns, for each segment, a lower bound for the size in bytes of its records: 26 bytes per row
 * plus the row's text. Call it after a compaction, when no row is dead.
 */
function recordBytes(table: Table): number[] {
  const rows = rowsOf(table);
  return table.version.segments.map(({ facts }) =>
    rows.splice(0, facts.rows).reduce((sum, row) => sum + 26 + String(row.note).length, 0),
  );
}

test('a text shared by many rows is small in a file, but its records stay within the bound, also in later compactions', async () => {
  const { database, table, runner } = await opened();
  const note = 'n'.repeat(2000);
  await insert(table, range(0, 300), () => note);
  for (const round of range(0, 3)) {
    await database.compact({ table: 'notes' });
    expect(Math.max(...recordBytes(table))).toBeLessThanOrEqual(LIMIT);
    expect(Math.max(...runner.parts)).toBeLessThanOrEqual(LIMIT);
    expect(rowsOf(table).map((row) => row.note)).toEqual(new Array(300 + round * 30).fill(note));
    await insert(
      table,
      range(0, 30).map((each) => each * 10),
      () => note,
    );
  }
  expect(runner.maxBytes).toEqual([LIMIT, LIMIT, LIMIT]);
  await database.close();
});

test('a row that alone exceeds the bound gets a file of its own, and can be compacted repeatedly', async () => {
  const { database, table } = await opened();
  const large = (time: number) => `${time} `.padEnd(time % 3 === 0 ? 60_000 : 100, 'w');
  await insert(table, range(0, 30), large);
  for (const each of [5, 6, 7]) {
    await database.compact({ table: 'notes' });
    await insert(table, [each], large);
  }
  await database.compact({ table: 'notes' });
  const expected = [...range(0, 30), 5, 6, 7].sort((a, b) => a - b);
  expect(rowsOf(table).map((row) => row.note)).toEqual(expected.map(large));
  expect(table.version.segments.length).toBeGreaterThan(10);
  await database.close();
});

test('a part read from many memtables is no larger than one read from few, even if over 1,024 memtables overlap', async () => {
  const { database, table, runner } = await opened();
  for (const place of range(0, 1100)) {
    await insert(table, [place, 3000 - place], (time) => `${time}`.padEnd(200, 'm'));
    table.rotateMemtable(database.headLsn);
  }
  await database.compact({ table: 'notes' });
  expect(Math.max(...runner.parts)).toBeLessThanOrEqual(LIMIT);
  expect(runner.parts.length).toBeLessThan((1100 * 2 * 240 * 2) / LIMIT);
  await insert(table, [1], () => 'x');
  for (const place of range(0, 1100)) {
    await insert(table, [2], () => `${place}`);
    table.rotateMemtable(database.headLsn);
  }
  await database.compact({ table: 'notes' });
  expect(rowsOf(table)).toHaveLength(1100 * 2 + 1 + 1100);
  await database.close();
});

test('a column added with a long default adds no bytes to old rows', async () => {
  const { database, runner } = await opened();
  const plain = await database.createTable({ name: 'plain' });
  const bulk = plain.bulk();
  for (const time of range(0, 400)) bulk.add({ event_ts: time, members: [1] });
  await bulk.commit();
  await database.compact({ table: 'plain' });
  const value = 'd'.repeat(10_000);
  await database.alterTable('plain', { kind: 'addColumn', column: { name: 'note', type: 'TEXT', default: value } });
  for (const round of range(1, 4)) {
    await plain.insert({ event_ts: 50, members: [2], properties: round === 2 ? { note: null } : {} });
    await database.compact({ table: 'plain' });
    expect(plain.version.segments.map(({ facts }) => facts.rows)).toEqual([400 + round]);
    expect(plain.version.segments[0]!.facts.bytes).toBeLessThan(40_000);
  }
  const notes = rowsOf(plain).map((row) => row.note);
  expect(notes.filter((each) => each === value)).toHaveLength(402);
  expect(notes.filter((each) => each === null)).toHaveLength(1);
  expect(runner.maxBytes.length).toBe(4);
  await database.close();
});

test('random inserts and deletes leave the right rows, in disjoint segments that are within the bounds', async () => {
  for (const seed of range(1, 9)) {
    const random = new Random(seed);
    const { database, table } = await opened();
    const model: number[] = [];
    for (const _round of range(0, 6)) {
      const at = range(0, 40 + random.below(60)).map(() => random.below(400));
      await insert(table, at, (time) => 'r'.repeat((time * 37) % 4000));
      model.push(...at);
      for (const _death of range(0, random.below(6))) {
        const time = model[random.below(model.length)]!;
        const { matched } = await table.delete(time, [time % 5]);
        const kept = model.filter((each) => each !== time);
        expect(model.length - kept.length).toBe(matched);
        model.splice(0, model.length, ...kept);
      }
      await database.compact({ table: 'notes' });
      const { segments } = table.version;
      expect(rowsOf(table).map((row) => row.event_ts)).toEqual(model.toSorted((a, b) => a - b));
      for (const [place, { facts }] of segments.entries()) {
        const before = segments[place - 1]?.facts;
        const isBehind = before && (before.timeMax < facts.timeMin || before.lastId < facts.firstId);
        expect(isBehind ?? place === 0).toBe(true);
      }
      expect(Math.max(0, ...recordBytes(table))).toBeLessThanOrEqual(LIMIT);
    }
    expect(times(database)).toEqual([]);
    await database.close();
  }
}, 60_000);
