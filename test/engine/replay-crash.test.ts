// Loses power or kills the process at writes and syncs of the disk. Afterwards a write and its
// stored answer must both be there or both be absent, and of documents that are changed together
// all or none must have changed. HEDGEROW_CRASH_POINTS=all tries every point; without it some are
// left out.

import { expect, test } from 'vitest';
import type { Attach, Database, EngineOptions } from '../../src/engine/index.ts';
import { openSim, rowsOf } from '../support/sim-engine.ts';
import { SimFs } from '../support/sim-fs.ts';

interface Step {
  /** Undefined if the step changes nothing that can be read. */
  id?: string;
  run: (db: Database) => Promise<unknown>;
}

const NOW_MS = 1_000_000_000_000;
const OPTIONS: Partial<EngineOptions> = { core: 'release', replayLimits: { fileBytes: 500 }, logFileBytes: 5000 };

function keep<T>(id: string): Attach<T> {
  const about = { id, bodyHash: 'h', status: 200, contentType: 'application/json', at: NOW_MS };
  return (outcome) => ({ ...about, body: JSON.stringify(outcome ?? null) });
}

function insert(id: string, eventTs: number, table?: string): Step {
  return { id, run: (db) => db.table(table).insert({ event_ts: eventTs, members: [1, 2] }, keep(id)) };
}

function transaction(id: string): Step {
  const run = (db: Database): Promise<unknown> => {
    const tx = db.begin();
    tx.insert(db.table(), { event_ts: 30, members: [3] });
    tx.delete(db.table(), 30, [3]);
    tx.insert(db.table(), { event_ts: 31, members: [3] });
    tx.delete(db.table(), 2, [1, 2]);
    return tx.commit(keep(id));
  };
  return { id, run };
}

function bulk(id: string, from: number): Step {
  const run = (db: Database): Promise<unknown> => {
    const edges = db.table().bulk();
    for (let i = 0; i < 12; i++) edges.add({ event_ts: from + i, members: [i, 100 + i] });
    return edges.commit(keep(id));
  };
  return { id, run };
}

function documents(id: string, value: number | null): Step {
  const changes = ['a', 'b', `only ${id}`].map((name) => ({ store: 's', id: name, value }));
  return { id, run: (db) => db.documents.change(changes, keep(id)) };
}

const compact: Step = { run: (db) => db.compact({}) };
/** Gives a compaction something to do. */
const TOUCH: Step = { run: (db) => db.table().insert({ event_ts: 9, members: [9] }) };

/** The steps in one inner list run concurrently, and are started in this order. */
const HISTORY: Step[][] = [
  [insert('i1', 1)],
  [insert('i2', 2), insert('i3', 3), bulk('b1', 10)],
  [documents('d1', 1)],
  [compact, insert('i4', 4), { id: 'x1', run: (db) => db.table().delete(1, [1, 2], keep('x1')) }, transaction('t1')],
  [{ id: 'c1', run: (db) => db.createTable({ name: 'other' }, keep('c1')) }],
  [insert('o1', 1, 'other'), bulk('b2', 40)],
  [documents('d2', 2)],
  [{ id: 's1', run: (db) => db.replays.store(keep('s1')('stored')) }],
  [compact, insert('i5', 5), insert('o2', 2, 'other')],
  [{ id: 'h1', run: (db) => db.setCompactThreshold(500, undefined, keep('h1')) }],
  [{ id: 'p1', run: (db) => db.dropTable('other', keep('p1')) }],
  [insert('i6', 6), transaction('t2')],
  [documents('d3', null)],
  [compact],
];
const STEPS = HISTORY.flat().filter((step) => step.id !== undefined);

/** Returns everything that can be read, as text. */
function stateOf(db: Database): string {
  const tables = db.tables().map((table) => [table.definition, rowsOf(table)]);
  const answers = STEPS.map(({ id }) => db.replays.find(id!)?.body ?? null);
  return JSON.stringify([tables, db.documents.entries('s'), answers]);
}

/** Returns the states before the first step and after each step that has an `id`. */
async function statesOf(): Promise<string[]> {
  const db = await openSim(new SimFs(1), OPTIONS);
  const states = [stateOf(db)];
  for (const step of HISTORY.flat()) {
    await step.run(db);
    if (step.id !== undefined) states.push(stateOf(db));
  }
  await db.close();
  expect(new Set(states).size).toBe(STEPS.length + 1);
  return states;
}

/**
 * Runs the history on a disk that stops at its operation number `crashAt`, not counting opens and
 * reads. Returns the number of the last acknowledged step, counting from 1 those with an `id`.
 */
async function runUntil(
  fs: SimFs,
  crashAt: number,
  history: readonly Step[][],
  options: Partial<EngineOptions> = OPTIONS,
): Promise<number> {
  const steps = history.flat().filter((step) => step.id !== undefined);
  let acknowledged = 0;
  let changes = 0;
  fs.schedule = ({ kind }) => (kind !== 'open' && kind !== 'read' && ++changes === crashAt ? 'crash' : undefined);
  const run = async (): Promise<void> => {
    const db = await openSim(fs, options);
    for (const group of history) {
      const done = group.map((step) =>
        step.run(db).then(() => {
          if (step.id !== undefined) acknowledged = Math.max(acknowledged, steps.indexOf(step) + 1);
        }),
      );
      await Promise.all(done);
    }
    await db.close();
  };
  await Promise.race([run().catch((error) => (fs.stopped ? undefined : Promise.reject(error))), fs.whenStopped]);
  return acknowledged;
}

/**
 * Checks that the state is one of the states in the history, but none before the acknowledged one,
 * and that the state survives a compaction and another restart.
 */
