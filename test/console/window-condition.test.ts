import { expect, test } from 'vitest';
import { momentOf, withMoment } from '../../src/console/query/moment-condition.ts';
import { windowOf, withWindow } from '../../src/console/query/window-condition.ts';

const window = { start: 10, end: 20 };
const IN = 'e.event_ts BETWEEN 10 AND 20';

test.each([
  ['a condition comes before RETURN', 'MATCH (e:t) RETURN e', `MATCH (e:t) WHERE ${IN} RETURN e`],
  ['line breaks are kept', 'MATCH (e:t)\nRETURN *\nLIMIT 5', `MATCH (e:t)\nWHERE ${IN}\nRETURN *\nLIMIT 5`],
  [
    'other conditions are kept',
    'MATCH (e:t) WHERE e.weight > 1 RETURN e',
    `MATCH (e:t) WHERE ${IN} AND e.weight > 1 RETURN e`,
  ],
  ['OR is put in brackets', 'MATCH (e:t) WHERE a OR b RETURN e', `MATCH (e:t) WHERE ${IN} AND (a OR b) RETURN e`],
  [
    'an older window is replaced',
    'MATCH (e:t) WHERE e.event_ts between 1 and -2 RETURN e',
    `MATCH (e:t) WHERE ${IN} RETURN e`,
  ],
  [
    'keywords in texts are ignored',
    "MATCH (e:t) WHERE e.formation = 'RETURN' RETURN e",
    `MATCH (e:t) WHERE ${IN} AND e.formation = 'RETURN' RETURN e`,
  ],
  [
    'keywords in comments are ignored',
    'MATCH (e:t) // WHERE RETURN\nRETURN e',
    `MATCH (e:t) // WHERE RETURN\nWHERE ${IN}\nRETURN e`,
  ],
  ['names in backquotes are kept', 'MATCH (e:`order`) RETURN e', `MATCH (e:\`order\`) WHERE ${IN} RETURN e`],
  ['HYPEREDGE is accepted after MATCH', 'MATCH HYPEREDGE (e:t) RETURN e', `MATCH HYPEREDGE (e:t) WHERE ${IN} RETURN e`],
  ['EXPLAIN is accepted before MATCH', 'EXPLAIN MATCH (e:t) RETURN e', `EXPLAIN MATCH (e:t) WHERE ${IN} RETURN e`],
  ['other statements are unchanged', 'SHOW TABLES', 'SHOW TABLES'],
  ['incomplete statements are unchanged', 'MATCH (e', 'MATCH (e'],
])('the window condition is written correctly: %s', (_name, before, after) => {
  expect(withWindow(before, window)).toBe(after);
});

test.each(['MATCH (e:t) RETURN e', 'MATCH (e:t)\nRETURN *\nLIMIT 5', 'MATCH (e:t) WHERE e.weight > 1 RETURN e'])(
  'selecting all of time removes the window condition from %s again',
  (statement) => {
    expect(withWindow(withWindow(statement, window), undefined)).toBe(statement);
  },
);

test('a window at the end of the conditions is removed together with its AND', () => {
  expect(withWindow(`MATCH (e:t) WHERE e.weight > 1 AND ${IN} RETURN e`, undefined)).toBe(
    'MATCH (e:t) WHERE e.weight > 1 RETURN e',
  );
});

test('the window of a statement is that of its first pattern, if it is written in seconds', () => {
  expect(windowOf(`MATCH (e:t) WHERE ${IN} RETURN e`)).toEqual(window);
  expect(
    windowOf('MATCH (e:t), (f:t) WHERE f.event_ts BETWEEN 1 AND 2 AND e.event_ts between -5 and 6 RETURN e'),
  ).toEqual({ start: -5, end: 6 });
  expect(windowOf("MATCH (e:t) WHERE e.event_ts BETWEEN '2024-01-01' AND '2024-02-01' RETURN e")).toBe(undefined);
  expect(windowOf("MATCH (e:t) WHERE e.formation = 'e.event_ts BETWEEN 1 AND 2' RETURN e")).toBe(undefined);
  expect(windowOf('SHOW TABLES')).toBe(undefined);
});

test.each([
  ['MATCH (e:t) RETURN e', 'MATCH (e:t) WHERE holds(e, 30) RETURN e'],
  [`MATCH (e:t) WHERE ${IN}\nRETURN *`, `MATCH (e:t) WHERE holds(e, 30) AND ${IN}\nRETURN *`],
  [
    'MATCH (e:t) WHERE Holds ( e , -7 ) AND e.weight > 1 RETURN e',
    'MATCH (e:t) WHERE holds(e, 30) AND e.weight > 1 RETURN e',
  ],
  ["MATCH (e:t) WHERE holds(e, '2024-05-02') RETURN e", 'MATCH (e:t) WHERE holds(e, 30) RETURN e'],
  ['MATCH (e:t) WHERE holds(e, $t) RETURN e', 'MATCH (e:t) WHERE holds(e, 30) AND holds(e, $t) RETURN e'],
  ['MATCH (e:t) WHERE NOT holds(e, 5) RETURN e', 'MATCH (e:t) WHERE holds(e, 30) AND NOT holds(e, 5) RETURN e'],
  ['MATCH (e:t), (f:t) WHERE holds(f, 5) RETURN e', 'MATCH (e:t), (f:t) WHERE holds(e, 30) AND holds(f, 5) RETURN e'],
  [
    "MATCH (e:t) WHERE e.note = 'holds(e, 5)' RETURN e",
    "MATCH (e:t) WHERE holds(e, 30) AND e.note = 'holds(e, 5)' RETURN e",
  ],
  ['SHOW TABLES', 'SHOW TABLES'],
])('a moment is written into %s', (before, after) => {
  expect(withMoment(before, 30)).toBe(after);
});

test.each(['MATCH (e:t) RETURN e', `MATCH (e:t)\nWHERE ${IN}\nRETURN *`, 'MATCH (e:t) WHERE a OR b RETURN e'])(
  'any time removes the moment from %s again',
  (statement) => {
    const without = withMoment(withMoment(statement, 30), undefined);
    expect(without.replace('(a OR b)', 'a OR b')).toBe(statement);
    expect(withWindow(withMoment(statement, 30), undefined)).not.toContain('BETWEEN');
  },
);

test('the moment of a statement is that of its first pattern, in seconds or as a time', () => {
  expect(momentOf('MATCH (e:t) WHERE holds(e, -30) RETURN e')).toBe(-30);
  expect(momentOf("MATCH (e:t) WHERE e.a = 'x' AND holds(e, '1970-01-02') RETURN e")).toBe(86_400);
  expect(momentOf('MATCH (e:t) WHERE holds(e, "1970-01-01 00:01:00Z") RETURN e')).toBe(60);
  expect(momentOf("MATCH (e:t) WHERE holds(e, 'soon') RETURN e")).toBe(undefined);
  for (const other of ['holds(f, 5)', 'NOT holds(e, 5)', 'holds(e, $t)', 'holds(e, f.event_ts)', "e.a = 'holds(e, 5)'"])
    expect(momentOf(`MATCH (e:t), (f:t) WHERE ${other} RETURN e`), other).toBe(undefined);
  expect(momentOf('SHOW TABLES')).toBe(undefined);
});
