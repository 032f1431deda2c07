// Compares the index of folded keys with a search through all keys.

import { expect, test } from 'vitest';
import type { Database, Table } from '../../src/engine/index.ts';
import { foldKey } from '../../src/model/fold-key.ts';
import { finish } from '../../src/schedule/steps.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

async function open(): Promise<{ database: Database; person: Table; calls: Table }> {
  const database = await openSim(simDisk(), { core: 'release', segmentRows: 65_536, memoryBudgetBytes: 2 ** 26 });
  const person = await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' } });
  await database.nodes.createTable({ name: 'Room', key: { name: 'id', type: 'INTEGER' } });
  const calls = await database.createTable({ name: 'calls', memberTables: ['Person', 'Room'] });
  return { database, person, calls };
}

const person = (key: string) => ({ kind: 'Person', key });

function find(database: Database, text: string): unknown[] {
  finish(database.nodes.folded.extend());
  return database.nodes.folded.find(foldKey(text)).map((number) => database.nodes.shown(number, false));
}

async function remove(database: Database, table: Table, key: string): Promise<void> {
  const number = database.nodes.find(table, key);
  const transaction = database.begin();
  await transaction.deleteRow(table, { eventTs: number, id: number });
  await transaction.commit();
}

test('texts that differ by case, Unicode form, blanks, dashes or quotation marks are folded alike', () => {
  for (const [one, other] of [
    ['Ada', 'aDA'],
    ['Caf\u00e9', 'CAFE\u0301'],
    ['Ada  Lovelace', ' ada\tlovelace '],
    ['R2-D2', 'r2\u2013d2'],
    ["O'Brien", 'o\u2019brien'],
    ['\u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2', '\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3'],
    ['a "b"', 'a \u201cB\u201d'],
  ])
    expect(foldKey(one!)).toBe(foldKey(other!));
  for (const text of ['Ada Lovelace', ' a', 'a ', 'a  b', '`a`', 'ABC', 'x\u00e9', 'İ'])
    expect(foldKey(foldKey(text))).toBe(foldKey(text));
});

test('the index finds what a search through all keys finds, while nodes are created and deleted', async () => {
  const { database, person: people, calls } = await open();
  const random = new Random(7);
  const pool = Array.from({ length: 900 }, (_, at) => `Node ${at % 300}`);
  for (const [at, key] of pool.entries()) if (at >= 300) pool[at] = at < 600 ? key.toUpperCase() : key.toLowerCase();
  const live = new Set<string>();
  const edges = new Map<string, number>();
  for (let step = 0; step < 40; step++) {
    const chosen = [...new Set(Array.from({ length: 60 }, () => pool[random.below(pool.length)]!))].filter(
      (key) => !live.has(key),
    );
    if (chosen.length > 0) {
      const bulk = calls.bulk();
      for (const key of chosen) bulk.add({ event_ts: step, members: [person(key), { kind: 'Room', key: step }] });
      await bulk.commit();
    }
    for (const key of chosen) {
      live.add(key);
      edges.set(key, step);
    }
    for (const key of [...live].filter(() => random.chance(0.1))) {
      await calls.delete(edges.get(key)!, [person(key), { kind: 'Room', key: edges.get(key)! }]);
      await remove(database, people, key);
      live.delete(key);
    }
    if (step % 4 !== 0) continue;
    for (let at = 0; at < 300; at++) {
      const text = `nODE ${at}`;
      const expected = [...live].filter((key) => key.toLowerCase() === text.toLowerCase());
      expect(find(database, text).sort()).toEqual(expected.sort());
    }
    expect(find(database, String(step))).toEqual([]);
  }
  await database.close();
});

test('a node whose number was held while the index was made is found later', async () => {
  const { database, calls } = await open();
  const transaction = database.begin();
  await transaction.insert(calls, { event_ts: 1, members: [person('Held')] });
  await calls.insert({ event_ts: 2, members: [person('Other')] });
  expect([find(database, 'held'), find(database, 'OTHER')]).toEqual([[], ['Other']]);
  await transaction.commit();
  expect(find(database, 'held')).toEqual(['Held']);
  const dropped = database.begin();
  await dropped.insert(calls, { event_ts: 3, members: [person('Dropped')] });
  expect(find(database, 'dropped')).toEqual([]);
  dropped.rollback();
  await calls.insert({ event_ts: 4, members: [person('Newer')] });
  expect([find(database, 'dropped'), find(database, 'newer')]).toEqual([[], ['Newer']]);
  await database.close();
});

test('all of many numbers that were held while the index was made are found later', async () => {
  const { database, calls } = await open();
  const bulk = calls.bulk();
  // More than were once remembered; the members of one edge are at most 255.
  for (let at = 0; at < 70_000; at += 200) {
    const members = Array.from({ length: 200 }, (_, index) => person(`Held ${at + index}`));
    bulk.add({ event_ts: at, members });
  }
  const before = database.health().charged_bytes;
  expect(find(database, 'held 69999')).toEqual([]);
  expect(database.health().charged_bytes - before).toBeGreaterThanOrEqual(8 * 70_000);
  // A question that is given up in the middle loses none of them.
  database.nodes.folded.extend().next();
  await bulk.commit();
  for (const at of [0, 999, 1000, 65_535, 65_536, 69_999]) expect(find(database, `HELD ${at}`)).toEqual([`Held ${at}`]);
  await database.close();
});

test('many keys need several tables, and the index survives a renamed node table', async () => {
  const { database, calls } = await open();
  const bulk = calls.bulk();
  for (let at = 0; at < 20_000; at++) {
    bulk.add({ event_ts: at, members: [person(`Key ${at}`)] });
    if (at === 10) {
      // The first table of the index is made for few keys.
      expect(find(database, 'key 3')).toEqual([]);
    }
  }
  await bulk.commit();
  await database.nodes.alterTable('Person', { kind: 'renameTable', to: 'Human' });
  for (const at of [0, 1, 999, 10_000, 19_999]) expect(find(database, `KEY ${at}`)).toEqual([`Key ${at}`]);
  expect(find(database, 'key 20000')).toEqual([]);
  await database.close();
});
