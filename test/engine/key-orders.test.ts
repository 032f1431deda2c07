// Tests the order of nodes by key against a sorted list: after creations, deletions, drops, and
// while nodes are created.

import { expect, test } from 'vitest';
import type { Database, Snapshot, Table } from '../../src/engine/index.ts';
import { compareTexts } from '../../src/model/text-order.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

type Key = string | number;

async function insert(database: Database, table: Table, keys: readonly Key[]): Promise<void> {
  const transaction = database.begin();
  for (const k of keys) transaction.insertNode(table, { k });
  await transaction.commit();
}

async function remove(database: Database, table: Table, key: Key): Promise<void> {
  const transaction = database.begin();
  const number = transaction.findNode(table, key);
  transaction.deleteRow(table, { eventTs: number, id: number });
  await transaction.commit();
}

/** Returns the keys of the nodes that a snapshot shows, now or before, in the order of the list. */
async function listed(database: Database, table: Table, older?: Snapshot): Promise<Key[]> {
  const snapshot = older ?? database.snapshot(table);
  const order = await database.nodes.order(table);
  const keys: Key[] = [];
  for (let from = 0; from < order.numbers.length; from += 500)
    for (const text of database.nodes.texts(table, snapshot, order.numbers.subarray(from, from + 500)))
      if (text !== undefined) keys.push(JSON.parse(text).k);
  order.release();
  if (older === undefined) snapshot.release();
  return keys;
}

const ALPHABET = ['a', 'A', 'é', 'e\u0301', '\uffff', '\u{10000}', '🦔', 'common-prefix-', '0', '~'];

function keyOf(random: Random, isInteger: boolean): Key {
  if (isInteger) return random.below(4) === 0 ? -random.below(2 ** 40) : random.below(2 ** 20) * random.below(2 ** 32);
  return Array.from({ length: 1 + random.below(6) }, () => ALPHABET[random.below(ALPHABET.length)]).join('');
}

test.each([
  ['TEXT', 1],
  ['INTEGER', 2],
  ['TEXT', 3],
] as const)('is that of a sorted list (%s, seed %i)', async (type, seed) => {
  const random = new Random(seed);
  const database = await openSim(simDisk(seed));
  const table = await database.nodes.createTable({ name: 'T', key: { name: 'k', type } });
  const other = await database.nodes.createTable({ name: 'Other', key: { name: 'k', type: 'TEXT' } });
  const compare = (a: Key, b: Key) => (typeof a === 'number' ? a - (b as number) : compareTexts(a, b as string));
  const keys = new Set<Key>();
  expect(await listed(database, table)).toEqual([]);
  // The fifth round has more new nodes than are merged.
  for (const count of [3, 0, 700, 40, 6000, 1]) {
    const fresh = new Set<Key>();
    while (fresh.size < count) {
      const key = keyOf(random, type === 'INTEGER');
      if (!keys.has(key)) fresh.add(key);
    }
    await insert(database, table, [...fresh]);
    await insert(database, other, [`other ${count}`]);
    for (const key of fresh) keys.add(key);
    const listing = listed(database, table);
    for (const key of [...keys].filter(() => random.chance(0.02)).slice(0, 20)) {
      await remove(database, table, key);
      if (random.chance(0.5)) await insert(database, table, [key]);
      else keys.delete(key);
    }
    await listing;
    expect(await listed(database, table)).toEqual([...keys].sort(compare));
  }
  expect(await listed(database, other)).toHaveLength(6);
  await database.close();
});

