// Tests commits when memory is short. A commit that fails before its frame is in the log is refused
// and leaves no trace. One that fails after that is never visible in part, and is complete after a
// restart.

import { afterEach, describe, expect, test } from 'vitest';
import { CoreMemtable, EdgeBatch, loadCore, STATUS } from '../../src/core/index.ts';
import { OPERATION, runHeader } from '../../src/engine/commit/operations.ts';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { AnswerToKeep } from '../../src/model/kept-answer.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';

const { reserve, append } = CoreMemtable.prototype;
const core = loadCore('debug');
const { instantiate } = core;

afterEach(() => {
  CoreMemtable.prototype.reserve = reserve;
  CoreMemtable.prototype.append = append;
  core.instantiate = instantiate;
});

function noMemory(): never {
  throw new HedgerowError('overloaded', 'no memory');
}

/**
 * Makes the allocation number `nth`, counted from 1, and all later ones fail. Allocations are
 * reservations in a memtable and creations of instances.
 */
function failFrom(nth: number): void {
  let calls = 0;
  CoreMemtable.prototype.reserve = function (this: CoreMemtable, bytes, rows) {
    return ++calls >= nth ? noMemory() : reserve.call(this, bytes, rows);
  };
  core.instantiate = () => (++calls >= nth ? noMemory() : instantiate.call(core));
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: HedgerowError) => error.code,
  );
}

const answer = (): AnswerToKeep => ({
  id: 'key',
  bodyHash: 'hash',
  status: 201,
  contentType: 'application/json',
  body: '{}',
  at: 1_000_000_000_000,
});

/** Functions that each make a commit of another kind, together with a stored answer. */
const COMMITS: Record<string, (database: Database) => Promise<unknown>> = {
  'a transaction over two tables': async (database) => {
    const transaction = database.begin();
    for (const name of ['hyperedges', 'other'])
      for (let time = 0; time < 3; time++)
        transaction.insert(database.table(name), { event_ts: time, members: [9, 10] });
    await transaction.commit(answer);
  },
  'a bulk insert': async (database) => {
    const bulk = database.table().bulk();
    for (let time = 0; time < 50; time++) bulk.add({ event_ts: time, members: [time, 9] });
    await bulk.commit(answer);
  },
  'an insert': (database) => database.table().insert({ event_ts: 5, members: [9] }, answer),
  'an update': async (database) => {
    const transaction = database.begin();
    const [row] = rowsOf(database.table(), { nodes: [1] });
    transaction.updateRow(
      database.table(),
      { eventTs: row!.event_ts as number, id: row!.id as number },
      { event_ts: 77, members: [9] },
    );
    await transaction.commit(answer);
  },
};

async function filled() {
  const fs = simDisk();
  // A memtable has room for one or two rows, so that a commit needs several memtables.
  const options = { memtableLimits: { rows: 2, smallRows: 1 }, slicedOperations: 1000 };
  const database = await openSim(fs, options);
  await database.createTable({ name: 'other' });
  for (const name of ['hyperedges', 'other']) await database.table(name).insert({ event_ts: 1, members: [1] });
  return { fs, database, options };
}

const all = (database: Database) => database.tables().map((table) => [table.name, rowsOf(table), table.pending]);

describe.each(Object.entries(COMMITS))('%s', (name, commit) => {
  test('is refused if any allocation fails, leaves nothing behind, and can be sent again', async () => {
    for (let nth = 1; ; nth++) {
      const { fs, database, options } = await filled();
      const before = [all(database), database.headLsn];
      failFrom(nth);
      const code = await codeOf(commit(database));
      CoreMemtable.prototype.reserve = reserve;
      core.instantiate = instantiate;
      if (code === 'none') {
        expect(nth).toBeGreaterThan(1);
        await database.close();
        break;
      }
      expect([nth, code]).toEqual([nth, 'overloaded']);
      expect([all(database), database.headLsn]).toEqual(before);
      expect(database.replays.find('key')).toBeUndefined();
      await commit(database);
      const after = all(database);
      await database.compact({});
      await database.close();
      const again = await openSim(fs, options);
      expect(again.tables().map((table) => [table.name, rowsOf(table)])).toEqual(
        after.map(([table, rows]) => [table, rows]),
      );
      expect(again.replays.find('key')).toBeDefined();
      await again.close();
    }
  });

  test('makes writes fail if it is logged but not applied, is never seen in part, and is whole after a restart', async () => {
    const { fs, database, options } = await filled();
    const before = database.tables().map((table) => rowsOf(table));
    let calls = 0;
    CoreMemtable.prototype.append = function (this: CoreMemtable, ...rest) {
      if (++calls === (name === 'a transaction over two tables' ? 2 : 1)) noMemory();
      append.apply(this, rest);
    };
    expect(await codeOf(commit(database))).toBe('log_failed');
    CoreMemtable.prototype.append = append;
    expect(database.tables().map((table) => rowsOf(table))).toEqual(before);
    expect(await codeOf(database.table().insert({ event_ts: 1, members: [1] }))).toBe('log_failed');
    expect(await codeOf(database.compact({}))).toBe('log_failed');
    expect(database.replays.find('key')).toBeUndefined();
    await database.close();
    const again = await openSim(fs, options);
    expect(again.replays.find('key')).toBeDefined();
    expect(again.tables().map((table) => rowsOf(table))).not.toEqual(before);
    await again.close();
  });
});

