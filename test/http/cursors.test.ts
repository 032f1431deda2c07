import { expect, test } from 'vitest';
import type { Database, Table } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { CursorRegistry } from '../../src/routes/cursors.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

/** Fakes the part of an engine that the registry needs, and counts pinned snapshots. */
function fakeEngine() {
  const state = { lastLsn: 1, pinned: 0 };
  const database = {
    isPinnedOver: false,
    isPinning: () => false,
    get lastLsn() {
      return state.lastLsn;
    },
    snapshot: () => {
      state.pinned += 1;
      return {
        lsn: state.lastLsn,
        release: () => {
          state.pinned -= 1;
        },
      };
    },
  } as unknown as Database;
  return { state, database, table: { name: 't', id: 1 } as Table };
}

const secret = new Uint8Array(32);
const last = { eventTs: 5, id: 7 };
const now = () => 0;
/** A table that holds no state but those that are pinned. */
const snapshotAt = () => undefined;

/** Resumes a cursor as a request does. */
function resume(cursors: CursorRegistry, token: string, table: Table, binding: string) {
  const place = cursors.read(token, table, binding);
  return { pin: cursors.resume(place, table), after: place.after };
}

test('a request without a next page leaves nothing pinned', () => {
  const { state, database, table } = fakeEngine();
  const cursors = new CursorRegistry({ now, secret, snapshotAt });
  cursors.release(cursors.pin(database, table));
  expect([state.pinned, cursors.size]).toEqual([0, 0]);
});

test('requests at the same log position share one snapshot', () => {
  const { state, database, table } = fakeEngine();
  const cursors = new CursorRegistry({ now, secret, snapshotAt });
  for (let i = 0; i < 50; i++) {
    const pin = cursors.pin(database, table);
    cursors.issue(pin, last, 'b', null);
    cursors.release(pin);
  }
  expect(state.pinned).toBe(1);
  state.lastLsn = 2;
  cursors.pin(database, table);
  expect(state.pinned).toBe(2);
});

test('idle snapshots are released, but a snapshot in use only after its request ends', () => {
  const { state, database, table } = fakeEngine();
  let nowMs = 0;
  const cursors = new CursorRegistry({ now: () => nowMs, secret, snapshotAt, idleMs: 100 });
  const pin = cursors.pin(database, table);
  const token = cursors.issue(pin, last, 'b', null);
  cursors.release(pin);
  nowMs = 60;
  const resumed = resume(cursors, token, table, 'b');
  expect(resumed.after).toEqual(last);
  nowMs = 300;
  cursors.sweep();
  expect(state.pinned).toBe(1);
  cursors.release(resumed.pin);
  cursors.sweep();
  expect(state.pinned).toBe(0);
  expect(() => resume(cursors, token, table, 'b')).toThrow(HedgerowError);
});

test('the number of snapshots is limited; the least recently used is released first', () => {
  const { state, database, table } = fakeEngine();
  const cursors = new CursorRegistry({ now, secret, snapshotAt, maxPinned: 3 });
  const tokens: string[] = [];
  for (let lsn = 1; lsn <= 4; lsn++) {
    state.lastLsn = lsn;
    if (lsn === 4) cursors.release(resume(cursors, tokens[0]!, table, 'b').pin);
    const pin = cursors.pin(database, table);
    tokens.push(cursors.issue(pin, last, 'b', null));
    cursors.release(pin);
  }
  expect(state.pinned).toBe(3);
  expect(() => resume(cursors, tokens[1]!, table, 'b')).toThrow('expired');
  cursors.release(resume(cursors, tokens[0]!, table, 'b').pin);
  cursors.close();
  expect(state.pinned).toBe(0);
});

test('a token is bound to its request and table', () => {
  const { database, table } = fakeEngine();
  const cursors = new CursorRegistry({ now, secret, snapshotAt });
  const token = cursors.issue(cursors.pin(database, table), { eventTs: -3, id: 9 }, 'b', null);
  expect(() => resume(cursors, token, table, 'other')).toThrow(HedgerowError);
  expect(() => resume(cursors, token, { name: 't', id: 2 } as Table, 'b')).toThrow(HedgerowError);
  expect(resume(cursors, token, table, 'b').after).toEqual({ eventTs: -3, id: 9 });
});

