// Tests writes that create nodes when memory is short, when the dictionary of keys is full, and
// when all numbers of nodes are used. Each is refused with a clear answer, and nothing of it
// remains.

import { afterEach, expect, test } from 'vitest';
import { CoreMemtable, KeyDictionary, loadCore } from '../../src/core/index.ts';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { checkNodes, namedRows, nodeRows } from '../support/named-rows.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const { reserve } = CoreMemtable.prototype;
const { hold } = KeyDictionary.prototype;
const core = loadCore('debug');
const { instantiate } = core;

afterEach(relieve);

function relieve(): void {
  CoreMemtable.prototype.reserve = reserve;
  KeyDictionary.prototype.hold = hold;
  core.instantiate = instantiate;
}

function noMemory(): never {
  throw new HedgerowError('overloaded', 'no memory');
}

/** Makes allocation number `nth`, counted from 1, and all later ones fail. */
function failFrom(nth: number): void {
  let calls = 0;
  CoreMemtable.prototype.reserve = function (this: CoreMemtable, bytes, rows) {
    return ++calls >= nth ? noMemory() : reserve.call(this, bytes, rows);
  };
  KeyDictionary.prototype.hold = function (this: KeyDictionary, slot, key) {
    return ++calls >= nth ? noMemory() : hold.call(this, slot, key);
  };
  core.instantiate = () => (++calls >= nth ? noMemory() : instantiate.call(core));
}

/** New keys in one edge. */
const KEYS = 50;

async function codeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'none';
  } catch (error) {
    return (error as HedgerowError).code;
  }
}

type Commit = (database: Database) => Promise<unknown>;

/** Functions that each create nodes in another way. */
const COMMITS: Record<string, Commit> = {
  'an insert': (database) => database.table('calls').insert({ event_ts: 5, members: ['Alan', 'Ada', 'Barbara'] }),
  'a bulk insert': async (database) => {
    const bulk = database.table('calls').bulk();
    try {
      for (let time = 0; time < 8; time++) bulk.add({ event_ts: time, members: [`p${time}`, 'Ada'] });
      await bulk.commit();
    } finally {
      bulk.discard();
    }
  },
  'a transaction': async (database) => {
    const transaction = database.begin();
    try {
      const [person, calls] = [database.nodes.table('Person'), database.table('calls')];
      transaction.insertNode(person, { name: 'Edsger', born: 1930 });
      transaction.insert(calls, { event_ts: 3, members: ['Edsger', 'Alan'] });
      const number = database.nodes.find(person, 'Ada');
      const properties = { name: 'Ada', born: 1815 };
      transaction.updateRow(
        person,
        { eventTs: number, id: number },
        { event_ts: number, members: [number], properties },
      );
      await transaction.commit();
    } finally {
      transaction.rollback();
    }
  },
};

async function filled(slicedOperations: number) {
  const fs = simDisk();
  // A memtable has room for one or two rows, so that a commit needs several memtables.
  const options = { memtableLimits: { rows: 2, smallRows: 1 }, slicedOperations };
  const database = await openSim(fs, options);
  const columns = [{ name: 'born', type: 'INTEGER' as const, default: 1900 }];
  await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' }, columns });
  await database.createTable({ name: 'calls', memberTables: ['Person'] });
  await database.table('calls').insert({ event_ts: 1, members: ['Ada', 'Grace'] });
  return { fs, database, options };
}

/** Returns what can be read, and the rows and bytes that memtables have taken. */
function stateOf(database: Database): unknown[] {
  const [person, calls] = [database.nodes.table('Person'), database.table('calls')];
  const taken = [person, calls].map(({ version }) =>
    version.memtables.reduce((sum, { memtable }) => sum + memtable.takenRows - memtable.rows, 0),
  );
  return [namedRows(database, calls), nodeRows(person), taken, database.headLsn, database.nodes.item(person).row_count];
}

test.each(
  Object.entries(COMMITS).flatMap(([name, commit]) => [
    [name, 'at once', 4096, commit] as const,
    [name, 'in slices', 1, commit] as const,
  ]),
)(
  '%s that creates nodes %s is refused if any allocation fails, leaves nothing behind, and can be sent again',
  async (_, __, sliced, commit) => {
    for (let nth = 1; ; nth++) {
      const { fs, database, options } = await filled(sliced);
      const before = stateOf(database);
      failFrom(nth);
      const code = await codeOf(() => commit(database));
      relieve();
      if (code === 'none') {
        expect(nth).toBeGreaterThan(2);
        await database.close();
        break;
      }
      expect([nth, code]).toEqual([nth, 'overloaded']);
      expect(stateOf(database)).toEqual(before);
      expect(database.nodes.find(database.nodes.table('Person'), 'Alan')).toBe(0);
      await commit(database);
      const [rows, nodes] = stateOf(database);
      await database.compact({});
      await database.close();
      const again = await openSim(fs, options);
      expect(stateOf(again).slice(0, 2)).toEqual([rows, nodes]);
      checkNodes(again);
      await again.close();
    }
  },
);