test('a batch drops edges that could not be encoded for lack of memory, and they do not appear with the next edges', () => {
  const real = core.instantiate();
  let isFull = false;
  const alloc = (bytes: number) => (isFull ? 0 : real.exports.hg_memory_alloc(bytes));
  const batch = new EdgeBatch({ exports: { ...real.exports, hg_memory_alloc: alloc }, memory: real.memory });
  for (let member = 0; member < 4000; member++) batch.add(1, [member, member + 1], null);
  isFull = true;
  expect(() => batch.encode(1, 64)).toThrow(/out of memory/);
  isFull = false;
  batch.add(2, [7], null);
  const record = batch.encode(9, 64);
  expect([record[0], record.length]).toEqual([record.length, record.length]);
});

describe.each(['numbers', 'names'])('edges of %s', (form) => {
  const member = (n: number) => (form === 'numbers' ? n : `n${n}`);
  const line = (time: number) => Buffer.from(`{"event_ts":${time},"members":[${JSON.stringify(member(time))}]}\n`);

  /** Opens a database in which edges can be made to find no memory when they are encoded. */
  async function opened() {
    const memory = { isFull: false };
    core.instantiate = () => {
      const real = instantiate.call(core);
      const encode: typeof real.exports.hg_records_encode = (...given) =>
        memory.isFull ? STATUS.outOfMemory : real.exports.hg_records_encode(...given);
      return { ...real, exports: { ...real.exports, hg_records_encode: encode } };
    };
    const fs = simDisk();
    const database = await openSim(fs);
    if (form === 'names') await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' } });
    const table = await database.createTable({ name: 'calls', memberTables: form === 'names' ? ['Person'] : [] });
    const times = async () => {
      await database.close();
      const again = await openSim(fs);
      const found = rowsOf(again.table('calls')).map((row) => row.event_ts);
      const nodes = form === 'names' ? again.nodes.table('Person').rowCount : undefined;
      await again.close();
      return { found, nodes };
    };
    return { memory, database, table, times };
  }

  test('that a bulk insert has taken stay when lines find no memory to encode them', async () => {
    const { memory, table, times } = await opened();
    const bulk = table.bulk();
    for (const time of [1, 2]) bulk.add({ event_ts: time, members: [member(time)] });
    memory.isFull = true;
    expect(() => bulk.addLines(line(3))).toThrow(/out of memory/);
    expect(bulk.count).toBe(2);
    memory.isFull = false;
    expect(bulk.addLines(line(4)).rows).toBe(1);
    expect(await bulk.commit()).toMatchObject({ inserted: 3 });
    expect(await times()).toEqual({ found: [1, 2, 4], nodes: form === 'names' ? 3 : undefined });
  });

  test('are taken or refused when those before find no memory to be encoded', async () => {
    const { memory, table, times } = await opened();
    const bulk = table.bulk();
    let taken = 0;
    for (let time = 0; time < 5000; time++) {
      memory.isFull = time >= 4000 && time < 4500;
      try {
        bulk.add({ event_ts: time, members: [member(time)] });
        taken++;
      } catch (error) {
        expect((error as HedgerowError).code).toBe('overloaded');
      }
    }
    expect(taken).toBeLessThan(5000);
    expect(await bulk.commit()).toMatchObject({ inserted: taken });
    const { found, nodes } = await times();
    expect(found).toHaveLength(taken);
    if (form === 'names') expect(nodes).toBe(taken);
  });

  test('that a transaction could not encode leave no trace in it', async () => {
    const { memory, database, table, times } = await opened();
    const transaction = database.begin();
    const row = transaction.insert(table, { event_ts: 1, members: [member(1)] });
    memory.isFull = true;
    expect(() => transaction.insert(table, { event_ts: 2, members: [member(2), member(3)] })).toThrow(/out of memory/);
    const key = { eventTs: 1, id: row.id };
    expect(() => transaction.updateRow(table, key, { event_ts: 4, members: [member(4)] })).toThrow(/out of memory/);
    memory.isFull = false;
    transaction.insert(table, { event_ts: 3, members: [member(3)] });
    await transaction.commit();
    expect(await times()).toEqual({ found: [1, 3], nodes: form === 'names' ? 2 : undefined });
  });

  test('that find no memory at the commit of a bulk insert end it', async () => {
    const { memory, table, times } = await opened();
    const bulk = table.bulk();
    bulk.add({ event_ts: 1, members: [member(1)] });
    memory.isFull = true;
    expect(await codeOf(bulk.commit())).toBe('overloaded');
    memory.isFull = false;
    expect(await codeOf(bulk.commit())).toBe('invalid_input');
    expect(await times()).toEqual({ found: [], nodes: form === 'names' ? 0 : undefined });
  });
});

