import { describe, expect, test } from 'vitest';
import { type Database, type Snapshot, snapshotAt, type Table } from '../../src/engine/index.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

function rowsOf(table: Table, snapshot?: Snapshot): string {
  const scan = table.scan({ format: 'ndjson' }, snapshot);
  const parts: string[] = [];
  for (let part = scan.next(); part !== null; part = scan.next()) parts.push(Buffer.from(part).toString());
  return parts.join('');
}

/** Does something at random; returns true if the table may forget its older states by it. */
async function change(database: Database, table: Table, random: Random, round: number): Promise<boolean> {
  const eventTs = random.below(40);
  const members = [1 + random.below(3), 5];
  const kind = random.below(20);
  if (kind < 9) await table.insert({ event_ts: eventTs, members });
  else if (kind < 13) await table.delete(eventTs, members);
  else if (kind < 16) {
    const bulk = table.bulk();
    for (let row = 0; row < 30; row++) bulk.add({ event_ts: random.below(40), members });
    await bulk.commit();
  } else if (kind < 18) await database.createTable({ name: `other_${round}` });
  else if (kind === 18) {
    await database.compact({});
    return true;
  } else {
    await database.alterTable(table.name, {
      kind: 'addColumn',
      column: { name: `c${round}`, type: 'INTEGER', default: null },
    });
    return true;
  }
  return false;
}

describe('a snapshot of an older state', () => {
  test.each([1, 2, 3, 4, 5, 6])('has the rows of that moment, or is not held any more (seed %i)', async (seed) => {
    const random = new Random(seed);
    const database = await openSim(simDisk(), { core: 'debug' });
    const table = database.table();
    let states = new Map<number, string>();
    let older = new Map<number, string>();
    let shown = 0;
    for (let round = 0; round < 120; round++) {
      if (await change(database, table, random, round)) {
        older = new Map([...older, ...states]);
        states = new Map();
      }
      states.set(database.lastLsn, rowsOf(table));
      for (const [lsn, rows] of [...states].filter(() => random.chance(0.2))) {
        const snapshot = snapshotAt(table, lsn);
        expect(snapshot, `LSN ${lsn} at ${database.lastLsn}`).toBeDefined();
        expect(rowsOf(table, snapshot)).toBe(rows);
        snapshot!.release();
        shown++;
      }
      for (const [lsn, rows] of older) {
        if (states.has(lsn)) continue;
        const snapshot = snapshotAt(table, lsn);
        if (snapshot === undefined) continue;
        expect(rowsOf(table, snapshot)).toBe(rows);
        snapshot.release();
      }
    }
    expect(shown).toBeGreaterThan(50);
    expect(table.openSnapshots).toBe(0);
    await database.close();
  });

  test('is not held after a compaction, a new column, a restart, or the end of its table', async () => {
    const disk = simDisk();
    let database = await openSim(disk);
    let table = database.table();
    const isHeld = (lsn: number) => {
      const snapshot = snapshotAt(table, lsn);
      snapshot?.release();
      return snapshot !== undefined;
    };
    const insert = async () => (await table.insert({ event_ts: 1, members: [1] })).lsn;
    const first = await insert();
    const second = await insert();
    expect([isHeld(first), isHeld(second)]).toEqual([true, true]);
    await database.compact({});
    expect([isHeld(first), isHeld(second)]).toEqual([false, true]);
    const third = await insert();
    await database.alterTable(table.name, { kind: 'addColumn', column: { name: 'n', type: 'INTEGER', default: null } });
    expect([isHeld(third), isHeld(database.lastLsn)]).toEqual([false, true]);
    const fourth = await insert();
    await insert();
    await database.close();
    database = await openSim(disk);
    table = database.table();
    expect([isHeld(fourth), isHeld(database.lastLsn)]).toEqual([false, true]);
    const other = await database.createTable({ name: 'other' });
    table = other;
    const { lsn } = await other.insert({ event_ts: 1, members: [1] });
    await database.dropTable('other');
    expect(isHeld(lsn)).toBe(false);
    await database.close();
  });
});
