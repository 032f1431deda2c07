// Checks that rows of segments and memtables are returned in key order and in large batches, even
// if they interleave.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Batches } from '../../src/query/executor/context.ts';
import { mergedScans } from '../../src/query/executor/rows/merged-scans.ts';
import { NO_ROWS, type RowSet } from '../../src/query/executor/rows/row-set.ts';
import { Random } from '../support/random.ts';
import { CopyPlace } from './copy-place.ts';
import { WITH_TURNS } from './door.ts';

const ROWS = 6000;

describe('a scan of a table with rows scattered in memory', () => {
  let place: CopyPlace;
  const expected: { id: number; event_ts: number; place: string }[] = [];
  beforeAll(async () => {
    place = await CopyPlace.open();
    await place.table('t');
    const edges = Array.from({ length: ROWS }, (_, row) => ({
      event_ts: Math.floor(row / 2),
      members: [row % 7, 100 + (row % 11)],
      properties: { n: row % 50, place: `p${row % 40}` },
    }));
    await place.insert('t', edges);
    await place.database.compact({});
    await place.run("UPDATE t SET place = 'changed ' + place WHERE id % 5 = 0");
    await place.run('DELETE FROM t WHERE id % 9 = 0');
    await place.run(
      "INSERT INTO t (event_ts, members, place) VALUES (0, [1], 'new'), (1500, [1], 'new'), (9999, [1], 'new')",
    );
    for (let id = 1; id <= ROWS; id++) {
      if (id % 9 === 0) continue;
      const text = `p${(id - 1) % 40}`;
      expected.push({ id, event_ts: Math.floor((id - 1) / 2), place: id % 5 === 0 ? `changed ${text}` : text });
    }
    for (const [index, event_ts] of [0, 1500, 9999].entries())
      expected.push({ id: ROWS + 1 + index, event_ts, place: 'new' });
    expected.sort((a, b) => a.event_ts - b.event_ts || a.id - b.id);
  });
  afterAll(() => place.close());

  test('returns the rows of each condition in order', async () => {
    const conditions: [text: string, test: (row: (typeof expected)[number]) => boolean][] = [
      ['e.event_ts % 7 = 3', ({ event_ts }) => event_ts % 7 === 3],
      ["e.place STARTS WITH 'changed'", ({ place: text }) => text.startsWith('changed')],
      ["e.place + '' <> 'p3'", ({ place: text }) => text !== 'p3'],
      ['e.id > 0', () => true],
      [
        'e.event_ts BETWEEN 700 AND 1500 AND e.id % 2 = 0',
        ({ id, event_ts: ts }) => ts >= 700 && ts <= 1500 && id % 2 === 0,
      ],
      ['e.event_ts < 20 OR e.event_ts > 2980', ({ event_ts }) => event_ts < 20 || event_ts > 2980],
      ["e.place = 'nowhere'", () => false],
    ];
    for (const [condition, holds] of conditions) {
      const rows = expected.filter(holds);
      const text = `MATCH (e:t) WHERE ${condition} RETURN e.id, e.event_ts, e.place`;
      const found = (await place.run(text)).rows;
      // With OR, the rows of the two windows are returned one window after the other.
      expect(condition.includes('OR') ? found.sort((a, b) => Number(a.event_ts) - Number(b.event_ts)) : found).toEqual(
        rows,
      );
      expect((await place.run(`${text} ORDER BY e.event_ts, e.id LIMIT 7`)).rows).toEqual(rows.slice(0, 7));
      const [counted] = (await place.run(`MATCH (e:t) WHERE ${condition} RETURN count(e.place) AS n`)).rows;
      expect(counted).toEqual({ n: rows.length });
    }
  });

  test('returns the rows in order in a transaction too', async () => {
    const statements = place.statements();
    const run = (text: string) => place.run(text, {}, {}, statements);
    await run('BEGIN');
    try {
      await run("UPDATE t SET place = 'mine' WHERE id % 50 = 1");
      const { rows } = await run("MATCH (e:t) WHERE e.place = 'mine' OR e.event_ts % 100 = 1 RETURN e.id");
      const mine = expected.filter(({ id, event_ts }) => id % 50 === 1 || event_ts % 100 === 1);
      expect(rows).toEqual(mine.map(({ id }) => ({ id })));
    } finally {
      await run('ROLLBACK');
    }
  });

  test('returns few batches', async () => {
    const statements = place.statements();
    const result = await statements.execute(
      statements.prepare("MATCH (e:t) WHERE e.place + '' <> 'p3' RETURN e.id, e.place"),
      {
        parameters: {},
        session: 's',
        slices: WITH_TURNS,
      },
    );
    let batches = 0;
    for (const chunk of result.steps) if (chunk !== null) batches += 1;
    expect(batches).toBeGreaterThan(0);
    expect(batches).toBeLessThan(30);
  });

  test('releases its snapshot if the caller stops early', async () => {
    await place.run('MATCH (e:t) WHERE e.event_ts % 7 = 3 RETURN e.id LIMIT 1');
    await place.database.compact({});
    const { rows } = await place.run('MATCH (e:t) WHERE e.id > 0 RETURN count(e.place) AS n');
    expect(rows).toEqual([{ n: expected.length }]);
  });
});

test.each([1, 2, 3, 4])('random streams are merged in order, with each row once (seed %i)', (seed) => {
  const random = new Random(seed);
  const keys = Array.from({ length: 500 }, (_, id) => ({ time: random.below(120), id }));
  const streams = [0, 1, 2].map((stream) =>
    keys.filter(({ id }) => id % 3 === stream || random.below(40) === stream - 3),
  );
  const order = (a: { time: number; id: number }, b: { time: number; id: number }) => a.time - b.time || a.id - b.id;
  const keeps = (id: number) => id % (1 + (seed % 3)) === 0;
  const scans = streams.map((rows) => blocksOf(rows.sort(order), random));
  const found: { time: number; id: number }[] = [];
  for (const set of mergedScans(scans, (block) => filtered(block, keeps)))
    if (set !== null) for (let row = 0; row < set.rows; row++) found.push({ time: set.times[row]!, id: set.ids[row]! });
  expect(found).toEqual(keys.filter(({ id }) => keeps(id)).sort(order));
});

function setOf(rows: readonly { time: number; id: number }[]): RowSet {
  const times = Float64Array.from(rows, ({ time }) => time);
  const ids = Float64Array.from(rows, ({ id }) => id);
  return { ...NO_ROWS, rows: rows.length, times, ids };
}

function* blocksOf(rows: readonly { time: number; id: number }[], random: Random): Batches<RowSet> {
  for (let from = 0; from < rows.length; ) {
    const to = from + random.below(20);
    yield random.below(5) === 0 ? null : setOf([]);
    if (to > from) yield setOf(rows.slice(from, to));
    from = to;
  }
}

/**
 * Yields the rows of a block that `keeps` accepts in small parts, like the filter of a heavy
 * statement.
 */
function* filtered(block: RowSet, keeps: (id: number) => boolean): Batches<RowSet> {
  const rows = Array.from(block.ids, (id, row) => ({ id, time: block.times[row]! })).filter(({ id }) => keeps(id));
  for (let from = 0; from < rows.length; from += 4) yield setOf(rows.slice(from, from + 4));
  yield null;
}