test('an edge that runs out of memory while it is encoded is not reported as invalid', () => {
  const real = core.instantiate();
  let isFull = false;
  const encode: typeof real.exports.hg_records_encode = (...given) =>
    isFull ? STATUS.outOfMemory : real.exports.hg_records_encode(...given);
  const batch = new EdgeBatch({ exports: { ...real.exports, hg_records_encode: encode }, memory: real.memory });
  for (let row = 0; row < 100; row++) batch.add(row, row === 99 ? [] : [row], null);
  expect(() => batch.encode(1, 64)).toThrow(/at least one node id/);
  isFull = true;
  batch.add(-17, [-3, 14, 16], null);
  expect(() => batch.encode(1, 64)).toThrow(/out of memory/);
});

describe('a memtable that began long ago', () => {
  test('gets no more rows after 2^32 LSNs, neither from writes nor in a replay', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    const table = database.table();
    await table.insert({ event_ts: 1, members: [1] });
    const document = Buffer.from(JSON.stringify({ store: 's', id: 'i', value: 1 }));
    const { committer } = table.context;
    for (let times = 0; times < 3; times++) {
      // These frames claim 2^31 operations each. To this table they look like billions of writes to
      // other tables.
      const parts = [runHeader(OPERATION.document, 0, 2 ** 31, document.length), document];
      await (await committer.write(() => committer.commit(2 ** 31, parts))).durable;
    }
    await table.insert({ event_ts: 2, members: [2] });
    const transaction = database.begin();
    transaction.insert(table, { event_ts: 3, members: [3] });
    await transaction.commit();
    expect(rowsOf(table).map((row) => row.event_ts)).toEqual([1, 2, 3]);
    await database.close();
    const again = await openSim(fs);
    expect(rowsOf(again.table()).map((row) => row.event_ts)).toEqual([1, 2, 3]);
    await again.table().delete(1, [1]);
    expect(rowsOf(again.table()).map((row) => row.event_ts)).toEqual([2, 3]);
    await again.compact({});
    expect(rowsOf(again.table()).map((row) => row.event_ts)).toEqual([2, 3]);
    await again.close();
  });
});

describe('instances of the core', () => {
  test('are few, even if there are many tables', async () => {
    const fs = simDisk();
    let made = 0;
    core.instantiate = () => {
      made++;
      return instantiate.call(core);
    };
    const limits = { memtableLimits: { ownInstances: 3, smallRows: 4 }, residentSegments: 2 };
    const database = await openSim(fs, limits);
    for (let index = 0; index < 40; index++) await database.createTable({ name: `t${index}` });
    for (let row = 0; row < 10; row++)
      for (let index = 0; index < 40; index++)
        await database.table(`t${index}`).insert({ event_ts: row, members: [index, 100 + row] });
    const { memtables } = database.table().context;
    expect(memtables.instances).toBeLessThanOrEqual(5);
    for (let index = 0; index < 40; index++)
      expect(rowsOf(database.table(`t${index}`), { nodes: [index] })).toHaveLength(10);
    await database.compact({});
    expect(memtables.instances).toBeLessThanOrEqual(5);
    for (let index = 0; index < 40; index++) expect(rowsOf(database.table(`t${index}`))).toHaveLength(10);
    await database.close();
    const again = await openSim(fs, limits);
    for (let index = 0; index < 40; index++) expect(rowsOf(again.table(`t${index}`))).toHaveLength(10);
    await again.close();
    expect(made).toBeLessThan(200);
  });

  test('can run out of address space: then reads release instances, writes share one, and a replay compacts', async () => {
    const fs = simDisk();
    const limits = { memtableLimits: { rows: 8, smallRows: 2 } };
    const database = await openSim(fs, limits);
    for (let row = 0; row < 40; row++) await database.table().insert({ event_ts: row, members: [row % 5] });
    await database.close();
    let left = 12;
    core.instantiate = () => (left-- > 0 ? instantiate.call(core) : noMemory());
    const again = await openSim(fs, limits);
    expect(rowsOf(again.table())).toHaveLength(40);
    left = 0;
    for (let row = 40; row < 60; row++) await again.table().insert({ event_ts: row, members: [row % 5] });
    expect(rowsOf(again.table())).toHaveLength(60);
    core.instantiate = instantiate;
    await again.compact({});
    expect(rowsOf(again.table(), { nodes: [3] })).toHaveLength(12);
    await again.close();
  });
});

test('an unpaired surrogate in a text is refused, also in the embedded database', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  const insert = table.insert({ event_ts: 1, members: [1], properties: { formation: 'a\ud800b' } });
  expect(await codeOf(insert)).toBe('invalid_input');
  const adding = database.alterTable('hyperedges', {
    kind: 'addColumn',
    column: { name: 'note', type: 'TEXT', default: '\udc00' },
  });
  expect(await codeOf(adding)).toBe('invalid_input');
  await table.insert({ event_ts: 1, members: [1], properties: { formation: '\ud83d\udc00' } });
  expect(rowsOf(table)[0]!.formation).toBe('🐀');
  await database.close();
});
