// Tests what readers of changes are told about node tables and named tables.

import { expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const KEPT = { history: { seconds: 1e9, bytes: 1e9 } };

async function changesOf(database: Database, table?: string): Promise<Record<string, unknown>[]> {
  const reader = database.changes.read(undefined, table);
  const changes: Record<string, unknown>[] = [];
  for (let some = await reader.next(5); some.length > 0; some = await reader.next(5))
    for (const { text } of some) {
      const { lsn: _lsn, ts: _ts, ...rest } = JSON.parse(text) as Record<string, unknown>;
      changes.push(rest);
    }
  reader.close();
  return changes;
}

test('operations on nodes and edges show keys', async () => {
  const fs = simDisk();
  const database = await openSim(fs, KEPT);
  const { nodes } = database;
  const person = await nodes.createTable({
    name: 'Person',
    key: { name: 'name', type: 'TEXT' },
    columns: [{ name: 'city', type: 'TEXT', default: 'Rome' }],
  });
  await nodes.createTable({ name: 'Room', key: { name: 'id', type: 'INTEGER' } });
  const calls = await database.createTable({ name: 'calls', memberTables: ['Person'] });
  const meetings = await database.createTable({ name: 'meetings', memberTables: ['Person', 'Room'] });
  await calls.insert({ event_ts: 1, members: ['Ada', 'Gr"ace'] });
  await calls.insert({ event_ts: 2, members: ['Ada'] });
  await meetings.insert({
    event_ts: 3,
    members: [
      { kind: 'Room', key: 7 },
      { kind: 'Person', key: 'Ada' },
    ],
  });
  const change = database.begin();
  const ada = change.findNode(person, 'Ada');
  change.changeRow(
    person,
    { eventTs: ada, id: ada },
    { event_ts: ada, members: [ada], properties: { name: 'Ada', city: 'Oslo' } },
  );
  await change.commit();
  await calls.delete(1, ['Gr"ace', 'Ada']);
  const deletion = database.begin();
  const grace = deletion.findNode(person, 'Gr"ace');
  deletion.deleteRow(person, { eventTs: grace, id: grace });
  await deletion.commit();
  await nodes.alterTable('Room', { kind: 'renameTable', to: 'Place' });
  const gone = await nodes.createTable({ name: 'Gone', key: { name: 'k', type: 'TEXT' } });
  await nodes.dropTable(gone.name);

  const edge = { weight: null, mean_dist_m: null, formation: null };
  const objects = [
    { kind: 'Person', key: 'Ada' },
    { kind: 'Room', key: 7 },
  ];
  const columns = [
    { name: 'name', type: 'TEXT', default: null },
    { name: 'city', type: 'TEXT', default: 'Rome' },
  ];
  const expected: Record<string, unknown>[] = [
    { table: 'Person', op: 'node_table_created', columns, commit_end: true },
    {
      table: 'Room',
      op: 'node_table_created',
      columns: [{ name: 'id', type: 'INTEGER', default: null }],
      commit_end: true,
    },
    { table: 'calls', op: 'table_created', commit_end: true },
    { table: 'meetings', op: 'table_created', commit_end: true },
    { table: 'Person', op: 'node_inserted', id: 1, row: { name: 'Ada', city: 'Rome' } },
    { table: 'Person', op: 'node_inserted', id: 2, row: { name: 'Gr"ace', city: 'Rome' } },
    {
      table: 'calls',
      op: 'insert',
      id: 1,
      row: { id: 1, event_ts: 1, members: ['Ada', 'Gr"ace'], ...edge },
      commit_end: true,
    },
    { table: 'calls', op: 'insert', id: 2, row: { id: 2, event_ts: 2, members: ['Ada'], ...edge }, commit_end: true },
    { table: 'Room', op: 'node_inserted', id: 3, row: { id: 7 } },
    {
      table: 'meetings',
      op: 'insert',
      id: 1,
      row: { id: 1, event_ts: 3, members: objects, ...edge },
      commit_end: true,
    },
    {
      table: 'Person',
      op: 'node_updated',
      id: 1,
      before: { name: 'Ada', city: 'Rome' },
      row: { name: 'Ada', city: 'Oslo' },
      commit_end: true,
    },
    {
      table: 'calls',
      op: 'delete',
      id: 1,
      before: { id: 1, event_ts: 1, members: ['Ada', 'Gr"ace'], ...edge },
      commit_end: true,
    },
    { table: 'Person', op: 'node_deleted', id: 2, before: { name: 'Gr"ace', city: 'Rome' }, commit_end: true },
    {
      table: 'Place',
      op: 'node_table_altered',
      renamed_from: 'Room',
      columns: [{ name: 'id', type: 'INTEGER', default: null }],
      commit_end: true,
    },
    {
      table: 'Gone',
      op: 'node_table_created',
      columns: [{ name: 'k', type: 'TEXT', default: null }],
      commit_end: true,
    },
    { table: 'Gone', op: 'node_table_dropped', commit_end: true },
  ];
  const all = (await changesOf(database)).filter(({ table }) => table !== 'hyperedges');
  for (const change of all) if (change.op === 'table_created') delete change.columns;
  // The kind of a member is shown under its name of today.
  const renamed = structuredClone(expected);
  (renamed[9]!.row as unknown as { members: { kind: string }[] }).members[1]!.kind = 'Place';
  expect(all).toEqual(renamed);
  const ofPerson = expected.filter(({ table }) => table === 'Person');
  // Of a commit that creates two nodes, the last change that is shown ends it.
  ofPerson[2] = { ...ofPerson[2]!, commit_end: true } as (typeof expected)[number];
  expect(await changesOf(database, 'person')).toEqual(ofPerson);

  // After a restart the key of a deleted node is no longer known.
  await database.close();
  const again = await openSim(fs, KEPT);
  await again.compact({});
  const deleted = (await changesOf(again, 'calls')).filter(({ id }) => id === 1);
  const members = deleted.map(({ row, before }) => ((row ?? before) as { members: unknown }).members);
  for (const each of members) expect((each as unknown[])[0]).toBe('Ada');
  await again.close();
  const third = await openSim(fs, KEPT);
  const last = (await changesOf(third, 'calls')).find(({ id }) => id === 1)!;
  expect((last.row as { members: unknown }).members).toEqual(['Ada', null]);
  await third.close();
});
