// Tests plans of EXISTS and how much they read, and the limits of its syntax. The answers are
// tested with random statements (random.test.ts, duckdb.test.ts) and golden files.

import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { runMatch } from '../../src/query/executor/run-match.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import type { ExistsPart, MatchPlan } from '../../src/query/planner/plan.ts';
import { contextOf, runPlan } from './execute.ts';
import { planOf, shown } from './plan-world.ts';

const match = (condition: string, outer = '(a:Contact)') => planOf(`MATCH ${outer} WHERE ${condition} RETURN count(*)`);

function partsOf(plan: MatchPlan, index = 0): readonly ExistsPart[] {
  return [...plan.exists.values()][index]!.parts;
}

/** Returns the strategies of each part, step by step. */
function strategies(condition: string, index = 0): string[] {
  return partsOf(match(condition), index).map((part) =>
    part.op === 'once' ? 'once' : part.steps.map(({ strategy }) => strategy).join(', '),
  );
}

/** Returns the windows of the patterns of the first EXISTS. */
function windows(condition: string, outer?: string): string[] {
  return partsOf(match(condition, outer)).flatMap((part) =>
    part.op === 'semi' ? part.steps.map(({ right }) => right.paths.map(shown).join(' | ') || 'nothing') : [],
  );
}

/** Runs a plan and returns its one value, the buckets that were read, and rows by operator. */
function run(plan: MatchPlan) {
  const context = contextOf(plan, {}, true);
  let value: unknown;
  for (const chunk of runMatch(plan, context)) {
    const vector = chunk?.items[0];
    if (vector?.kind === 'value') [value] = vector.values;
    else if (vector?.kind === 'number') [value] = vector.values;
    else if (vector?.kind === 'constant') value = vector.value;
  }
  return { value, buckets: context.bucketsScanned, rows: (node: object) => context.figures!.get(node)?.rows ?? 0 };
}

describe('the plan of an EXISTS', () => {
  it.each([
    ['EXISTS ((b:Contact) WHERE b.n = a.n)', ['HASH_JOIN']],
    ['EXISTS ((b:Contact) WHERE b.n + 1 = a.n AND b.event_ts > a.event_ts)', ['HASH_JOIN']],
    ['EXISTS ((b:Contact) WHERE b.event_ts BETWEEN a.event_ts AND a.event_ts + 60)', ['TEMPORAL_JOIN']],
    ['NOT EXISTS ((b:Contact) WHERE follows(b, a, 9) AND b.place <> a.place)', ['TEMPORAL_JOIN']],
    ['EXISTS ((b:Contact) WHERE intersects(a, b) AND a.n = b.n)', ['MEMBER_JOIN']],
    ['EXISTS ((b:Contact) WHERE a.n IN b.members)', ['MEMBER_JOIN']],
    ['EXISTS ((b:Contact) WHERE b.n IN a.members AND a.n = b.n)', ['MEMBER_JOIN']],
    ['EXISTS ((b:Contact) WHERE b.n < a.n)', ['NESTED_LOOP']],
    ['EXISTS ((b:Contact) WHERE b.n < 5)', ['once']],
    ['EXISTS ((b:Contact) WHERE a.n < 5 AND b.n < 5)', ['once']],
    ['EXISTS ((b:Contact), (c:Trip) WHERE b.n = a.n AND c.n = a.n)', ['HASH_JOIN', 'HASH_JOIN']],
    ['EXISTS ((b:Contact), (c:Trip) WHERE b.n = a.n AND shared(b, c) > 1)', ['HASH_JOIN, MEMBER_JOIN']],
    ['EXISTS ((b:Contact), (c:Trip) WHERE b.n = a.n AND c.n = 3)', ['once', 'HASH_JOIN']],
    ['EXISTS ((b:Contact), (c:Trip) WHERE b.n = c.n)', ['once']],
  ])('of %s is %j', (condition, expected) => {
    expect(strategies(condition)).toEqual(expected);
  });

  it('depends on the rows outside if only an EXISTS inside it does', () => {
    const condition = 'EXISTS ((b:Small) WHERE NOT EXISTS ((c:Small) WHERE c.n = b.n AND c.n < a.n))';
    expect(strategies(condition)).toEqual(['NESTED_LOOP']);
    expect(strategies(condition, 1)).toEqual(['HASH_JOIN']);
  });

  it('has windows that follow from those outside, but the windows outside stay as they are', () => {
    const near = 'b.event_ts BETWEEN a.event_ts AND a.event_ts + 60';
    expect(windows(`EXISTS ((b:Contact) WHERE ${near}) AND a.event_ts BETWEEN 100 AND 200`)).toEqual(['100..260']);
    expect(windows(`a.n = 1 OR NOT EXISTS ((b:Contact) WHERE bucket(a) = bucket(b)) AND a.n > 3`)).toEqual([
      'everything',
    ]);
    const plan = match(`NOT EXISTS ((b:Contact) WHERE ${near} AND b.event_ts < 50) AND a.event_ts < 900`);
    expect(plan.input).toMatchObject({ op: 'existsFilter', input: { paths: [{ endTs: 899 }] } });
    const [part] = partsOf(plan);
    expect(part!.op === 'semi' && part!.steps[0]!.right.paths.map(shown)).toEqual(['..49']);
  });

  it('keeps the order of an index, and ends when there are enough rows', () => {
    const plan = planOf(
      'MATCH (a:Contact) WHERE EXISTS ((b:Small) WHERE b.n <> a.n) RETURN a.id ORDER BY a.event_ts, a.id LIMIT 2',
    );
    expect(plan.order).toBe('index');
    expect(runPlan(plan, {}).rows).toEqual(['{"id":1}', '{"id":2}']);
    const { rows } = run(plan);
    expect(rows((plan.input as { input: object }).input)).toBeLessThan(200);
  });
});

