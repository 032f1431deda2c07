// Checks estimates for a table that is not in memory. Planning must not read the table to find out
// how to read it.

import { expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import type { ScanBounds } from '../../src/engine/types.ts';
import { openSim } from '../support/sim-engine.ts';
import { SimFs } from '../support/sim-fs.ts';
import { range } from '../support/sim-tables.ts';

const ROWS = 960;
const SEGMENTS = 40;

/** Returns a freshly opened database that has no segment in memory. */
async function cold(fs: SimFs): Promise<Database> {
  const options = { core: 'release', segmentRows: ROWS / SEGMENTS } as const;
  if (!fs.exists('/db')) {
    const db = await openSim(fs, options);
    const bulk = db.table().bulk();
    for (const time of range(0, ROWS))
      bulk.add({ event_ts: time, members: [time % 3, 1000 + time], properties: { weight: time % 8 } });
    await bulk.commit();
    await db.compact({});
    expect(db.table().version.segments.length).toBeGreaterThanOrEqual(SEGMENTS);
    await db.close();
  }
  return openSim(fs, options);
}

const node: ScanBounds = { nodes: [1] };
const weights: ScanBounds = { where: [{ column: 'weight', low: 2, high: 3 }] };
const most: ScanBounds = { startTs: 5, endTs: ROWS - 5, nodes: [1] };
const rare: ScanBounds = { nodes: [1500] };

test.each([
  ['a node', node, ROWS / 3],
  ['a node in a window', most, ROWS / 3],
  ['values without an index order', weights, ROWS / 3],
  ['a node of one edge', rare, 1],
])('estimates for %s load at most two segments and are about right', async (_, request, rows) => {
  const fs = new SimFs(1);
  const db = await cold(fs);
  const before = fs.counts.open;
  const estimate = db.table().estimate(request);
  expect(fs.counts.open - before).toBeLessThanOrEqual(2);
  expect(estimate.rows).toBeGreaterThanOrEqual(rows * 0.7);
  expect(estimate.rows).toBeLessThanOrEqual(rows * 1.3);
  expect(estimate.bucketsScanned).toBeGreaterThan(0);
  expect(estimate.bucketsScanned).toBeLessThanOrEqual(estimate.totalBuckets);
  await db.close();
});

test('estimates are exact for rows in memory', async () => {
  const db = await cold(new SimFs(1));
  const scan = db.table().scan({ format: 'json' });
  while (scan.next() !== null);
  expect(db.table().estimate(node).rows).toBe(ROWS / 3);
  await db.close();
});

test('finding the first and the last live row loads at most two segments, however many rows are dead', async () => {
  const fs = new SimFs(1);
  let db = await cold(fs);
  const transaction = db.begin();
  for (const time of [...range(0, 400), ...range(500, ROWS)])
    transaction.deleteRow(db.table(), { eventTs: time, id: time + 1 });
  await transaction.commit();
  await db.close();
  db = await cold(fs);
  const before = fs.counts.open;
  expect(db.table().timeBounds({})).toEqual({ least: 400, greatest: 499 });
  expect(fs.counts.open - before).toBeLessThanOrEqual(2);
  expect(db.table().timeBounds({ startTs: 410, endTs: 700 })).toEqual({ least: 410, greatest: 499 });
  expect(db.table().timeBounds({ endTs: 399 })).toBeUndefined();
  await db.close();
});
