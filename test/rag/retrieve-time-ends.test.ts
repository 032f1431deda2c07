// Compares the first and last times in a window, which `timeEnds` finds with few reads, with those
// that the engine finds by reading every row in memory.

import { expect, it } from 'vitest';
import type { Table } from '../../src/engine/index.ts';
import { EdgeReader } from '../../src/rag/retrieval/edge-rows.ts';
import { timeEnds } from '../../src/rag/retrieval/time-ends.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { insert } from './retrieval-world.ts';

const ROWS = 18_000;
const GAP = 1000;

function endsOf(table: Table, startTs: number | undefined, endTs: number | undefined) {
  const snapshot = table.snapshot();
  const reader = new EdgeReader(table, snapshot, { members: false, columns: new Set() });
  const steps = timeEnds(reader, startTs, endTs);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  snapshot.release();
  return step.value;
}

it('the ends of any window are the times of its first and last live row', async () => {
  const database = await openSim(simDisk(), { core: 'release', segmentRows: 5000 });
  const table = database.table('hyperedges');
  // Two periods of time with a gap in between.
  const timeOf = (row: number) => (row < ROWS / 2 ? row : row + GAP);
  const rows = Array.from({ length: ROWS }, (_, row) => ({ event_ts: timeOf(row), members: [row % 5] }));
  await insert(table, rows);
  const random = new Random(5);
  const expectSame = () => {
    for (let i = 0; i < 60; i++) {
      const startTs = random.chance(0.2) ? undefined : random.below(ROWS + 2 * GAP) - 50;
      const endTs = random.chance(0.2) ? undefined : (startTs ?? 0) + random.below(2 * GAP);
      const what = `from ${startTs} to ${endTs}`;
      expect(endsOf(table, startTs, endTs), what).toEqual(table.timeBounds({ startTs, endTs }));
    }
  };
  expectSame();
  for (const row of [...Array(40).keys(), ...Array.from({ length: 300 }, (_, i) => ROWS - 1 - i)])
    await table.delete(timeOf(row), [row % 5]);
  expect(endsOf(table, undefined, undefined)).toEqual({ least: 40, greatest: timeOf(ROWS - 301) });
  expectSame();
  await database.compact();
  await insert(table, rows);
  expectSame();
});
