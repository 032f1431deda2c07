// Tests node filters: those of many tables in one core instance, those of one table in several
// instances, and tables that have no filters because memory is short.

import { expect, test } from 'vitest';
import { type Core, type CoreModule, FilterDirectory, FilterRoom, loadCore } from '../../src/core/index.ts';
import type { Database, Table } from '../../src/engine/index.ts';
import { readWhole } from '../../src/storage/whole-file.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

/**
 * Adds rows with three kinds of nodes: one common to 16 neighbouring rows, one common to every
 * seventh row, and one unique.
 */
async function fillTable(table: Table, rows: number): Promise<void> {
  const bulk = table.bulk();
  for (let row = 0; row < rows; row++) bulk.add({ event_ts: row, members: [row >> 4, 1000 + (row % 7), 5000 + row] });
  await bulk.commit();
}

function directoryOf(room: FilterRoom, fs: SimFs, table: Table): FilterDirectory {
  const directory = new FilterDirectory(room);
  for (const { number, path, facts } of table.version.segments) {
    const bytes = readWhole(fs, path).subarray(facts.filterOffset, facts.filterOffset + facts.filterBytes);
    expect(directory.add(number, bytes, facts)).toBe('added');
  }
  expect(directory.arrange(table.version.segments.map(({ number }) => number))).toBe(true);
  return directory;
}

function roomOf(
  shardBytes: number,
  module: CoreModule = loadCore('debug'),
): { room: FilterRoom; charged: () => number } {
  let charged = 0;
  const charge = (bytes: number) => {
    charged += bytes;
  };
  return { room: new FilterRoom(module, { limitBytes: 2 ** 30, shardBytes, charge }), charged: () => charged };
}

test('a directory in many instances finds the same segments as a directory in one instance; instances are shared and released', async () => {
  const fs = simDisk();
  const database = await openSim(fs);
  await fillTable(database.table(), 400);
  await database.compact({});
  const table = database.table();
  const whole = roomOf(2 ** 20);
  const split = roomOf(1000);
  const one = directoryOf(whole.room, fs, table);
  const many = directoryOf(split.room, fs, table);
  expect(whole.room.instances).toBe(1);
  expect(split.room.instances).toBeGreaterThan(3);
  expect(split.charged()).toBe(table.version.segments.reduce((sum, { facts }) => sum + facts.filterBytes, 0));
  const random = new Random(1);
  for (let round = 0; round < 300; round++) {
    const nodes = [random.below(30), 1000 + random.below(9), 5000 + random.below(420)].slice(random.below(3));
    expect([...many.probe(nodes)]).toEqual([...one.probe(nodes)]);
  }
  const second = directoryOf(whole.room, fs, table);
  expect(whole.room.instances).toBe(1);
  expect([...second.probe([5007])]).toEqual([...one.probe([5007])]);
  for (const directory of [one, second, many]) directory.close();
  expect([whole.charged(), split.charged(), split.room.usedBytes]).toEqual([0, 0, 0]);
  expect(split.room.instances).toBe(1);
  await database.close();
});

test('a damaged filter is noticed, and its memory is released', async () => {
  const fs = simDisk();
  const database = await openSim(fs);
  await fillTable(database.table(), 40);
  await database.compact({});
  const { number, path, facts } = database.table().version.segments[0]!;
  const bytes = readWhole(fs, path).slice(facts.filterOffset, facts.filterOffset + facts.filterBytes);
  bytes[3]! ^= 1;
  const { room, charged } = roomOf(2 ** 20);
  expect(new FilterDirectory(room).add(number, bytes, facts)).toBe('damaged');
  expect(charged()).toBe(0);
  await database.close();
});

test('a filter for which there is no instance or memory is not built, then or later, and existing filters still work', async () => {
  const fs = simDisk();
  const database = await openSim(fs);
  await fillTable(database.table(), 400);
  await database.compact({});
  let instances = 0;
  const module: CoreModule = {
    instantiate(): Core {
      if (++instances > 2) throw new RangeError('WebAssembly.Instance(): Out of memory');
      return loadCore('debug').instantiate();
    },
  };
  const { room, charged } = roomOf(1000, module);
  const directory = new FilterDirectory(room);
  const answers = database.table().version.segments.map(({ number, path, facts }) => {
    const bytes = readWhole(fs, path).subarray(facts.filterOffset, facts.filterOffset + facts.filterBytes);
    return directory.add(number, bytes, facts);
  });
  expect(new Set(answers)).toEqual(new Set(['added', 'no_room']));
  expect(instances).toBe(3);
  expect(room.limitBytes).toBe(room.usedBytes);
  directory.close();
  expect(charged()).toBe(0);
  await database.close();
});

test('filters count against the memory budget; a table without room for them opens, answers and reports this once', async () => {
  const fs = simDisk();
  const notices: [string, unknown][] = [];
  const notice = (message: string, fields: Record<string, unknown>) => void notices.push([message, fields.table]);
  let database = await openSim(fs, { notice });
  await fillTable(database.table(), 400);
  await database.compact({});
  const rows = rowsOf(database.table(), { nodes: [5007] });
  expect(rows).toHaveLength(1);
  expect(database.health().charged_bytes).toBeGreaterThan(0);
  expect(database.table().filters).toBeDefined();
  await database.close();
  database = await openSim(fs, { notice, memoryBudgetBytes: 2000 });
  expect(database.table().filters).toBeUndefined();
  expect(database.health()).toMatchObject({ charged_bytes: 0, corrupt_tables: {} });
  expect(rowsOf(database.table(), { nodes: [5007] })).toEqual(rows);
  await fillTable(database.table(), 20);
  await database.compact({});
  expect(notices.filter(([message]) => message.includes('no memory for the node filters'))).toEqual([
    [expect.any(String), 'hyperedges'],
  ]);
  await database.close();
});

test('a dropped table and one that shrinks to one segment release their filters', async () => {
  const database: Database = await openSim(simDisk());
  const other = await database.createTable({ name: 'other' });
  for (const table of [database.table(), other]) await fillTable(table, 100);
  await database.compact({});
  const both = database.health().charged_bytes;
  await database.dropTable('other');
  const one = database.health().charged_bytes;
  expect(one).toBeGreaterThan(0);
  expect(one).toBeLessThan(both);
  for (let row = 0; row < 97; row++) await database.table().delete(row, [row >> 4, 1000 + (row % 7), 5000 + row]);
  await database.compact({});
  expect(database.health().charged_bytes).toBe(0);
  await database.close();
});
