// Tests transactions: reads of their own writes over one snapshot, atomicity, and cases that were
// once wrong.

import { expect, test } from 'vitest';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';

async function caught(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return undefined;
}

function read(text: Uint8Array | null): { event_ts: number }[] {
  return text === null ? [] : JSON.parse(`[${Buffer.from(text)}]`);
}

test('a transaction cannot delete a row that another writer deleted after its snapshot', async () => {
  for (const compacted of [true, false]) {
    const database = await openSim(simDisk());
    const table = database.table();
    await table.insert({ event_ts: 1, members: [1] });
    await table.insert({ event_ts: 2, members: [2] });
    if (compacted) await database.compact({});
    const transaction = database.begin();
    expect(read(transaction.scan(table, { format: 'json' }).next())).toHaveLength(2);
    await table.delete(1, [1]);
    expect(read(transaction.scan(table, { format: 'json' }).next())).toHaveLength(2);
    transaction.delete(table, 1, [1]);
    expect(read(transaction.scan(table, { format: 'json' }).next()).map((row) => row.event_ts)).toEqual([2]);
    expect((await transaction.commit()).results).toMatchObject([{ matched: 0 }]);
    await database.close();
  }
});

test('hasMore does not count rows that the transaction deleted', async () => {
  for (const compacted of [true, false]) {
    const database = await openSim(simDisk());
    const table = database.table();
    for (let time = 0; time < 4; time++) await table.insert({ event_ts: time, members: [7] });
    if (compacted) await database.compact({});
    const transaction = database.begin();
    for (const time of [1, 2, 3]) transaction.delete(table, time, [7]);
    for (const nodes of [undefined, [7]]) {
      const scan = transaction.scan(table, { format: 'json', limit: 1, nodes });
      expect(read(scan.next()).map((row) => row.event_ts)).toEqual([0]);
      scan.next();
      expect(scan.hasMore).toBe(false);
    }
    transaction.rollback();
    await database.close();
  }
});

test('rows of a transaction have their ids before the commit, and a rollback leaves nothing', async () => {
  const fs = simDisk();
  const database = await openSim(fs);
  const table = database.table();
  const transaction = database.begin();
  const row = transaction.insert(table, { event_ts: 5, members: [3, 1, 3] });
  expect(row).toEqual({ id: 1, event_ts: 5, members: [1, 3], weight: null, mean_dist_m: null, formation: null });
  const other = await table.insert({ event_ts: 6, members: [1] });
  expect(other.row.id).not.toBe(row.id);
  transaction.rollback();
  expect(rowsOf(table)).toHaveLength(1);
  expect(await caught(() => transaction.commit())).toMatchObject({ code: 'invalid_input' });
  expect(await caught(() => transaction.insert(table, { event_ts: 1, members: [1] }))).toMatchObject({
    code: 'invalid_input',
  });
  await database.close();
  expect(rowsOf((await openSim(fs)).table())).toHaveLength(1);
});

test('a row is read in key order even if rows with larger ids were committed before it, also from segments', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  const transaction = database.begin();
  transaction.insert(table, { event_ts: 5, members: [1] });
  for (let count = 0; count < 20; count++) await table.insert({ event_ts: 5, members: [2] });
  await database.compact({});
  await transaction.commit();
  const ids = (): unknown[] => rowsOf(table).map((row) => row.id);
  expect(ids()).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
  await database.compact({});
  expect(ids()).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
  expect((await table.delete(5, [2])).matched).toBe(20);
  await database.close();
});

test('a bulk insert accepts nothing after its commit', async () => {
  const database = await openSim(simDisk());
  const bulk = database.table().bulk();
  bulk.add({ event_ts: 1, members: [1] });
  await bulk.commit();
  const other = database.table().bulk();
  other.add({ event_ts: 2, members: [2] });
  expect(await caught(() => bulk.add({ event_ts: 3, members: [3] }))).toMatchObject({ code: 'invalid_input' });
  expect(await caught(() => bulk.commit())).toMatchObject({ code: 'invalid_input' });
  bulk.discard();
  other.add({ event_ts: 4, members: [4] });
  await other.commit();
  expect(rowsOf(database.table()).map((row) => row.event_ts)).toEqual([1, 2, 4]);
  expect(await caught(() => database.table().bulk().commit())).toMatchObject({ code: 'invalid_input' });
  await database.close();
});

test('two concurrent bulk inserts keep their edges apart', async () => {
  const database = await openSim(simDisk());
  const [a, b] = [database.table().bulk(), database.table().bulk()];
  for (let count = 0; count < 5000; count++) {
    a.add({ event_ts: count, members: [1] });
    b.add({ event_ts: count, members: [2] });
  }
  const [first, second] = await Promise.all([b.commit(), a.commit()]);
  expect([first, second]).toMatchObject([
    { firstId: 1, lastId: 5000 },
    { firstId: 5001, lastId: 10000 },
  ]);
  expect(rowsOf(database.table(), { nodes: [2] }).every((row) => (row.id as number) <= 5000)).toBe(true);
  expect(rowsOf(database.table())).toHaveLength(10_000);
  await database.close();
});
