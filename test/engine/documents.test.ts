// Tests documents stored in the log and the manifest, and the LSN and tag that change with a table.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { installManifest, readManifest } from '../../src/storage/manifest.ts';
import { crc32c } from '../support/crc32c.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { codeOf } from '../support/sim-tables.ts';

let fs: SimFs;
let db: Database;

beforeEach(async () => {
  fs = simDisk();
  db = await openSim(fs);
});

async function reopen(): Promise<void> {
  await db.close();
  db = await openSim(fs);
}

async function crash(): Promise<void> {
  fs = fs.crash();
  db = await openSim(fs);
}

describe('documents', () => {
  test('are read by store and id, in the order in which they were first stored', async () => {
    const { documents } = db;
    await documents.change([
      { store: 'keys', id: 'b', value: { role: 'admin' } },
      { store: 'keys', id: 'a', value: [1, 'two', false] },
      { store: 'rules', id: 'b', value: 7 },
    ]);
    await documents.change([{ store: 'keys', id: 'b', value: { role: 'readonly' } }]);
    expect(documents.get('keys', 'a')).toEqual([1, 'two', false]);
    expect(documents.entries('keys')).toEqual([
      ['b', { role: 'readonly' }],
      ['a', [1, 'two', false]],
    ]);
    expect(documents.entries('rules')).toEqual([['b', 7]]);
    expect(documents.get('keys', 'c')).toBeUndefined();
    expect(documents.entries('nothing')).toEqual([]);
  });

  test.each(['reopen', 'crash', 'compaction and crash'])('survive: %s', async (what) => {
    const { documents } = db;
    for (let i = 0; i < 20; i++) await documents.change([{ store: 's', id: `d${i}`, value: { i, text: 'ä"\n' } }]);
    await documents.change([{ store: 's', id: 'd3', value: null }]);
    const expected = documents.entries('s');
    if (what === 'reopen') await reopen();
    else if (what === 'crash') await crash();
    else {
      await db.table().insert({ event_ts: 1, members: [1] });
      await db.compact({});
      await db.documents.change([
        { store: 's', id: 'd4', value: null },
        { store: 's', id: 'd4', value: 'again' },
      ]);
      const after = db.documents.entries('s');
      await crash();
      expect(db.documents.entries('s')).toEqual(after);
      expect(after.at(-1)).toEqual(['d4', 'again']);
      await db.compact({});
      await crash();
      expect(db.documents.entries('s')).toEqual(after);
      return;
    }
    expect(db.documents.entries('s')).toEqual(expected);
    expect(expected).toHaveLength(19);
  });

  test('are visible together when they were changed together, and only once they are durable', async () => {
    const { documents } = db;
    let syncs = 0;
    fs.schedule = ({ kind }) => {
      if (kind === 'datasync') syncs++;
      return undefined;
    };
    const before = db.lastLsn;
    const done = documents.change([
      { store: 's', id: 'a', value: 1 },
      { store: 's', id: 'b', value: 2 },
    ]);
    expect(documents.entries('s')).toEqual([]);
    expect(await done).toBe(before + 2);
    expect(syncs).toBeGreaterThan(0);
    expect(documents.entries('s')).toHaveLength(2);
  });

  test("are copied, so that later changes to the caller's object have no effect", async () => {
    const value = { list: [1] };
    const done = db.documents.change([{ store: 's', id: 'a', value }]);
    value.list.push(2);
    await done;
    expect(db.documents.get('s', 'a')).toEqual({ list: [1] });
  });

  test('are refused if JSON cannot represent them, and nothing of their change is kept', async () => {
    const lsn = db.lastLsn;
    for (const value of [undefined, () => 1, Symbol('x')]) {
      const change = db.documents.change([
        { store: 's', id: 'good', value: 1 },
        { store: 's', id: 'bad', value },
      ]);
      expect(await codeOf(change)).toBe('invalid_input');
    }
    expect(db.documents.entries('s')).toEqual([]);
    expect(db.lastLsn).toBe(lsn);
    expect(await db.documents.change([])).toBe(lsn);
  });

  test('are not visible if the log refuses them', async () => {
    fs.schedule = ({ kind }) => (kind === 'datasync' ? { code: 'EIO' } : undefined);
    expect(await codeOf(db.documents.change([{ store: 's', id: 'a', value: 1 }]))).toBe('log_failed');
    expect(db.documents.get('s', 'a')).toBeUndefined();
    expect(await codeOf(db.documents.change([{ store: 's', id: 'b', value: 1 }]))).toBe('log_failed');
  });
});

