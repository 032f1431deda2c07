// Tests what verify finds in node tables and named tables.

import { expect, test } from 'vitest';
import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { type Database, restoreBackup, verifyDirectory } from '../../src/engine/index.ts';
import { manifestFaults } from '../../src/engine/verify/verify-manifest.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

async function problemsOf(fs: SimFs): Promise<string[]> {
  const core = loadCore('release');
  const tools = { fs, core, crc32c: makeChecksum(core.instantiate()) };
  return (await verifyDirectory(tools, '/db', async () => {})).problems.map(({ what }) => what);
}

async function town(fs: SimFs): Promise<Database> {
  const database = await openSim(fs);
  const columns = [{ name: 'city', type: 'TEXT' as const, default: 'Rome' }];
  await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' }, columns });
  await database.nodes.createTable({ name: 'Room', key: { name: 'id', type: 'INTEGER' } });
  const calls = await database.createTable({ name: 'calls', memberTables: ['Person'] });
  const meetings = await database.createTable({ name: 'meetings', memberTables: ['Person', 'Room'] });
  for (let i = 0; i < 300; i++) await calls.insert({ event_ts: i, members: [`p${i % 50}`, `q${i}`] });
  for (let i = 0; i < 50; i++)
    await meetings.insert({
      event_ts: i,
      members: [
        { kind: 'Room', key: -i },
        { kind: 'Person', key: `p${i}` },
      ],
    });
  return database;
}

/** Deletes the edges of a time and the node that only they have. */
async function forget(database: Database, i: number): Promise<void> {
  await database.table('calls').delete(i, [`p${i % 50}`, `q${i}`]);
  const person = database.nodes.table('Person');
  const transaction = database.begin();
  const number = transaction.findNode(person, `q${i}`);
  transaction.deleteRow(person, { eventTs: number, id: number });
  await transaction.commit();
}

test('finds no fault in a sound directory, whatever is in the log and in segments', async () => {
  const fs = simDisk();
  const database = await town(fs);
  expect(await problemsOf(fs)).toEqual([]);
  await database.compact({});
  expect(await problemsOf(fs)).toEqual([]);
  for (let i = 0; i < 20; i++) await forget(database, i);
  await database.table('calls').insert({ event_ts: 1, members: ['q3', 'new'] });
  expect(await problemsOf(fs)).toEqual([]);
  // The edges of one table are in segments, the nodes that they have lost are gone.
  await database.nodes.alterTable('Person', { kind: 'setOption', option: 'compactThreshold', value: 1 });
  await database.compact({ table: 'calls' });
  expect(await problemsOf(fs)).toEqual([]);
  await database.compact({});
  expect(await problemsOf(fs)).toEqual([]);
  await database.close();
  expect(await problemsOf(fs)).toEqual([]);
});

test('finds edges whose members are no nodes', async () => {
  const fs = simDisk();
  const database = await town(fs);
  await database.table('calls').insert({ event_ts: 5, members: [1, 9000], areNumbers: true });
  await database.compact({});
  expect(await problemsOf(fs)).toEqual(['an edge of table calls has the member 9000, which is no node']);
  await database.close();
});

test('finds nodes whose ids are not their numbers, and keys that two nodes have', async () => {
  for (const [eventTs, members, what] of [
    [7, [7], 'a node has the id 401, which is not its time, its member and a number'],
    [401, [401, 402], 'a node has not one member, its number'],
    [401, [401], 'two nodes have the key "p1"'],
  ] as const) {
    const fs = simDisk();
    const database = await town(fs);
    const person = database.nodes.table('Person');
    while (person.nextId < 401) person.takeIds(1);
    await person.insert({ event_ts: eventTs, members, properties: { name: 'p1' } });
    await database.compact({});
    expect(await problemsOf(fs)).toEqual([expect.stringContaining(what)]);
    await database.close();
  }
});

test('finds no fault in indexes on the end of edges and on attributes, and a backup with them is restored', async () => {
  const fs = simDisk();
  const database = await town(fs);
  await database.createTable({ name: 'stays', memberTables: ['Person', 'Room'], intervals: true });
  await database.createIndex('stays', 'end_ts');
  await database.createIndex('Room', 'id');
  await database.compact({});
  expect(await problemsOf(fs)).toEqual([]);
  const { path } = await database.backup({ dir: '/backups', compactFirst: false });
  const core = loadCore('release');
  const crc32c = makeChecksum(core.instantiate());
  const idle = { progress: () => undefined, checkStopped: () => undefined };
  await restoreBackup({ fs, crc32c, core, file: path, dir: '/backups/restored', ...idle });
  await database.close();
  const restored = await openSim(fs, { dir: '/backups/restored' });
  expect(restored.indexes().map(({ table, column }) => [table, column])).toEqual([
    ['Room', 'id'],
    ['stays', 'end_ts'],
  ]);
  await restored.close();
});

test('names an index on a column that does not exist, in node tables too', async () => {
  const fs = simDisk();
  const database = await town(fs);
  await database.createIndex('Room', 'id');
  const definition = database.nodes.table('Room').definition;
  const faultsOf = (column: number) => {
    const indexes = [{ column, createdAt: 1 }];
    const table = { definition: { ...definition, indexes }, appliedLsn: 0, nextId: 1, nextSegment: 1, segments: [] };
    return manifestFaults({ format: 1, lsn: 1, nextTableId: 100, tables: [table] });
  };
  expect(faultsOf(definition.key!)).toEqual([]);
  for (const column of [-1, 0, 2, definition.key! + 1])
    expect(faultsOf(column)).toEqual(['table "Room": there is an index on a column that does not exist']);
  await database.close();
});