test('cursors are ended, least recently used first, when readers exceed their memory limit', async () => {
  const database = await openSim(simDisk(), { core: 'release', memoryBudgetBytes: 2 ** 20 });
  const table = database.table();
  const cursors = new CursorRegistry({ now, secret, snapshotAt });
  const tokens: string[] = [];
  const fill = async (): Promise<void> => {
    const bulk = table.bulk();
    for (let row = 0; row < 2000; row++) bulk.add({ event_ts: row, members: [row, row + 1] });
    await bulk.commit();
  };
  for (let round = 0; round < 4; round++) {
    await fill();
    const pin = cursors.pin(database, table);
    tokens.push(cursors.issue(pin, last, 'b', null));
    cursors.release(pin);
    expect(database.health().pinned_bytes).toBe(0);
    if (round < 3) continue;
    await database.compact({});
  }
  const { pinned_bytes, charged_bytes } = database.health();
  expect(pinned_bytes).toBeGreaterThan(2 ** 18);
  expect(charged_bytes).toBeGreaterThanOrEqual(pinned_bytes);
  expect(database.figures()).toMatchObject({ pinnedBytes: pinned_bytes, chargedBytes: charged_bytes });
  // A cursor in use keeps its snapshot. A snapshot of the current version is kept too, because its
  // release would free no memory.
  const running = resume(cursors, tokens[1]!, table, 'b').pin;
  const current = cursors.issue(cursors.pin(database, table), last, 'b', null);
  expect(() => resume(cursors, tokens[0]!, table, 'b')).toThrow('expired');
  // This one reads the same state as the newest snapshot, which took its place.
  cursors.release(resume(cursors, tokens[3]!, table, 'b').pin);
  cursors.release(resume(cursors, current, table, 'b').pin);
  cursors.release(running);
  cursors.relieve(database);
  expect(() => resume(cursors, tokens[1]!, table, 'b')).toThrow(HedgerowError);
  expect(database.health()).toMatchObject({ pinned_bytes: 0 });
  cursors.release(resume(cursors, current, table, 'b').pin);
  await database.close();
});

test('the memtables of a dropped table stay pinned until the cursor that reads them ends', async () => {
  const database = await openSim(simDisk(), { core: 'release' });
  const table = await database.createTable({ name: 'other' });
  await table.insert({ event_ts: 1, members: [1] });
  const cursors = new CursorRegistry({ now, secret, snapshotAt });
  const pin = cursors.pin(database, table);
  await database.dropTable('other');
  expect(database.health().pinned_bytes).toBeGreaterThan(0);
  cursors.release(pin);
  expect(database.health()).toMatchObject({ pinned_bytes: 0, charged_bytes: 0 });
  await database.close();
});

/** Pins a new snapshot for a key and returns the token of its cursor. */
function given(engine: ReturnType<typeof fakeEngine>, cursors: CursorRegistry, keyId: string | null): string {
  engine.state.lastLsn += 1;
  const pin = cursors.pin(engine.database, engine.table);
  const token = cursors.issue(pin, last, 'b', keyId);
  cursors.release(pin);
  return token;
}

function works(cursors: CursorRegistry, token: string, table: Table): boolean {
  try {
    cursors.release(resume(cursors, token, table, 'b').pin);
    return true;
  } catch {
    return false;
  }
}

test('one key holds at most 900 of the 1,000 snapshots and evicts no cursors of other keys', () => {
  const engine = fakeEngine();
  const { state, table } = engine;
  const cursors = new CursorRegistry({ now, secret, snapshotAt });
  const others = Array.from({ length: 100 }, () => given(engine, cursors, 'quiet'));
  const greedy = Array.from({ length: 2000 }, () => given(engine, cursors, 'greedy'));
  expect(state.pinned).toBe(1000);
  expect(others.filter((token) => works(cursors, token, table)).length).toBe(100);
  expect(greedy.filter((token) => works(cursors, token, table)).length).toBe(900);
  expect(greedy.slice(-900).every((token) => works(cursors, token, table))).toBe(true);
  // A third key gets its slots from the key that holds the most.
  const late = Array.from({ length: 50 }, () => given(engine, cursors, 'late'));
  for (const tokens of [late, others]) expect(tokens.every((token) => works(cursors, token, table))).toBe(true);
  expect(greedy.filter((token) => works(cursors, token, table)).length).toBe(850);
  cursors.close();
  expect(state.pinned).toBe(0);
});

test('a snapshot held by two keys stays pinned when one of them releases it', () => {
  const engine = fakeEngine();
  const { state, database, table } = engine;
  const cursors = new CursorRegistry({ now, secret, snapshotAt, maxPinnedOfKey: 2 });
  const pin = cursors.pin(database, table);
  const shared = cursors.issue(pin, last, 'b', 'greedy');
  cursors.issue(pin, last, 'b', 'quiet');
  cursors.release(pin);
  for (let i = 0; i < 5; i++) given(engine, cursors, 'greedy');
  expect(state.pinned).toBe(3);
  expect(works(cursors, shared, table)).toBe(true);
});

test('one client may hold all snapshots when there are no keys', () => {
  const engine = fakeEngine();
  const cursors = new CursorRegistry({ now, secret, snapshotAt });
  for (let i = 0; i < 1100; i++) given(engine, cursors, null);
  expect(engine.state.pinned).toBe(1000);
});
