// Tests commits that are executed in slices: what others see and do between two slices, and what
// remains when a slice fails.

import { describe, expect, test } from 'vitest';
import { CoreMemtable } from '../../src/core/index.ts';
import type { Database, EngineOptions, Transaction } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { Scheduler } from '../../src/schedule/scheduler.ts';
import { Random } from '../support/random.ts';
import { openSim, PausingRunner, rowsOf, turn } from '../support/sim-engine.ts';
import { SimFs } from '../support/sim-fs.ts';
import { codeOf, fill, range } from '../support/sim-tables.ts';

/**
 * Returns options with a scheduler whose clock makes each step use up an event loop turn, so that
 * the number of steps per turn does not depend on the machine.
 */
function oneStepATurn(): Partial<EngineOptions> {
  let ms = 0;
  return { scheduler: new Scheduler(() => (ms += 10)) };
}

/** Returns options with which every commit yields after each of its steps. */
function inSlices(more: Partial<EngineOptions> = {}): Partial<EngineOptions> {
  let us = 0;
  return {
    core: 'release',
    slicedOperations: 1,
    nowUs: () => (us += 10_000),
    segmentRows: 4096,
    ...oneStepATurn(),
    ...more,
  };
}

const ROWS = 600;

/** Returns a database with a table of ROWS rows, of which the first half is in segments. */
async function filled(fs = new SimFs(1), more: Partial<EngineOptions> = {}): Promise<Database> {
  const db = await openSim(fs, inSlices(more));
  await fill(db.table(), range(0, ROWS / 2));
  await db.compact({});
  await fill(db.table(), range(ROWS / 2, ROWS));
  return db;
}

/** Stages a new weight for every row except each fifth row, which it deletes. */
function changed(db: Database, weight: number): Transaction {
  const table = db.table();
  const transaction = db.begin();
  for (const { id, event_ts, members } of rowsOf(table, {}, transaction.snapshotOf(table))) {
    const key = { eventTs: event_ts as number, id: id as number };
    if (key.id % 5 === 0) transaction.deleteRow(table, key);
    else
      transaction.changeRow(table, key, {
        event_ts: key.eventTs,
        members: members as number[],
        properties: { weight },
      });
  }
  return transaction;
}

function inserted(db: Database, count: number): Promise<unknown> {
  const bulk = db.table().bulk();
  for (const eventTs of range(0, count)) bulk.add({ event_ts: eventTs, members: [5], properties: { weight: 6 } });
  return bulk.commit();
}

/** Returns everything observable about the table at this moment. */
function told(db: Database): string {
  const table = db.table();
  const { rows, strategy } = table.estimate({ startTs: 5, endTs: 50 });
  return JSON.stringify({
    rows: rowsOf(table),
    columns: table.count({}),
    bounds: table.timeBounds({}),
    item: table.item(),
    total: db.health().total_records,
    changedLsn: table.changedLsn,
    estimate: [rows > 0, strategy],
  });
}

