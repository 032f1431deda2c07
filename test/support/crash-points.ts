// Runs a fixed history of changes on a simulated disk that stops at one of its writes or syncs, and
// looks at what the next process finds: every acknowledged change must be there, and every other
// change wholly or not at all.

import { expect, test } from 'vitest';
import type { Database, EngineOptions } from '../../src/engine/index.ts';
import { openSim } from './sim-engine.ts';
import { SimFs } from './sim-fs.ts';

/** Changes something that can be read. Changes are numbered in the order of the history. */
export type Change = (db: Database) => Promise<unknown>;
/** Work that changes nothing that can be read. */
export interface Work {
  work: Change;
}

export interface CrashHistory {
  /** The entries of one inner list run concurrently. */
  readonly steps: readonly (readonly (Change | Work)[])[];
  /** Returns everything that can be read, as text. */
  readonly stateOf: (db: Database) => string;
  /** Throws if a state is not sound in itself. */
  readonly check: (db: Database) => void;
  /** Makes one more change in a database that was recovered; `changes` of the history are in it. */
  readonly goOn?: (db: Database, changes: number) => Promise<unknown>;
}

export const AT_ONCE: Partial<EngineOptions> = { core: 'release', segmentRows: 4, logFileBytes: 5000 };

/** Returns options with which every commit runs in slices and yields after each step. */
function inSlices(): Partial<EngineOptions> {
  let us = 0;
  return { ...AT_ONCE, slicedOperations: 1, nowUs: () => (us += 10_000) };
}

export const compact: Work = { work: (db) => db.compact({}) };

function changesOf({ steps }: CrashHistory): Change[] {
  return steps.flat().filter((step) => typeof step === 'function');
}

/** Returns the states after each number of changes, from none to all. */
async function statesOf(history: CrashHistory): Promise<string[]> {
  const db = await openSim(new SimFs(1), AT_ONCE);
  const states = [history.stateOf(db)];
  for (const step of history.steps.flat()) {
    await (typeof step === 'function' ? step(db) : step.work(db));
    if (typeof step === 'function') states.push(history.stateOf(db));
  }
  history.check(db);
  await db.close();
  expect(new Set(states).size).toBe(changesOf(history).length + 1);
  return states;
}

/**
 * Runs the history on a disk that stops at its operation number `crashAt`, not counting opens and
 * reads. Returns the number of the last acknowledged change, counting from 1.
 */
async function runUntil(
  history: CrashHistory,
  fs: SimFs,
  crashAt: number,
  options: Partial<EngineOptions>,
): Promise<number> {
  const changes = changesOf(history);
  let acknowledged = 0;
  let operations = 0;
  fs.schedule = ({ kind }) => (kind !== 'open' && kind !== 'read' && ++operations === crashAt ? 'crash' : undefined);
  const run = async (): Promise<void> => {
    const db = await openSim(fs, options);
    for (const group of history.steps) {
      await Promise.all(
        group.map(async (step) => {
          if (typeof step !== 'function') return void (await step.work(db));
          await step(db);
          acknowledged = Math.max(acknowledged, changes.indexOf(step, acknowledged) + 1);
        }),
      );
    }
    await db.close();
  };
  await Promise.race([run().catch((error) => (fs.stopped ? undefined : Promise.reject(error))), fs.whenStopped]);
  return acknowledged;
}

/**
 * Checks that the state found is one of the states in the history, but none before the acknowledged
 * one, and that it survives a compaction, a further change and a restart. Returns its place.
 */
async function checkFound(
  history: CrashHistory,
  found: SimFs,
  states: readonly string[],
  acknowledged: number,
): Promise<number> {
  const { stateOf, check, goOn } = history;
  const db = await openSim(found, AT_ONCE);
  const state = stateOf(db);
  const place = states.indexOf(state);
  expect(place, state).toBeGreaterThanOrEqual(acknowledged);
  check(db);
  await db.compact({});
  expect(stateOf(db)).toBe(state);
  await goOn?.(db, place);
  check(db);
  const after = stateOf(db);
  const again = await openSim(found.crash(), AT_ONCE);
  expect(stateOf(again)).toBe(after);
  check(again);
  await again.close();
  return place;
}

/** A kind of end of the process, and of how many points one is tried. */
type Case = readonly [what: 'power loss' | 'kill', how: 'at once' | 'in slices', stride: number];

/**
 * Defines a test for each case. HEDGEROW_CRASH_POINTS=all tries every point; without it some are
 * left out.
 */
export function expectWholeChanges(history: CrashHistory, cases: readonly Case[]): void {
  const tryAll = process.env.HEDGEROW_CRASH_POINTS === 'all';
  test.each(cases)(
    '%s at writes and syncs leaves only whole changes (commits run %s, 1 of every %i points is tried)',
    async (what, how, stride) => {
      const states = await statesOf(history);
      const places = new Set<number>();
      let crashAt = 1;
      for (; ; crashAt += tryAll ? 1 : stride) {
        const fs = new SimFs(crashAt);
        const acknowledged = await runUntil(history, fs, crashAt, how === 'at once' ? AT_ONCE : inSlices());
        if (!fs.stopped) break;
        places.add(await checkFound(history, what === 'kill' ? fs.kill() : fs.crash(), states, acknowledged));
      }
      expect(crashAt).toBeGreaterThan(100);
      // How many points a change has depends on the pace of the machine: some may be passed over.
      const share = tryAll || stride === 1 ? 0.8 : 0.6;
      expect(places.size).toBeGreaterThan(changesOf(history).length * share);
    },
    300_000,
  );
}