describe('the manifest', () => {
  test('may be of an older version, without documents and stored answers', async () => {
    await db.table().insert({ event_ts: 1, members: [1] });
    await db.compact({});
    await db.close();
    const document = readManifest(fs, '/db', crc32c) as Record<string, unknown>;
    expect(document.documents).toEqual([]);
    delete document.documents;
    delete document.replays;
    await installManifest(fs, '/db', crc32c, document);
    db = await openSim(fs);
    expect(rowsOf(db.table())).toHaveLength(1);
    await db.documents.change([{ store: 's', id: 'a', value: 1 }]);
    await crash();
    expect(db.documents.get('s', 'a')).toBe(1);
  });

  test('is refused without any log file, with advice on what to do', async () => {
    await db.table().insert({ event_ts: 1, members: [1] });
    await db.compact({});
    await db.close();
    for (const name of fs.list('/db/log')) await fs.remove(`/db/log/${name}`);
    const refused = openSim(fs);
    expect(await codeOf(refused)).toBe('corrupt');
    await expect(refused).rejects.toThrow(/\/db\/log is corrupt at offset 0: there is no log file.*Restore/);
  });
});

describe('the LSN and the tag of a table', () => {
  test('change with every change of its rows or its definition, and with nothing else', async () => {
    const table = db.table();
    const other = await db.createTable({ name: 'other' });
    expect(other.changedLsn).toBe(db.lastLsn);
    const seen = [table.changedLsn];
    const step = async (run: () => Promise<unknown>, moves: boolean): Promise<void> => {
      await run();
      expect(table.changedLsn > seen.at(-1)!).toBe(moves);
      seen.push(table.changedLsn);
    };
    await step(() => table.insert({ event_ts: 1, members: [1] }), true);
    await step(() => other.insert({ event_ts: 1, members: [1] }), false);
    await step(() => table.delete(1, [1]), true);
    await step(() => db.compact({}), false);
    await step(() => db.documents.change([{ store: 's', id: 'a', value: 1 }]), false);
    await step(() => db.setCompactThreshold(5, table.name), true);
    await step(() => db.setCompactThreshold(5, other.name), false);
    const bulk = table.bulk();
    for (let i = 0; i < 3; i++) bulk.add({ event_ts: i, members: [2] });
    await step(() => bulk.commit(), true);
    const transaction = db.begin();
    transaction.insert(table, { event_ts: 9, members: [1] });
    transaction.insert(other, { event_ts: 9, members: [1] });
    await step(() => transaction.commit(), true);
    expect(other.changedLsn).toBe(table.changedLsn + 1);
  });

  test('reflect rows inserted after a change of the definition that is not yet durable', async () => {
    const table = db.table();
    const index = db.setCompactThreshold(7, table.name);
    const insert = new Promise<number>((resolve, reject) => {
      queueMicrotask(() => table.insert({ event_ts: 1, members: [1] }).then(({ lsn }) => resolve(lsn), reject));
    });
    await Promise.all([index, insert]);
    expect(table.changedLsn).toBe(await insert);
    expect(table.changedLsn).toBe(db.lastLsn);
  });

  test('are never the same for two states, neither before the newer one is durable nor after a restart', async () => {
    const states = new Map<string, string>();
    const note = (): void => {
      const table = db.table();
      const state = JSON.stringify([rowsOf(table), table.definition]);
      expect(states.get(table.contentTag) ?? state).toBe(state);
      states.set(table.contentTag, state);
    };
    for (let round = 0; round < 6; round++) {
      const running = [
        db.table().insert({ event_ts: round, members: [round] }),
        db.setCompactThreshold(1000 + round),
        db.table().insert({ event_ts: 100 + round, members: [round] }),
        db.table().delete(round - 1, [round - 1]),
      ];
      let busy = true;
      void Promise.all(running).then(() => {
        busy = false;
      });
      while (busy) {
        note();
        await null;
        await new Promise(setImmediate);
      }
      note();
      if (round === 3) await db.compact({ ttlSeconds: 1_000_000_000 - 30 });
      note();
      if (round % 2 === 0) await crash();
      else await reopen();
      note();
    }
    expect(states.size).toBeGreaterThan(6);
  });

  test('change when a compaction with a TTL drops rows', async () => {
    await db.table().insert({ event_ts: 1, members: [1] });
    const tags = [db.table().contentTag];
    await db.compact({});
    expect(db.table().contentTag).toBe(tags[0]);
    await db.compact({ ttlSeconds: 10 });
    expect(rowsOf(db.table())).toEqual([]);
    tags.push(db.table().contentTag);
    await db.compact({ ttlSeconds: 10 });
    expect(db.table().contentTag).toBe(tags[1]);
    await crash();
    expect(tags[1]).not.toBe(tags[0]);
    expect(db.table().contentTag).not.toBe(tags[0]);
  });
});