test('when all numbers are used, new keys are refused and everything else goes on', async () => {
  const { fs, database, options } = await filled(4096);
  const [person, calls] = [database.nodes.table('Person'), database.table('calls')];
  const { keys } = calls.context.nodes;
  keys.limit = keys.next;
  const refusedTwice: Commit = async (each) => {
    for (const commit of Object.values(COMMITS)) expect(await codeOf(() => commit(each))).toBe('nodes_exhausted');
  };
  const before = stateOf(database);
  await refusedTwice(database);
  const lines = calls.bulk();
  const { rows } = lines.addLines(Buffer.from('{"event_ts":7,"members":["Ada","new","newer"]}\n'));
  expect(rows).toBe(0);
  expect(await codeOf(async () => lines.add({ event_ts: 7, members: ['Ada', 'new', 'newer'] }))).toBe(
    'nodes_exhausted',
  );
  lines.discard();
  expect(stateOf(database)).toEqual(before);
  // One number is left. It is not used up by writes that were refused.
  await calls.insert({ event_ts: 2, members: ['Ada', 'Alan'] });
  expect(database.nodes.find(person, 'Alan')).toBe(3);
  expect(await codeOf(() => calls.insert({ event_ts: 3, members: ['Barbara'] }))).toBe('nodes_exhausted');
  // Numbers of deleted nodes stay used.
  const deletion = database.begin();
  deletion.delete(calls, 2, ['Ada', 'Alan']);
  deletion.deleteRow(person, { eventTs: 3, id: 3 });
  await deletion.commit();
  expect(await codeOf(() => calls.insert({ event_ts: 3, members: ['Alan'] }))).toBe('nodes_exhausted');
  await calls.insert({ event_ts: 4, members: ['Ada', 'Grace'] });
  const [edges, nodes] = stateOf(database);
  await database.compact({});
  await database.close();
  const again = await openSim(fs, options);
  expect(stateOf(again).slice(0, 2)).toEqual([edges, nodes]);
  expect(again.table('calls').context.nodes.nextNumber).toBe(4);
  checkNodes(again);
  await again.close();
});

test('the last number of all is given out once, and stays used after a restart', async () => {
  const { fs, database, options } = await filled(4096);
  const calls = database.table('calls');
  const { keys } = calls.context.nodes;
  keys.next = 2 ** 32 - 2;
  await calls.insert({ event_ts: 2, members: ['Ada', 'Alan'] });
  await calls.insert({ event_ts: 3, members: ['Ada', 'Barbara'] });
  const last = (each: Database) => each.nodes.find(each.nodes.table('Person'), 'Barbara');
  for (const each of [database, undefined]) {
    const here = each ?? (await openSim(fs, options));
    expect(last(here)).toBe(2 ** 32 - 1);
    for (const commit of Object.values(COMMITS).slice(1))
      expect(await codeOf(() => commit(here))).toBe('nodes_exhausted');
    expect(await codeOf(() => here.table('calls').insert({ event_ts: 4, members: ['new'] }))).toBe('nodes_exhausted');
    await here.table('calls').insert({ event_ts: 9, members: ['Alan', 'Barbara'] });
    checkNodes(here);
    await here.compact({});
    checkNodes(here);
    await here.close();
  }
});

test('when the keys fill their share of the memory budget, new keys are refused and everything else goes on', async () => {
  const fs = simDisk();
  const database = await openSim(fs, { memoryBudgetBytes: 2 ** 22, core: 'release' });
  await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' } });
  const calls = await database.createTable({ name: 'calls', memberTables: ['Person'] });
  let code = 'none';
  let edges = 0;
  await calls.insert({ event_ts: 0, members: ['Ada'] });
  for (; code === 'none' && edges < 1000; edges++) {
    const members = Array.from({ length: KEYS }, (_, key) => `${edges} ${key} ${'x'.repeat(480)}`);
    code = await codeOf(() => calls.insert({ event_ts: edges, members }));
  }
  expect(code).toBe('overloaded');
  const bulk = calls.bulk();
  bulk.add({ event_ts: -1, members: ['Ada'] });
  expect(await codeOf(async () => bulk.add({ event_ts: -1, members: ['Grace'] }))).toBe('overloaded');
  await bulk.commit();
  await calls.insert({ event_ts: -2, members: ['Ada'] });
  expect(calls.rowCount).toBe(edges + 2);
  expect(database.nodes.item(database.nodes.table('Person')).row_count).toBe((edges - 1) * KEYS + 1);
  checkNodes(database);
  await database.close();
});

test('a definition that lacks memory is refused before it is logged, and never fails after that', async () => {
  const fs = simDisk();
  let isFull = false;
  const module = {
    instantiate: () => {
      const { exports, memory } = loadCore('debug').instantiate();
      const alloc = (bytes: number) => (isFull ? 0 : exports.hg_memory_alloc(bytes));
      return { exports: { ...exports, hg_memory_alloc: alloc }, memory };
    },
  };
  const database = await openSim(fs, { module });
  const create = (name: string) => () => database.nodes.createTable({ name, key: { name: 'key', type: 'TEXT' } });
  const rename = (name: string, to: string) => () => database.nodes.alterTable(name, { kind: 'renameTable', to });
  await create('K0')();
  const names = () => database.nodes.tables().map(({ name }) => name);
  for (const [change, wanted] of [
    [create('K1'), ['K0', 'K1']],
    [rename('K0', 'A_longer_name'), ['A_longer_name', 'K1']],
    [rename('K1', 'K2'), ['A_longer_name', 'K2']],
    [create('K1'), ['A_longer_name', 'K1', 'K2']],
  ] as const) {
    const before = [names(), database.headLsn];
    isFull = true;
    expect(await codeOf(change)).toBe('overloaded');
    expect([names(), database.headLsn]).toEqual(before);
    isFull = false;
    // From the first write of the log on, there is no memory.
    fs.schedule = () => {
      isFull = true;
      return undefined;
    };
    await change();
    fs.schedule = () => undefined;
    isFull = false;
    expect(names()).toEqual(wanted);
  }
  const calls = await database.createTable({ name: 'calls', memberTables: ['K1', 'K2', 'A_longer_name'] });
  const members = ['K1', 'K2', 'A_longer_name'].map((kind) => ({ kind, key: 'a' }));
  await calls.insert({ event_ts: 1, members });
  expect(namedRows(database, calls, {}, true)[0]!.members).toEqual(members);
  await database.close();
});
