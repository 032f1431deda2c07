// Tests how the work of groups and of DISTINCT is divided into steps: what is read and what is
// added to a table or list between two pauses.

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { TextSink } from '../../src/core/index.ts';
import { Scan } from '../../src/engine/scan/scan.ts';
import { Collect } from '../../src/query/executor/folds/accumulators.ts';
import { ValueIds } from '../../src/query/executor/rows/value-ids.ts';
import type { StatementResult } from '../../src/query/result.ts';
import { CopyPlace } from './copy-place.ts';

const ROWS = 9000;

let place: CopyPlace;
beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  const edges = Array.from({ length: ROWS }, (_, row) => ({
    event_ts: row,
    members: [row],
    properties: { place: `p${row % 700}` },
  }));
  await place.insert('t', edges);
  await place.database.compact();
});
afterAll(() => place.close());
afterEach(() => {
  vi.restoreAllMocks();
});

function begun(text: string): Promise<StatementResult> {
  const statements = place.statements();
  const slices = () => Promise.reject(new Error('a read needs no slices'));
  return statements.execute(statements.prepare(text), { parameters: {}, session: 's', slices });
}

test.each([
  'MATCH (e:t) RETURN e.place, collect(e.id) AS ids',
  'MATCH (e:t) RETURN collect(e.place) AS places, collect(e.id) AS ids',
  'MATCH (e:t) RETURN e.place, count(DISTINCT e.id % 7) AS n, collect(e.id) AS ids',
])('rows are read, and each key and list is added, in steps of their own: %s', async (text) => {
  const read = vi.spyOn(TextSink.prototype, 'clear');
  const keys = vi.spyOn(ValueIds.prototype, 'idsOf');
  const lists = vi.spyOn(Collect.prototype, 'add');
  const calls = () => read.mock.calls.length + keys.mock.calls.length + lists.mock.calls.length;
  const result = await begun(text);
  let before = calls();
  let most = 0;
  for (const _ of result.steps) {
    most = Math.max(most, calls() - before);
    before = calls();
  }
  expect(most).toBe(1);
  expect(lists.mock.calls.reduce((sum, [, , count]) => sum + count, 0)).toBe(
    ROWS * (text.match(/collect/g)?.length ?? 0),
  );
});

test.each([
  'MATCH (e:t) RETURN DISTINCT e.members, e.place',
  'MATCH (e:t) RETURN DISTINCT e.members, e.place ORDER BY e.place',
])('rows are read, and each value of DISTINCT is looked up, in steps of their own: %s', async (text) => {
  const read = vi.spyOn(Scan.prototype, 'next');
  const values = vi.spyOn(ValueIds.prototype, 'idsOf');
  const result = await begun(text);
  let calls = 0;
  let most = 0;
  for (const _ of result.steps) {
    const before = calls;
    calls = read.mock.calls.length + values.mock.calls.length;
    most = Math.max(most, calls - before);
  }
  expect(most).toBe(1);
  expect(values.mock.calls.length).toBeGreaterThan(4);
});

test('few rows are added to a table or list at first', async () => {
  const keys = vi.spyOn(ValueIds.prototype, 'idsOf');
  await place.run('MATCH (e:t) RETURN e.place, collect(e.id) AS ids');
  const counts = keys.mock.calls.map(([, count]) => count);
  expect(counts[0]).toBeLessThan(2000);
  expect(Math.max(...counts)).toBeGreaterThan(2 * counts[0]!);
});
