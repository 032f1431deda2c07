// Followers of a database with node tables: they answer keys, and create nodes once they lead.

import { expect, test } from 'vitest';
import { type Database, markedPlanOf, type Table } from '../../../src/engine/index.ts';
import { FOLLOWED, SimFollower } from '../../support/follower.ts';
import { openSim, simDisk } from '../../support/sim-engine.ts';

function edgesOf(database: Database, name: string): unknown[] {
  const table = database.table(name);
  const scan = table.scan({ format: 'ndjson', rows: markedPlanOf(table.columns, table.definition) });
  let text = '';
  for (let slice = scan.next(); slice !== null; slice = scan.next())
    text += Buffer.from(database.nodes.translate(slice, 'keys')).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { id, event_ts, members } = JSON.parse(line);
      return [id, event_ts, members];
    });
}

/** Returns the nodes of a table by key, with their numbers. */
async function nodesOf(database: Database, name: string): Promise<unknown[]> {
  const table: Table = database.nodes.table(name);
  const snapshot = database.snapshot(table);
  const order = await database.nodes.order(table);
  const texts = database.nodes.texts(table, snapshot, order.numbers);
  const nodes = [...order.numbers]
    .map((number, index) => [number, texts[index]])
    .filter(([, text]) => text !== undefined);
  order.release();
  snapshot.release();
  return nodes;
}

async function stateOf(database: Database): Promise<unknown> {
  return {
    tables: database.nodes.tables().map((table) => database.nodes.item(table)),
    people: await nodesOf(database, 'Person'),
    calls: edgesOf(database, 'calls'),
    found: ['Ada', 'Grace', 'Alan', 'Nobody'].map((key) => database.nodes.find(database.nodes.table('Person'), key)),
  };
}

async function town(fs: ReturnType<typeof simDisk>): Promise<Database> {
  const leader = await openSim(fs, FOLLOWED);
  const columns = [{ name: 'city', type: 'TEXT' as const, default: 'Rome' }];
  await leader.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' }, columns });
  const calls = await leader.createTable({ name: 'calls', memberTables: ['Person'] });
  await calls.insert({ event_ts: 1, members: ['Grace', 'Ada'] });
  return leader;
}

test('a follower knows the nodes of its leader, after its own restarts too', async () => {
  const fs = simDisk(1);
  const leader = await town(fs);
  const follower = await SimFollower.start(leader, fs, 2);
  expect(await stateOf(follower.database)).toEqual(await stateOf(leader));
  const person = leader.nodes.table('Person');
  const calls = leader.table('calls');
  await calls.insert({ event_ts: 2, members: ['Alan', 'Ada'] });
  // A longer transaction, whose number is smaller than one that is committed before.
  const slow = leader.begin();
  slow.insert(calls, { event_ts: 3, members: ['Slow'] });
  await calls.insert({ event_ts: 4, members: ['Fast'] });
  await follower.follow(leader);
  expect(await stateOf(follower.database)).toEqual(await stateOf(leader));
  await slow.commit();
  const writes = leader.begin();
  const ada = writes.findNode(person, 'Ada');
  const row = { event_ts: ada, members: [ada], properties: { name: 'Ada', city: 'Oslo' } };
  writes.changeRow(person, { eventTs: ada, id: ada }, row);
  writes.insertNode(person, { name: 'Zoe' });
  await writes.commit();
  await calls.delete(4, ['Fast']);
  const deletion = leader.begin();
  const fast = deletion.findNode(person, 'Fast');
  deletion.deleteRow(person, { eventTs: fast, id: fast });
  await deletion.commit();
  await calls.insert({ event_ts: 5, members: ['Fast'] });
  for (const how of [undefined, 'kill', 'crash', 'close'] as const) {
    if (how !== undefined) await follower.restart(how);
    await follower.follow(leader);
    expect(await stateOf(follower.database)).toEqual(await stateOf(leader));
    if (how === 'kill') await follower.database.compact();
  }
  await leader.nodes.alterTable('Person', { kind: 'addColumn', column: { name: 'age', type: 'INTEGER' } });
  await follower.follow(leader);
  expect(await stateOf(follower.database)).toEqual(await stateOf(leader));
  await follower.database.close();
  await leader.close();
});

test.each(['at once', 'after a restart'])(
  'a follower that takes over %s goes on with the numbers of its leader',
  async (how) => {
    const fs = simDisk(3);
    const leader = await town(fs);
    const follower = await SimFollower.start(leader, fs, 4);
    await leader.table('calls').insert({ event_ts: 2, members: ['Alan'] });
    await follower.follow(leader);
    const before = await stateOf(leader);
    await leader.close();
    if (how === 'at once') follower.database.applier!.lead();
    else await follower.restart('close', { follows: false });
    const { database } = follower;
    expect(await stateOf(database)).toEqual(before);
    await database.table('calls').insert({ event_ts: 3, members: ['Ada', 'Zoe'] });
    expect(edgesOf(database, 'calls').at(-1)).toEqual([3, 3, ['Ada', 'Zoe']]);
    expect(database.nodes.find(database.nodes.table('Person'), 'Zoe')).toBe(4);
    await database.close();
  },
);