test('memory is charged while a list is used, and given back', async () => {
  const database = await openSim(simDisk(9));
  const table = await database.nodes.createTable({ name: 'T', key: { name: 'k', type: 'TEXT' } });
  const keys = Array.from({ length: 1000 }, (_, index) => `key ${index}`);
  await insert(database, table, keys);
  const before = database.figures().nodeKeyBytes;
  const first = await database.nodes.order(table);
  expect(database.figures().nodeKeyBytes - before).toBe(4000);
  // Readers share the list as long as no node is created.
  const same = await database.nodes.order(table);
  expect(same.numbers).toBe(first.numbers);
  await insert(database, table, ['one more']);
  const second = await database.nodes.order(table);
  expect(second.numbers).toHaveLength(1001);
  expect(database.figures().nodeKeyBytes - before).toBe(4000 + 4004);
  first.release();
  first.release();
  expect(database.figures().nodeKeyBytes - before).toBe(4000 + 4004);
  same.release();
  expect(database.figures().nodeKeyBytes - before).toBe(4004);
  await database.nodes.dropTable('T');
  expect(database.figures().nodeKeyBytes - before).toBe(4004);
  second.release();
  expect(database.figures().nodeKeyBytes - before).toBe(0);
  await database.close();
});

test('several that are asked for at once contain what was there before', async () => {
  const database = await openSim(simDisk(10));
  const table = await database.nodes.createTable({ name: 'T', key: { name: 'k', type: 'INTEGER' } });
  await insert(
    database,
    table,
    Array.from({ length: 5000 }, (_, index) => -index),
  );
  const early = listed(database, table);
  await insert(database, table, [7]);
  const [a, b] = await Promise.all([listed(database, table), listed(database, table)]);
  expect([a.at(-1), b.at(-1), a.length]).toEqual([7, 7, 5001]);
  expect((await early).slice(0, 5000)).toEqual(a.slice(0, 5000));
  await database.close();
});

test('deleted nodes are left out once no snapshot shows them', async () => {
  const database = await openSim(simDisk(11));
  const table = await database.nodes.createTable({ name: 'T', key: { name: 'k', type: 'INTEGER' } });
  const keys = Array.from({ length: 6000 }, (_, index) => index);
  await insert(database, table, keys);
  const sizeOf = async (): Promise<number> => {
    const { numbers, release } = await database.nodes.order(table);
    release();
    return numbers.length;
  };
  const older = database.snapshot(table);
  expect(await sizeOf()).toBe(6000);
  const transaction = database.begin();
  for (const key of keys.slice(0, 5000)) {
    const number = transaction.findNode(table, key);
    transaction.deleteRow(table, { eventTs: number, id: number });
  }
  await transaction.commit();
  await database.compact();
  // The snapshot still shows them.
  expect(await sizeOf()).toBe(6000);
  expect(await listed(database, table, older)).toEqual(keys);
  expect(await listed(database, table)).toEqual(keys.slice(5000));
  older.release();
  expect(await sizeOf()).toBe(1000);
  // Few deleted nodes stay, and are passed over.
  await remove(database, table, 5000);
  await insert(database, table, [-1]);
  expect(await sizeOf()).toBe(1001);
  expect(await listed(database, table)).toEqual([-1, ...keys.slice(5001)]);
  await database.close();
});

test.each([1, 2])('nodes deleted while an order is renewed stay in it (seed %i)', async (seed) => {
  const random = new Random(seed);
  const database = await openSim(simDisk(20 + seed));
  const table = await database.nodes.createTable({ name: 'T', key: { name: 'k', type: 'INTEGER' } });
  const live = new Set<number>();
  for (let round = 0; round < 5; round++) {
    const fresh = Array.from({ length: 1 + random.below(4000) }, (_, index) => round * 10_000 + index);
    await insert(database, table, fresh);
    for (const key of fresh) live.add(key);
    if (random.chance(0.7)) await database.compact();
    const snapshot = database.snapshot(table);
    const expected = [...live].sort((a, b) => a - b);
    const listing = listed(database, table, snapshot);
    const transaction = database.begin();
    for (const key of [...live].filter(() => random.chance(0.6))) {
      const number = transaction.findNode(table, key);
      transaction.deleteRow(table, { eventTs: number, id: number });
      live.delete(key);
    }
    await transaction.commit();
    if (random.chance(0.5)) await database.compact();
    expect(await listed(database, table)).toEqual([...live].sort((a, b) => a - b));
    expect(await listing).toEqual(expected);
    expect(await listed(database, table, snapshot)).toEqual(expected);
    snapshot.release();
  }
  await database.close();
});
