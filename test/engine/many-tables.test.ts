// Tests commits of many tables, each of whose first rows take an instance of the core.

import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { Scheduler, type WorkKind } from '../../src/schedule/scheduler.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

/** Counts the pauses of commits. */
class CountingScheduler extends Scheduler {
  commits = 0;

  override pause(kind: WorkKind): Promise<void> {
    if (kind === 'commit') this.commits++;
    return super.pause(kind);
  }
}

async function insertInto(database: Database, tables: number): Promise<void> {
  const transaction = database.begin();
  for (let table = 0; table < tables; table++)
    transaction.insert(database.table(`t${table}`), { event_ts: table, members: [1, 2 + table], properties: {} });
  await transaction.commit();
}

describe('a commit of many tables', () => {
  it('lets other work run between the tables, is seen whole, and is there after a restart', async () => {
    let us = 0;
    const scheduler = new CountingScheduler();
    const fs = simDisk();
    // Each look at the clock takes 0.3 ms, as an instance of the core does.
    const database = await openSim(fs, { core: 'release', nowUs: () => (us += 300), scheduler });
    for (let table = 0; table < 100; table++) await database.createTable({ name: `t${table}` });
    await insertInto(database, 32);
    expect(scheduler.commits).toBe(0);

    const rows = () => Array.from({ length: 100 }, (_, table) => database.table(`t${table}`).rowCount);
    const before = rows();
    const seen = new Set<string>();
    const commit = insertInto(database, 100);
    let isDone = false;
    void commit.then(() => (isDone = true));
    while (!isDone) {
      seen.add(rows().join());
      await new Promise(setImmediate);
    }
    expect(scheduler.commits).toBeGreaterThan(3);
    const after = before.map((count) => count + 1);
    expect(rows()).toEqual(after);
    for (const each of seen) expect([before.join(), after.join()]).toContain(each);
    await database.close();

    const again = await openSim(fs, { core: 'release' });
    expect(Array.from({ length: 100 }, (_, table) => again.table(`t${table}`).rowCount)).toEqual(after);
    await again.close();
  });
});