async function check(found: SimFs, states: readonly string[], acknowledged: number): Promise<number> {
  let fs = found;
  let db = await openSim(fs, OPTIONS);
  const state = stateOf(db);
  const place = states.indexOf(state);
  expect(place, state).toBeGreaterThanOrEqual(acknowledged);
  await db.table().insert({ event_ts: 1000, members: [9] }, keep('after'));
  await db.table().delete(1000, [9]);
  await db.compact({});
  expect(stateOf(db)).toBe(state);
  expect(db.replays.find('after')).toBeDefined();
  await db.replays.store(keep('more')('more'));
  fs = fs.crash();
  db = await openSim(fs, OPTIONS);
  expect(stateOf(db)).toBe(state);
  expect(db.replays.find('after')).toBeDefined();
  expect(db.replays.find('more')).toBeDefined();
  await db.close();
  return place;
}

/** Returns the disk found after the crash. */
async function diskAfter(what: string, fs: SimFs, crashAt: number): Promise<SimFs> {
  if (what === 'power loss') return fs.crash();
  const next = fs.kill();
  if (what === 'kill') return next;
  // Another process opens the disk, but the power fails after a few of its operations.
  const more = crashAt % 40;
  next.schedule = ({ index }) => (index === more ? 'crash' : undefined);
  const opened = openSim(next, OPTIONS).then(() => undefined);
  await Promise.race([opened.catch((error) => (next.stopped ? undefined : Promise.reject(error))), next.whenStopped]);
  return next.crash();
}

/** Returns the distance between the crash points that are tried. */
function strideOf(what: string): number {
  if (process.env.HEDGEROW_CRASH_POINTS === 'all') return 1;
  return what === 'power loss' ? 2 : 4;
}

const CRASHES = ['power loss', 'kill', 'kill, then power loss'];

test.each(CRASHES)(
  '%s at writes and syncs leaves every write together with its answer, or neither',
  async (what) => {
    const states = await statesOf();
    const places = new Set<number>();
    let crashAt = 1;
    for (; ; crashAt += strideOf(what)) {
      const fs = new SimFs(crashAt);
      const acknowledged = await runUntil(fs, crashAt, HISTORY);
      if (!fs.stopped) break;
      places.add(await check(await diskAfter(what, fs, crashAt), states, acknowledged));
    }
    expect(crashAt).toBeGreaterThan(100);
    // Concurrent steps often become durable together, so fewer states are found than there are
    // steps.
    expect(places.size).toBeGreaterThan(STEPS.length * 0.8);
  },
  120_000,
);

test.each(CRASHES)(
  '%s at writes and syncs, while old files are removed, leaves the newest answers',
  async (what) => {
    const limits = { ...OPTIONS, replayLimits: { fileBytes: 200, entries: 6 } };
    const stores = Array.from({ length: 16 }, (_, i) => ({
      id: `n${i}`,
      run: (db: Database) => db.replays.store(keep(`n${i}`)(i)),
    }));
    const history: Step[][] = stores.flatMap((step, i) => (i % 3 === 2 ? [[step], [TOUCH, compact]] : [[step]]));
    let crashAt = 1;
    let removed = 0;
    for (; ; crashAt += strideOf(what)) {
      const fs = new SimFs(crashAt);
      const acknowledged = await runUntil(fs, crashAt, history, limits);
      if (!fs.stopped) break;
      const found = await diskAfter(what, fs, crashAt);
      const db = await openSim(found, limits);
      const there = stores.map(({ id }) => db.replays.find(id) !== undefined);
      const newest = there.lastIndexOf(true);
      expect(newest + 1).toBeGreaterThanOrEqual(acknowledged);
      const kept = there.slice(Math.max(0, newest - 5), newest + 1);
      expect(kept.every(Boolean), `crash ${crashAt}: ${there}`).toBe(true);
      await db.close();
      removed = Math.max(removed, newest);
    }
    expect(removed).toBe(stores.length - 1);
  },
  120_000,
);

test.each(CRASHES)(
  '%s at writes and syncs, while bodies are dropped and files are rewritten, leaves every key',
  async (what) => {
    const limits = { ...OPTIONS, replayLimits: { fileBytes: 2000, bodyBytes: 3000 }, logFileBytes: 2 ** 16 };
    const body = (i: number) => `${i}`.padEnd(1000, '.');
    const stores = Array.from({ length: 18 }, (_, i) => ({
      id: `n${i}`,
      run: (db: Database) => db.replays.store({ ...keep(`n${i}`)(i), body: body(i) }),
    }));
    const history: Step[][] = stores.flatMap((step, i) => (i % 4 === 3 ? [[step], [TOUCH, compact]] : [[step]]));
    let rewritten = 0;
    for (let crashAt = 1; ; crashAt += strideOf(what)) {
      const fs = new SimFs(crashAt);
      const acknowledged = await runUntil(fs, crashAt, history, limits);
      if (!fs.stopped) break;
      const db = await openSim(await diskAfter(what, fs, crashAt), limits);
      const found = stores.map(({ id }) => db.replays.find(id));
      const known = found.findLastIndex((each) => each !== undefined) + 1;
      expect(known, `crash ${crashAt}`).toBeGreaterThanOrEqual(acknowledged);
      // All keys up to the newest are known, and the last three still have their bodies.
      const bodies = found.slice(0, known).map((each) => each?.body);
      const expected = Array.from({ length: known }, (_, i) => (i < known - 3 ? null : body(i)));
      expect(bodies, `crash ${crashAt}`).toEqual(expected);
      expect(db.replays.damagedUntil).toBeNull();
      if (known > 12) rewritten++;
      await db.close();
    }
    expect(rewritten).toBeGreaterThan(5);
  },
  120_000,
);
