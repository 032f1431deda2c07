// Tests node tables: keys and numbers of nodes, the creation of nodes by edges, deletions, and what
// a restart finds.

import { expect, test } from 'vitest';
import { type Database, markedPlanOf, type Scan, type Table } from '../../src/engine/index.ts';
import type { MemberInput } from '../../src/model/edge.ts';
import { namedRows } from '../support/named-rows.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

async function codeOf(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return undefined;
}

function textOf(scan: Scan, shown: (slice: Uint8Array) => Uint8Array = (slice) => slice): string {
  let text = '';
  for (let slice = scan.next(); slice !== null; slice = scan.next()) text += Buffer.from(shown(slice)).toString();
  return text;
}

/** Returns the members of all rows as answers show them. */
function membersOf(database: Database, table: Table, asObjects = false): unknown[] {
  const form = asObjects ? 'objects' : 'keys';
  const rows = markedPlanOf(table.columns, table.definition);
  const text = textOf(table.scan({ format: 'ndjson', rows, keys: form }));
  const marked = table.scan({ format: 'ndjson', rows });
  expect(textOf(marked, (slice) => database.nodes.translate(slice, form))).toBe(text);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { members: unknown }).members);
}

function nodesIn(table: Table): unknown[] {
  const scan = table.scan({ format: 'ndjson' });
  let text = '';
  for (let slice = scan.next(); slice !== null; slice = scan.next()) text += Buffer.from(slice).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const insert = (table: Table, event_ts: number, members: MemberInput[]) => table.insert({ event_ts, members });

async function town(): Promise<{ fs: ReturnType<typeof simDisk>; database: Database; person: Table; calls: Table }> {
  const fs = simDisk();
  const database = await openSim(fs);
  const person = await database.nodes.createTable({
    name: 'Person',
    key: { name: 'name', type: 'TEXT' },
    columns: [
      { name: 'born', type: 'INTEGER' },
      { name: 'city', type: 'TEXT', default: 'Rome' },
    ],
  });
  const calls = await database.createTable({ name: 'calls', memberTables: ['person'] });
  return { fs, database, person, calls };
}

test('an edge creates the nodes of keys that nobody has used, with the defaults', async () => {
  const { fs, database, person, calls } = await town();
  expect(calls.item()).toMatchObject({ nodes: 'named', member_tables: ['person'], create_nodes: true });
  await insert(calls, 1, ['Ada', 'Grace']);
  await insert(calls, 2, ['Grace', 'ada', 'Grace']);
  for (let round = 0; round < 3; round++) {
    const here = round === 0 ? database : await openSim(fs);
    const [table, nodes] = [here.table('calls'), here.nodes.table('Person')];
    expect(membersOf(here, table)).toEqual([
      ['Ada', 'Grace'],
      ['Grace', 'ada'],
    ]);
    expect(nodesIn(nodes)).toEqual(['Ada', 'Grace', 'ada'].map((name) => ({ name, born: null, city: 'Rome' })));
    expect(['Ada', 'Grace', 'ada', 'Nobody'].map((key) => here.nodes.find(nodes, key))).toEqual([1, 2, 3, 0]);
    expect(here.nodes.item(nodes).row_count).toBe(3);
    if (round === 1) await here.compact({});
    await here.close();
  }
  void person;
});

test('definitions: kinds are all node tables or none, and a node table in use stays', async () => {
  const { database } = await town();
  await database.nodes.createTable({ name: 'Room', key: { name: 'id', type: 'INTEGER' } });
  expect(await codeOf(() => database.createTable({ name: 'mixed', memberTables: ['Person', 'nothing'] }))).toBe(
    'invalid_input',
  );
  expect(await codeOf(() => database.createTable({ name: 'twice', memberTables: ['Person', 'person'] }))).toBe(
    'invalid_input',
  );
  expect((await database.createTable({ name: 'plain', memberTables: ['nothing'] })).item().nodes).toBe('numbers');
  expect(await codeOf(() => database.createTable({ name: 'PERSON' }))).toBe('table_exists');
  expect(await codeOf(() => database.nodes.createTable({ name: 'calls', key: { name: 'k', type: 'TEXT' } }))).toBe(
    'table_exists',
  );
  expect(await codeOf(() => database.nodes.dropTable('Person'))).toBe('table_in_use');
  expect(await codeOf(() => database.dropTable('Person'))).toBe('table_in_use');
  expect(await codeOf(() => database.table('Person'))).toBe('table_not_found');
  expect(await codeOf(() => database.nodes.table('calls'))).toBe('table_not_found');
  const meetings = await database.createTable({ name: 'meetings', memberTables: ['Person', 'Room'] });
  await insert(meetings, 1, [
    { kind: 'room', key: 5 },
    { kind: 'Person', key: 'Ada' },
  ]);
  expect(await codeOf(() => insert(meetings, 1, ['Ada']))).toBe('invalid_input');
  expect(await codeOf(() => insert(meetings, 1, [{ kind: 'Dog', key: 'Rex' }]))).toBe('invalid_input');
  await database.nodes.alterTable('Room', { kind: 'renameTable', to: 'Place' });
  expect(meetings.item().member_tables).toEqual(['Person', 'Place']);
  expect(membersOf(database, meetings, true)).toEqual([
    [
      { kind: 'Place', key: 5 },
      { kind: 'Person', key: 'Ada' },
    ],
  ]);
  expect(await codeOf(() => database.nodes.alterTable('Place', { kind: 'dropColumn', column: 'id' }))).toBe(
    'invalid_input',
  );
  await database.dropTable('meetings');
  await database.nodes.dropTable('Place');
  await database.close();
});

test('a number is never used again, not even after deletions, drops and restarts', async () => {
  const { fs, database, person, calls } = await town();
  await insert(calls, 1, ['Ada', 'Grace']);
  await database.nodes.createTable({ name: 'Dog', key: { name: 'name', type: 'TEXT' } });
  const walks = await database.createTable({ name: 'walks', memberTables: ['Dog'] });
  await insert(walks, 1, ['Rex', 'Fido']);
  await database.dropTable('walks');
  await database.nodes.dropTable('Dog');
  await calls.delete(1, ['Grace', 'Ada']);
  const number = database.nodes.find(person, 'Grace');
  const transaction = database.begin();
  transaction.deleteRow(person, { eventTs: number, id: number });
  await transaction.commit();
  expect(database.nodes.find(person, 'Grace')).toBe(0);
  await database.close();
  const again = await openSim(fs);
  await again.compact({});
  await insert(again.table('calls'), 5, ['Grace', 'Ada']);
  expect(again.nodes.find(again.nodes.table('Person'), 'Grace')).toBe(5);
  expect(again.nodes.find(again.nodes.table('Person'), 'Ada')).toBe(1);
  await again.close();
});

test('a table that creates no nodes refuses unknown keys and writes nothing', async () => {
  const { database, person } = await town();
  const strict = await database.createTable({ name: 'strict', memberTables: ['Person'], createNodes: false });
  const lsn = database.headLsn;
  expect(await codeOf(() => insert(strict, 1, ['Ada']))).toBe('unknown_node');
  const bulk = strict.bulk();
  expect(await codeOf(() => bulk.add({ event_ts: 1, members: ['Ada'] }))).toBe('unknown_node');
  bulk.discard();
  expect(database.headLsn).toBe(lsn);
  const transaction = database.begin();
  transaction.insertNode(person, { name: 'Ada', born: 1815 });
  transaction.insert(strict, { event_ts: 1, members: ['Ada'] });
  await transaction.commit();
  expect(membersOf(database, strict)).toEqual([['Ada']]);
  expect(nodesIn(person)).toEqual([{ name: 'Ada', born: 1815, city: 'Rome' }]);
  await database.close();
});

test('writers that create one key share its node', async () => {
  const { database, person, calls } = await town();
  const one = database.begin();
  const other = database.begin();
  const bulk = calls.bulk();
  one.insert(calls, { event_ts: 1, members: ['Ada', 'Grace'] });
  other.insert(calls, { event_ts: 2, members: ['Ada', 'Alan'] });
  bulk.add({ event_ts: 3, members: ['Ada', 'Grace', 'Barbara'] });
  await insert(calls, 4, ['Ada']);
  await bulk.commit();
  await other.commit();
  one.rollback();
  expect(membersOf(database, calls).map((members) => (members as string[]).toSorted())).toEqual([
    ['Ada', 'Alan'],
    ['Ada', 'Barbara', 'Grace'],
    ['Ada'],
  ]);
  expect(
    nodesIn(person)
      .map((node) => (node as { name: string }).name)
      .toSorted(),
  ).toEqual(['Ada', 'Alan', 'Barbara', 'Grace']);
  await database.close();
});

test('numbers of writes that were not committed are forgotten', async () => {
  const { database, person, calls } = await town();
  const transaction = database.begin();
  transaction.insert(calls, { event_ts: 1, members: ['Ada', 'Grace'] });
  transaction.rollback();
  const bulk = calls.bulk();
  bulk.add({ event_ts: 1, members: ['Alan'] });
  bulk.discard();
  expect(database.nodes.find(person, 'Ada')).toBe(0);
  await insert(calls, 1, ['Barbara']);
  expect(database.nodes.find(person, 'Barbara')).toBe(1);
  await database.close();
});

test('a node that edges hold is not deleted', async () => {
  const { database, person, calls } = await town();
  await insert(calls, 1, ['Ada', 'Grace']);
  const ada = { eventTs: 1, id: 1 };
  const refused = database.begin();
  expect(await codeOf(() => refused.deleteRow(person, ada))).toBe('node_in_use');
  refused.rollback();
  // The same transaction deletes the edge first.
  const both = database.begin();
  both.delete(calls, 1, ['Ada', 'Grace']);
  both.deleteRow(person, ada);
  await both.commit();
  expect(nodesIn(person)).toHaveLength(1);
  expect(membersOf(database, calls)).toEqual([]);
  await database.close();
});

test('a deletion and an edge that takes the node: the second gets a conflict', async () => {
  const { database, person, calls } = await town();
  await insert(calls, 1, ['Ada', 'Grace']);
  await calls.delete(1, ['Ada', 'Grace']);
  const grace = { eventTs: 2, id: 2 };
  const deletion = database.begin();
  deletion.deleteRow(person, grace);
  await insert(calls, 2, ['Grace']);
  expect(await codeOf(() => deletion.commit())).toBe('node_in_use');
  await calls.delete(2, ['Grace']);
  for (const write of ['transaction', 'bulk'] as const) {
    const number = database.nodes.find(person, 'Grace');
    const transaction = write === 'transaction' ? database.begin() : undefined;
    transaction?.insert(calls, { event_ts: 3, members: ['Grace'] });
    const bulk = write === 'bulk' ? calls.bulk() : undefined;
    bulk?.add({ event_ts: 3, members: ['Grace'] });
    const first = database.begin();
    first.deleteRow(person, { eventTs: number, id: number });
    await first.commit();
    expect(await codeOf(() => (transaction ?? bulk)!.commit())).toBe('conflict');
    await insert(calls, 4, ['Grace']);
    await calls.delete(4, ['Grace']);
  }
  await database.close();
});

test('the rows of a transaction include the nodes that it creates, until it goes back', async () => {
  const { database, person, calls } = await town();
  const transaction = database.begin();
  const rowsIn = (table: Table) => {
    const scan = transaction.scan(table, { format: 'json' });
    while (scan.next() !== null);
    return scan.rows;
  };
  transaction.insert(calls, { event_ts: 1, members: ['Ada'] });
  const mark = transaction.mark();
  transaction.insert(calls, { event_ts: 2, members: ['Grace', 'Ada'] });
  expect([rowsIn(person), rowsIn(calls)]).toEqual([2, 2]);
  transaction.rewind(mark);
  expect([rowsIn(person), rowsIn(calls)]).toEqual([1, 1]);
  transaction.insert(calls, { event_ts: 3, members: ['Grace'] });
  const { results } = await transaction.commit();
  expect(results).toHaveLength(2);
  expect(membersOf(database, calls)).toEqual([['Ada'], ['Grace']]);
  expect(nodesIn(person)).toHaveLength(2);
  await database.close();
});

test('members of named tables have roles', async () => {
  const { fs, database } = await town();
  await database.createTable({ name: 'mail', memberTables: ['Person'], roles: ['sender', 'recipient'] });
  const mail = database.table('mail');
  await insert(mail, 1, ['Zoe']);
  await mail.insert({ event_ts: 2, members: [], roles: { sender: ['Zoe', 'Ada'], recipient: ['Ada', 'Bob'] } });
  const transaction = database.begin();
  transaction.insert(mail, {
    event_ts: 3,
    members: ['Eve'],
    roles: { Recipient: ['Bob', { kind: 'Person', key: 'Al' }] },
  });
  await transaction.commit();
  const bulk = mail.bulk();
  bulk.add({ event_ts: 4, members: ['Zoe'], roles: { sender: ['Uma'] } });
  await bulk.commit();
  expect(await codeOf(() => mail.insert({ event_ts: 5, members: [], roles: { reader: ['Ada'] } }))).toBe(
    'invalid_input',
  );
  const wanted = [
    { members: ['Zoe'], roles: { sender: [], recipient: [] } },
    { members: ['Zoe', 'Ada', 'Bob'], roles: { sender: ['Zoe', 'Ada'], recipient: ['Ada', 'Bob'] } },
    { members: ['Bob', 'Eve', 'Al'], roles: { sender: [], recipient: ['Bob', 'Al'] } },
    { members: ['Zoe', 'Uma'], roles: { sender: ['Uma'], recipient: [] } },
  ];
  expect(namedRows(database, mail)).toMatchObject(wanted);
  await database.compact({});
  expect(namedRows(database, mail)).toMatchObject(wanted);
  await database.close();
  const again = await openSim(fs);
  expect(namedRows(again, again.table('mail'))).toMatchObject(wanted);
  await again.close();
});

test('a node that was created and deleted meanwhile is not created with its old number', async () => {
  const { database, person, calls } = await town();
  const late = database.begin();
  const { id } = late.insertNode(person, { name: 'Ada', born: 1815 });
  await insert(calls, 1, ['Ada']);
  const deletion = database.begin();
  deletion.delete(calls, 1, ['Ada']);
  deletion.deleteRow(person, { eventTs: id, id });
  await deletion.commit();
  expect(await codeOf(() => late.commit())).toBe('conflict');
  await insert(calls, 2, ['Ada']);
  expect(database.nodes.find(person, 'Ada')).toBe(id + 1);
  await database.close();
});

test('a rewound edge does not let another table create its node', async () => {
  const { database, person, calls } = await town();
  const strict = await database.createTable({ name: 'strict', memberTables: ['Person'], createNodes: false });
  const transaction = database.begin();
  const mark = transaction.mark();
  transaction.insert(calls, { event_ts: 1, members: ['Ada'] });
  transaction.rewind(mark);
  expect(await codeOf(() => transaction.insert(strict, { event_ts: 1, members: ['Ada'] }))).toBe('unknown_node');
  transaction.insertNode(person, { name: 'Ada' });
  transaction.insert(strict, { event_ts: 1, members: ['Ada'] });
  await transaction.commit();
  expect(membersOf(database, strict)).toEqual([['Ada']]);
  await database.close();
});

test('a deletion that is refused leaves the node to the transaction', async () => {
  const { database, person, calls } = await town();
  const transaction = database.begin({ pinned: true });
  await insert(calls, 1, ['Ada']);
  await calls.delete(1, ['Ada']);
  // The transaction does not see the node.
  expect(await codeOf(() => transaction.deleteRow(person, { eventTs: 1, id: 1 }))).toBe('invalid_input');
  transaction.insert(calls, { event_ts: 2, members: ['Ada'] });
  await transaction.commit();
  expect(membersOf(database, calls)).toEqual([['Ada']]);
  await database.close();
});