describe('a commit in slices', () => {
  test('is either wholly visible or not at all, at every moment', async () => {
    const db = await filled();
    const before = told(db);
    const commit = changed(db, 1).commit();
    let moments = 0;
    let after = told(db);
    for (; after === before; after = told(db)) {
      moments++;
      await turn();
    }
    expect(moments).toBeGreaterThan(5);
    const rows = rowsOf(db.table());
    expect(rows.length).toBe(ROWS * 0.8);
    expect(rows.every(({ weight }) => weight === 1)).toBe(true);
    expect(db.table().item().row_count).toBe(rows.length);
    await commit;
    expect(told(db)).toBe(after);
    await db.close();
  });

  test('has the same LSN and rows, and as many bytes in the log, as a commit made in one piece', async () => {
    const stateAfter = async (slicedOperations: number) => {
      const fs = new SimFs(1);
      const db = await filled(fs, { slicedOperations });
      const { lsn } = await changed(db, 2).commit();
      const rows = rowsOf(db.table());
      const bytes = db.wal().size_bytes;
      await db.close();
      const again = await openSim(fs, inSlices());
      expect(rowsOf(again.table())).toEqual(rows);
      await again.close();
      return { lsn, rows, bytes };
    };
    expect(await stateAfter(1)).toEqual(await stateAfter(1e9));
  });

  test('does not disturb readers that began before it', async () => {
    const db = await filled();
    const pinned = db.begin({ pinned: true });
    const snapshot = db.snapshot(db.table());
    const before = rowsOf(db.table());
    const commit = changed(db, 3).commit();
    await turn();
    const during = db.begin({ pinned: true });
    expect(rowsOf(db.table(), {}, during.snapshotOf(db.table()))).toEqual(before);
    await commit;
    for (const seen of [snapshot, pinned.snapshotOf(db.table()), during.snapshotOf(db.table())])
      expect(rowsOf(db.table(), {}, seen)).toEqual(before);
    snapshot.release();
    for (const [transaction, eventTs] of [
      [pinned, 2],
      [during, 3],
    ] as const) {
      transaction.deleteRow(db.table(), { eventTs, id: eventTs + 1 });
      expect(await codeOf(transaction.commit())).toBe('conflict');
    }
    await db.close();
  });

  test('makes every other write wait, including those that arrive later', async () => {
    const db = await filled();
    const table = db.table();
    const ended: string[] = [];
    const note = async (name: string, work: Promise<unknown>) => {
      await work;
      ended.push(name);
    };
    const commit = note('commit', changed(db, 4).commit());
    await turn();
    const small = db.begin();
    small.insert(table, { event_ts: 7000, members: [1] });
    const others = [
      note('insert', table.insert({ event_ts: 7001, members: [1] })),
      note('delete', table.delete(4, [4, 104])),
      note('transaction', small.commit()),
      note('bulk', fill(table, [7002])),
      note('create', db.createTable({ name: 'other' })),
      note('document', db.documents.change([{ store: 's', id: 'a', value: 1 }])),
      note('compaction', db.compact({})),
      note(
        'second',
        changed(db, 5)
          .commit()
          .catch(() => undefined),
      ),
    ];
    await Promise.all([commit, ...others]);
    expect(ended[0]).toBe('commit');
    expect(ended.length).toBe(9);
    const times = rowsOf(table).map(({ event_ts }) => event_ts);
    expect(times.filter((time) => (time as number) >= 7000)).toEqual([7000, 7001, 7002]);
    expect(times).not.toContain(4);
    await db.close();
  });

  test.each([
    ['changes', (db: Database) => changed(db, 6).commit(), ROWS * 0.8],
    ['inserts', (db: Database) => inserted(db, 6000), ROWS + 6000],
  ])(
    'never overlaps a compaction when it %s rows, and no manifest contains a part of it',
    async (_, commit, rows) => {
      for (let moment = -10; moment < 12; moment++) {
        const fs = new SimFs(1);
        const runner = new PausingRunner(fs, turn);
        const db = await filled(fs, { runner });
        const begin = [() => commit(db), () => db.compact({}), () => db.createIndex('hyperedges', 'weight')];
        const [first, ...others] = moment < 0 ? begin.reverse() : begin;
        const begun = [first!()];
        for (let count = 0; count < Math.abs(moment); count++) await turn();
        await Promise.all([...begun, ...others.map((other) => other())]);
        const found = rowsOf(db.table());
        expect(found.length).toBe(rows);
        expect(new Set(found.map(({ id }) => id)).size).toBe(rows);
        await db.close();
        const again = await openSim(fs.crash(), inSlices());
        expect(rowsOf(again.table())).toEqual(found);
        await again.close();
      }
    },
    120_000,
  );

  test('conflicts with a commit made after its reads, and leaves nothing behind', async () => {
    const db = await filled();
    const late = changed(db, 7);
    await changed(db, 8).commit();
    const before = told(db);
    expect(await codeOf(late.commit())).toBe('conflict');
    expect(told(db)).toBe(before);
    expect(db.table().updates.size).toBe(0);
    await db.table().insert({ event_ts: 1, members: [1] });
    await db.close();
  });

  test('assigns unique ids to new rows', async () => {
    const db = await filled();
    const table = db.table();
    const bulk = table.bulk();
    for (const eventTs of range(0, 200)) bulk.add({ event_ts: eventTs, members: [9] });
    const inserted = bulk.commit();
    await turn();
    const [{ firstId, lastId }, ...rows] = await Promise.all([
      inserted,
      ...range(0, 5).map((eventTs) => table.insert({ event_ts: eventTs, members: [8] })),
    ]);
    expect(lastId - firstId).toBe(199);
    for (const { row } of rows) expect(row.id).toBeGreaterThan(lastId);
    const ids = rowsOf(table).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ROWS + 205);
    await db.close();
  });
});

