// The table of memories, which one commit creates with its nodes and indexes: what the feed of
// changes says about it, what a follower has, and what stays after a restart.

import { expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { Memory } from '../../src/memory/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { FOLLOWED, SimFollower } from '../support/follower.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';

const drive: Parameters<Memory['supersede']>[1] = async (steps) => finish(steps);
const memoryOf = (database: Database) => new Memory({ database, now: () => 1_000_000 });

const idsAt = (database: Database, at: number) =>
  finish(memoryOf(database).recall({ question: 'budget', topK: 10, at })).memories.map(({ id }) => id);

function stateOf(database: Database): unknown {
  const tables = [...database.tables(), ...database.nodes.tables()];
  return tables.map((table) => [table.definition, rowsOf(table), table.nextId]);
}

/** Returns what happened, one text for each commit. */
async function commitsOf(database: Database): Promise<string[]> {
  const reader = database.changes.read(0);
  const commits: string[] = [];
  const ops: string[] = [];
  for (let some = await reader.next(100); some.length > 0; some = await reader.next(100)) {
    for (const { text } of some) {
      const { table, op, commit_end: isEnd } = JSON.parse(text) as { table: string; op: string; commit_end?: true };
      ops.push(`${op} ${table}`);
      if (isEnd) commits.push(ops.splice(0).join(', '));
    }
  }
  reader.close();
  return commits;
}

test('a follower has the tables, the indexes and the memories of its leader', async () => {
  const fs = simDisk();
  const leader = await openSim(fs, FOLLOWED);
  const follower = await SimFollower.start(leader, fs, 2);
  const both = [1, 2].map((n) =>
    memoryOf(leader).remember({ what: `budget ${n}`, who: [], about: [`x${n}`], when: 100 }),
  );
  expect((await Promise.all(both)).map(({ row }) => row.id)).toEqual([1, 2]);
  await memoryOf(leader).supersede({ id: 1, what: 'another budget', at: 200, about: ['x1', 'x3'] }, drive);
  await follower.follow(leader);
  expect(stateOf(follower.database)).toEqual(stateOf(leader));
  expect(await commitsOf(leader)).toEqual([
    'table_created hyperedges',
    'node_table_created things, table_created memories, index_created memories, index_created memories',
    'node_inserted things, insert memories',
    'node_inserted things, insert memories',
    expect.stringMatching(/^(?=.*update memories)(?=.*insert memories)(?=.*node_inserted things)/),
  ]);
  for (const database of [leader, follower.database]) {
    expect(idsAt(database, 150)).toEqual(expect.arrayContaining([1, 2]));
    expect(idsAt(database, 200).sort()).toEqual([2, 3]);
    expect(finish(memoryOf(database).history({ id: 3, limit: 10 })).memories).toMatchObject([
      { id: 1, superseded_by: 3 },
      { id: 3, supersedes: 1 },
    ]);
  }
  await expect(memoryOf(follower.database).remember({ what: 'x', who: ['x'], about: [] })).rejects.toMatchObject({
    code: 'not_leader',
  });
  await expect(memoryOf(follower.database).supersede({ id: 3, what: 'x' }, drive)).rejects.toMatchObject({
    code: 'not_leader',
  });
  const before = stateOf(leader);
  await leader.close();
  const again = await openSim(fs, FOLLOWED);
  expect(stateOf(again)).toEqual(before);
  await again.close();
  await follower.database.close();
});
