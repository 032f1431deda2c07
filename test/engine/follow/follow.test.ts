// Followers of a database: they hold the same rows, tables, documents and answers as their leader
// at the same LSN, whatever is written, and after restarts and crashes of either.

import { describe, expect, test } from 'vitest';
import type { Database } from '../../../src/engine/index.ts';
import { DatabaseWriter } from '../../support/database-writer.ts';
import { FOLLOWED, SimFollower } from '../../support/follower.ts';
import { Random } from '../../support/random.ts';
import { openSim, rowsOf, simDisk } from '../../support/sim-engine.ts';
import type { SimFs } from '../../support/sim-fs.ts';

function stateOf(database: Database): unknown {
  const tables = database.tables().map((table) => ({
    definition: table.definition,
    rowCount: table.rowCount,
    rows: rowsOf(table),
    nextId: table.nextId,
  }));
  return { lsn: database.lastLsn, tables, documents: database.documents.entries('things') };
}

async function changesOf(database: Database, fromLsn: number): Promise<string[]> {
  const reader = database.changes.read(fromLsn);
  const texts: string[] = [];
  for (let some = await reader.next(100); some.length > 0; some = await reader.next(100))
    texts.push(...some.map(({ text }) => text));
  reader.close();
  return texts;
}

describe('a follower', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('holds what its leader holds (history %i)', async (seed) => {
    const random = new Random(seed);
    let fs: SimFs = simDisk(seed);
    const sizes = { slicedOperations: seed % 2 === 0 ? 3 : 4096 };
    let leader = await openSim(fs, { ...FOLLOWED, ...sizes });
    const writer = new DatabaseWriter(random);
    for (let step = 0; step < 20; step++) await writer.step(leader);
    const follower = await SimFollower.start(leader, fs, seed + 100, sizes);
    const startLsn = follower.database.lastLsn;
    expect(stateOf(follower.database)).toEqual(stateOf(leader));
    for (let round = 0; round < 8; round++) {
      for (let step = 0; step < 20; step++) {
        await writer.step(leader);
        if (random.chance(0.2)) await follower.follow(leader, random);
        if (random.chance(0.1))
          await leader.documents.change([
            { store: 'things', id: `${random.below(5)}`, value: random.below(9) || null },
          ]);
        if (random.chance(0.05)) await follower.database.compact();
      }
      if (round % 2 === 1) await follower.restart(random.chance(0.5) ? 'kill' : 'crash');
      if (round === 4) await follower.restart('close');
      await follower.follow(leader);
      expect(stateOf(follower.database)).toEqual(stateOf(leader));
      if (round === 5) {
        fs = fs.crash();
        leader = await openSim(fs, { ...FOLLOWED, ...sizes });
      }
    }
    // The follower's log is as good a feed as the leader's.
    expect(await changesOf(follower.database, startLsn)).toEqual(await changesOf(leader, startLsn));
    await follower.database.close();
    await leader.close();
  });
});