describe('whenVisible', () => {
  function withTimers(): { timers: { at: number; run: () => void }[]; open: () => Promise<Database> } {
    const timers: { at: number; run: () => void }[] = [];
    const schedule = (run: () => void, at: number): void => void timers.push({ at, run });
    return { timers, open: () => openSim(simDisk(), { schedule, nowUs: () => 0 }) };
  }

  test('resolves to true at once for visible writes, and otherwise when the write becomes visible', async () => {
    const { timers, open } = withTimers();
    const database = await open();
    expect(await database.whenVisible(database.lastLsn, 0)).toBe(true);
    expect(timers).toHaveLength(0);
    const waits = [1, 2].map((more) => database.whenVisible(database.lastLsn + more, 5000));
    await database.table().insert({ event_ts: 1, members: [1] });
    expect(await waits[0]).toBe(true);
    await database.table().insert({ event_ts: 1, members: [1] });
    expect(await waits[1]).toBe(true);
  });

  test('resolves to false at the timeout, and one timer serves many waits', async () => {
    const { timers, open } = withTimers();
    const database = await open();
    const ends: number[] = [];
    const waits = [50, 30, 50, 70].map(async (timeout, index) => {
      expect(await database.whenVisible(database.lastLsn + 1, timeout)).toBe(false);
      ends.push(index);
    });
    expect(timers.map((timer) => timer.at)).toEqual([50, 30]);
    timers[1]!.run();
    await waits[1];
    expect(timers.map((timer) => timer.at)).toEqual([50, 30, 50]);
    timers[0]!.run();
    timers[2]!.run();
    await waits[0];
    await waits[2];
    timers[3]!.run();
    await Promise.all(waits);
    expect(ends).toEqual([1, 0, 2, 3]);
    expect(timers).toHaveLength(4);
    expect(await database.whenVisible(database.lastLsn + 1, 0)).toBe(false);
  });

  test('resolves to false at once when the log fails or the database closes', async () => {
    const waiting = db.whenVisible(db.lastLsn + 100, 5000);
    fs.schedule = ({ kind }) => (kind === 'datasync' ? { code: 'EIO' } : undefined);
    await codeOf(db.table().insert({ event_ts: 1, members: [1] }));
    expect(await waiting).toBe(false);
    expect(await db.whenVisible(db.lastLsn + 1, 5000)).toBe(false);
    const { open } = withTimers();
    const database = await open();
    const closing = database.whenVisible(database.lastLsn + 1, 5000);
    await database.close();
    expect(await closing).toBe(false);
    expect(await database.whenVisible(database.lastLsn + 1, 5000)).toBe(false);
  });
});

test('compacting all tables skips a table that is dropped meanwhile', async () => {
  const table = await db.createTable({ name: 'zebra' });
  await table.insert({ event_ts: 1, members: [1] });
  await db.table().insert({ event_ts: 1, members: [1] });
  const all = db.compact({});
  const one = db.compact({ table: 'zebra' });
  const dropped = db.dropTable('zebra');
  const late = db.compact({ table: 'zebra' });
  expect((await all).tables).toEqual(['hyperedges']);
  expect((await all).wal_pending_after).toBe(0);
  await dropped;
  expect((await one).tables).toEqual(['zebra']);
  expect(await codeOf(late)).toBe('table_not_found');
});

describe('a log that contains only documents and stored answers', () => {
  const options = { logFileBytes: 8192, core: 'release' } as const;

  test('is truncated, and the database then opens with everything it contained', async () => {
    const notices: string[] = [];
    fs = simDisk();
    db = await openSim(fs, { ...options, notice: (message) => void notices.push(message) });
    await db.table().insert({ event_ts: 1, members: [1] });
    let greatest = 0;
    for (let i = 0; i < 600; i++) {
      await db.documents.change([{ store: 's', id: `${i % 3}`, value: { i, text: 'x'.repeat(500) } }]);
      greatest = Math.max(greatest, db.wal().size_bytes);
    }
    expect(greatest).toBeGreaterThan(8 * 8192);
    expect(greatest).toBeLessThan(11 * 8192);
    expect(new Set(notices)).toEqual(new Set(['compacting: the log has passed its limit']));
    expect(db.table().pending).toBe(0);
    await crash();
    expect(db.documents.entries('s').map(([, value]) => (value as { i: number }).i)).toEqual([597, 598, 599]);
  });

  test('is not compacted again and again without effect', async () => {
    const notices: string[] = [];
    fs = simDisk();
    db = await openSim(fs, { ...options, notice: (message) => void notices.push(message) });
    await db.table().insert({ event_ts: 1, members: [1] });
    fs.schedule = ({ kind, path }) => (kind === 'open' && path.includes('/tables/') ? { code: 'EIO' } : undefined);
    for (let i = 0; i < 600; i++)
      await db.documents.change([{ store: 's', id: 'a', value: { i, text: 'x'.repeat(500) } }]);
    expect(notices.filter((notice) => notice === 'a compaction to shorten the log failed').length).toBeLessThan(5);
    expect(notices.length).toBeGreaterThan(1);
  });
});