describe('a failing commit in slices', () => {
  test('makes the database refuse writes if the log fails, is never visible, and is gone after a restart', async () => {
    const fs = new SimFs(1);
    const db = await filled(fs);
    const before = rowsOf(db.table());
    // Only syncs of log files fail. Syncs that reserve space succeed: after a failed reservation
    // nothing would have been written, and the log would continue.
    const isOfLog = (path: string) => /\/log-0/.test(path);
    fs.schedule = ({ kind, path }) => (kind === 'datasync' && isOfLog(path) ? { code: 'EIO' } : undefined);
    expect(await codeOf(changed(db, 9).commit())).toBe('log_failed');
    expect(rowsOf(db.table())).toEqual(before);
    expect(await codeOf(db.table().insert({ event_ts: 1, members: [1] }))).toBe('log_failed');
    await db.close().catch(() => undefined);
    fs.schedule = () => undefined;
    const again = await openSim(fs.crash(), inSlices());
    const weights = new Set(rowsOf(again.table()).map(({ weight }) => weight));
    expect(weights.size).toBe(1);
    await again.close();
  });

  test('makes the database refuse writes if it cannot be applied, is not visible, and is whole after a restart', async () => {
    const fs = new SimFs(1);
    const db = await filled(fs);
    const before = rowsOf(db.table());
    const { append } = CoreMemtable.prototype;
    CoreMemtable.prototype.append = () => {
      throw new HedgerowError('overloaded', 'no memory');
    };
    try {
      expect(await codeOf(changed(db, 10).commit())).toBe('log_failed');
    } finally {
      CoreMemtable.prototype.append = append;
    }
    expect(rowsOf(db.table())).toEqual(before);
    expect(await codeOf(db.table().insert({ event_ts: 1, members: [1] }))).toBe('log_failed');
    expect(await codeOf(db.compact({}))).toBe('log_failed');
    await db.close();
    const again = await openSim(fs, inSlices());
    const rows = rowsOf(again.table());
    expect([rows.length, new Set(rows.map(({ weight }) => weight))]).toEqual([ROWS * 0.8, new Set([10])]);
    await again.close();
  });

  test('changes nothing if it fails because the database closes', async () => {
    const fs = new SimFs(1);
    const db = await filled(fs);
    const commits = [changed(db, 11).commit(), changed(db, 12).commit()].map(codeOf);
    await db.close();
    const codes = await Promise.all(commits);
    const again = await openSim(fs, inSlices());
    const weights = [...new Set(rowsOf(again.table()).map(({ weight }) => weight))];
    expect(weights.length).toBe(1);
    expect(weights[0] === 11).toBe(codes[0] === 'none');
    await again.close();
  });
});