describe('an EXISTS reads no more than it must', () => {
  it('of the patterns inside if no condition connects them: it stops at the first row', () => {
    const plan = match('EXISTS ((b:Contact) WHERE b.n >= 0 AND b.place <> $none)'.replace('$none', "'x'"), '(a:Small)');
    const { value, rows } = run(plan);
    expect(value).toBe(6);
    const [part] = partsOf(plan);
    expect(rows((part as Extract<ExistsPart, { op: 'once' }>).input)).toBeLessThan(200);
  });

  it.each(['EXISTS ((b:Small) WHERE b.n = 77)', 'NOT EXISTS ((b:Small))', 'NOT NOT EXISTS ((b:Small) WHERE b.n = 77)'])(
    'of the rows outside if %s is false',
    (condition) => {
      const plan = match(condition);
      const { value, rows } = run(plan);
      expect(value).toBe(0);
      expect(rows((plan.input as { input: object }).input)).toBe(0);
    },
  );

  it.each([
    ['b.place = a.place', 'HASH_JOIN'],
    ['overlaps(a, b, 5000)', 'TEMPORAL_JOIN'],
    ['intersects(a, b)', 'MEMBER_JOIN'],
    ['b.n <> a.n', 'NESTED_LOOP'],
  ])('of the candidates if the first ones match: %s', (condition, strategy) => {
    const plan = match(`EXISTS ((b:Contact) WHERE ${condition})`);
    const [part] = partsOf(plan);
    const [step] = (part as Extract<ExistsPart, { op: 'semi' }>).steps;
    expect(step!.strategy).toBe(strategy);
    const { value, rows } = run(plan);
    expect(value).toBe(200);
    // Each of the 200 rows has at least 20 candidates. One common member counts twice at most.
    expect(rows(step!)).toBeLessThanOrEqual(600);
  });

  it('in an OR of the rows for which another condition is true', () => {
    const plan = match('a.n >= 5 OR EXISTS ((b:Small) WHERE b.n < a.n) OR a.n + 0 = 4');
    const [part] = partsOf(plan);
    const [step] = (part as Extract<ExistsPart, { op: 'semi' }>).steps;
    const { value, rows } = run(plan);
    // Rows 1, 2 and 3 have a match, and row 0 has none.
    expect(value).toBe(199);
    expect(rows(step!)).toBe(3);
  });
});

describe('the syntax of EXISTS', () => {
  const refusal = (text: string): string => {
    try {
      planOf(text);
    } catch (error) {
      if (error instanceof HedgerowError) return error.message;
      throw error;
    }
    return 'accepted';
  };
  const nested = (levels: number) => {
    let condition = 'p0.n = 1';
    for (let level = 1; level <= levels; level++)
      condition = `EXISTS ((p${level}:Small) WHERE p${level}.n = 1 AND ${condition})`;
    return `MATCH (p0:Small) WHERE ${condition} RETURN p0.id`;
  };

  it('allows 30 patterns in a statement', () => {
    expect(refusal(nested(29))).toBe('accepted');
    expect(runPlan(planOf(nested(29)), {}).rows).toEqual(['{"id":2}']);
    expect(refusal(nested(30))).toContain('at most 30 patterns');
    const beside = Array.from({ length: 29 }, () => 'EXISTS ((b:Small) WHERE b.n = a.n)').join(' AND ');
    expect(runPlan(match(beside, '(a:Small)'), {}).rows).toEqual(['{"count(*)":6}']);
    expect(refusal(`MATCH (a:Small) WHERE ${beside} OR EXISTS ((b:Small)) RETURN a.id`)).toContain(
      'at most 30 patterns',
    );
  });

  it('allows 16 patterns in one EXISTS', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `(b${i}:Small)`).join(', ');
    expect(refusal(`MATCH (a:Small) WHERE EXISTS (${many(16)}) RETURN a.id`)).toBe('accepted');
    expect(refusal(`MATCH (a:Small) WHERE EXISTS (${many(17)}) RETURN a.id`)).toContain(
      'an EXISTS has at most 16 patterns',
    );
  });

  it('refuses to be nested too deeply', () => {
    expect(refusal(nested(101))).toContain('nested in more than 100');
  });

  it('leaves the word free as the name of an alias, a column and an item', () => {
    expect(refusal('MATCH (exists:Small) WHERE exists.n = 1 RETURN exists.n AS exists ORDER BY exists')).toBe(
      'accepted',
    );
    expect(parseStatement('MATCH (e:exists) WHERE e.exists = 1 AND EXISTS ((x:exists)) RETURN e.exists')).toMatchObject(
      {
        patterns: [{ table: { name: 'exists' } }],
      },
    );
    expect(parseStatement('UPDATE exists SET exists = 1 WHERE exists > 2').kind).toBe('update');
    expect(parseStatement('CREATE HYPEREDGE TABLE exists () PROPERTIES (exists TEXT)').kind).toBe('createTable');
  });
});