test('few rows with long texts are also committed in slices of bounded size, and survive a restart', async () => {
  const fs = new SimFs(1);
  const db = await openSim(fs, { core: 'release', ...oneStepATurn() });
  const table = db.table();
  await fill(table, range(0, 4));
  const transaction = db.begin();
  const [kept, gone] = rowsOf(table, {}, transaction.snapshotOf(table)) as {
    id: number;
    event_ts: number;
    members: number[];
  }[];
  const text = (row: number) => `${row}`.padEnd(20_000, 'x');
  const own: number[] = [];
  for (const row of range(0, 200))
    own.push(
      transaction.insert(table, { event_ts: 1000 + row, members: [7], properties: { formation: text(row) } }).id,
    );
  transaction.changeRow(
    table,
    { eventTs: kept!.event_ts, id: kept!.id },
    { ...kept!, properties: { formation: text(1) } },
  );
  transaction.deleteRow(table, { eventTs: gone!.event_ts, id: gone!.id });
  // This row is the transaction's own, and in a later piece of the commit.
  transaction.deleteRow(table, { eventTs: 1150, id: own[150]! });
  const commit = transaction.commit();
  let moments = 0;
  for (; table.rowCount === 4; moments++) await turn();
  // 4 MB are planned, logged and applied in pieces of half a MB.
  expect(moments).toBeGreaterThan(8);
  await commit;
  expect(table.rowCount).toBe(4 + 200 - 2);
  const rows = rowsOf(table);
  const formations = rows.filter(({ event_ts }) => (event_ts as number) >= 1000).map(({ formation }) => formation);
  expect(formations).toEqual(
    range(0, 200)
      .filter((row) => row !== 150)
      .map(text),
  );
  expect(rows.find(({ id }) => id === kept!.id)!.formation).toBe(text(1));
  await db.close();
  const again = await openSim(fs, { core: 'release' });
  expect(rowsOf(again.table())).toEqual(rows);
  await again.compact({});
  expect(rowsOf(again.table())).toEqual(rows);
  await again.close();
});

test('many random commits, in slices and in one piece, leave the same rows as a plain model', async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Random(seed);
    const fs = new SimFs(seed);
    let us = 0;
    const open = () =>
      openSim(fs, {
        core: 'release',
        slicedOperations: 1 + random.below(40),
        nowUs: () => (us += random.below(4000)),
        segmentRows: 16,
      });
    let db = await open();
    const model = new Map<number, number>();
    for (let step = 0; step < 30; step++) {
      const dice = random.below(10);
      if (dice === 0) await db.compact({});
      else if (dice === 1) {
        await db.close();
        db = await open();
      } else await Promise.all(range(0, 1 + random.below(3)).map(() => commitSome(db, model, random)));
      const rows = rowsOf(db.table()).map(({ id, weight }) => [id, weight]);
      expect(new Map(rows as [number, number][]), `seed ${seed}, step ${step}`).toEqual(model);
    }
    await db.close();
  }
});

/** Commits one transaction. The model applies it when it is acknowledged, in LSN order. */
async function commitSome(db: Database, model: Map<number, number>, random: Random): Promise<void> {
  const table = db.table();
  const transaction = db.begin({ pinned: random.chance(0.5) });
  const changes: [id: number, weight: number | undefined][] = [];
  for (const row of rowsOf(table, {}, transaction.snapshotOf(table))) {
    if (random.chance(0.6)) continue;
    const key = { eventTs: row.event_ts as number, id: row.id as number };
    const weight = random.below(1000);
    if (random.chance(0.3)) {
      transaction.deleteRow(table, key);
      changes.push([key.id, undefined]);
    } else {
      const eventTs = random.chance(0.5) ? key.eventTs : random.below(300);
      transaction.changeRow(table, key, { event_ts: eventTs, members: [1], properties: { weight } });
      changes.push([key.id, weight]);
    }
  }
  for (let count = random.below(30); count > 0; count--) {
    const weight = random.below(1000);
    const { id } = transaction.insert(table, { event_ts: random.below(300), members: [2], properties: { weight } });
    changes.push([id, weight]);
  }
  try {
    await transaction.commit();
  } catch (error) {
    expect((error as HedgerowError).code).toBe('conflict');
    return;
  }
  for (const [id, weight] of changes) {
    if (weight === undefined) model.delete(id);
    else model.set(id, weight);
  }
}
