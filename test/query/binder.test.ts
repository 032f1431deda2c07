// Tests what the binder finds: names of result columns, types, parameters, groups, order and
// changes.

import { describe, expect, it } from 'vitest';
import type { BoundDelete, BoundInsert, BoundUpdate } from '../../src/query/binder/bound.ts';
import { Identities } from '../../src/query/binder/identities.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { Scope } from '../../src/query/binder/scope.ts';
import { bind, match, matchSteps, refusal } from './bind-world.ts';
import { countCalls } from './counted-calls.ts';

function columns(text: string): string[] {
  return match(text).items.map((item) => item.name);
}

function typeOf(expression: string, parameters?: ParameterValues): string {
  return match(`MATCH (a:Contact), (b:Contact), (t:Trip) RETURN ${expression} AS x`, parameters).items[0]!.expression
    .type;
}

describe('the names of result columns', () => {
  it.each([
    ['MATCH (a:Contact) RETURN a.id, a.n AS m, a.PLACE, a', ['id', 'm', 'Place', 'a']],
    [
      'MATCH (a:Contact) RETURN (a.n), ( a.n ) + 1, size( a.members ), -  a.n',
      ['n', '( a.n ) + 1', 'size( a.members )', '-  a.n'],
    ],
    ['MATCH (a:contact), (B:Trip) RETURN a.PLACE, b.ID, b, 1', ['a.Place', 'B.id', 'B', '1']],
    ['MATCH (a:Contact) RETURN count(*), COUNT( * ), sum(a.n) AS `a b`', ['count(*)', 'COUNT( * )', 'a b']],
    [
      'MATCH (a:Contact) RETURN *',
      ['id', 'event_ts', 'members', 'weight', 'mean_dist_m', 'formation', 'n', 'score', 'Place', 'ok'],
    ],
    [
      'MATCH (t:Trip), (u:Trip) RETURN *',
      ['t', 'u'].flatMap((alias) =>
        ['id', 'event_ts', 'members', 'weight', 'mean_dist_m', 'formation'].map((name) => `${alias}.${name}`),
      ),
    ],
    ["MATCH (a:Contact) RETURN 'x''y', $p, '$p' = 1", ["'x''y'", '$p', "'$p' = 1"]],
    ['MATCH (a:Contact) RETURN a.n AS x, a.n AS X', ['x', 'X']],
  ])('are right for %s', (text, expected) => {
    expect(match(text, { p: 1 }).items.map((item) => item.name)).toEqual(expected);
  });

  it('are refused if two are equal', () => {
    expect(refusal('MATCH (a:Contact) RETURN a.n, a.N').place).toBe('invalid_statement 1:31');
    expect(refusal('MATCH (a:Contact) RETURN a.n, a.score AS n').detail).toContain('two result columns are called "n"');
    expect(columns('MATCH (a:Contact), (b:Contact) RETURN a.n, b.n')).toEqual(['a.n', 'b.n']);
  });
});

describe('the type of an expression', () => {
  it.each([
    ['a.id', 'integer'],
    ['a.event_ts', 'integer'],
    ['a.members', 'list'],
    ['a.weight', 'real'],
    ['a.formation', 'text'],
    ['a.ok', 'boolean'],
    ['a', 'row'],
    ['null', 'null'],
    ['a.n + 1', 'integer'],
    ['a.n / 2', 'integer'],
    ['a.n + 1.0', 'real'],
    ['a.n * a.score', 'real'],
    ['a.n + null', 'integer'],
    ['null + null', 'null'],
    ["a.place + 'x'", 'text'],
    ['a.place + null', 'text'],
    ['-a.score', 'real'],
    ['a.n > 1', 'boolean'],
    ['a.n = null', 'boolean'],
    ['a.n IN [1, 2.5]', 'boolean'],
    ['size(a.members)', 'integer'],
    ['bucket(a)', 'integer'],
    ['shared(a, b)', 'integer'],
    ['overlaps(a, t, 5)', 'boolean'],
    ['follows(a, t, 2.5)', 'boolean'],
    ['intersects(a, t)', 'boolean'],
    ['count(a.place)', 'integer'],
    ['sum(a.n)', 'integer'],
    ['sum(a.score)', 'real'],
    ['avg(a.n)', 'real'],
    ['min(a.place)', 'text'],
    ['max(a.ok)', 'boolean'],
    ['collect(a)', 'list'],
    ['$p', 'integer'],
    ['[1, 2]', 'list'],
  ])('is right: %s is %s', (expression, type) => {
    expect(typeOf(expression, { p: 3 })).toBe(type);
  });

  it.each<[unknown, string]>([
    [1, 'integer'],
    [-0, 'integer'],
    [1.5, 'real'],
    [2 ** 53, 'real'],
    ['x', 'text'],
    [false, 'boolean'],
    [null, 'null'],
    [[], 'list'],
    [[1, null, 2.5], 'list'],
  ])('is right for a parameter: %j is %s', (value, type) => {
    expect(typeOf('$p', { p: value })).toBe(type);
  });
});

describe('parameters', () => {
  const text = 'MATCH (a:Contact) WHERE a.n = $num RETURN *';

  it('are named in the error if they are missing, with a suggestion', () => {
    expect(refusal(text).place).toBe('invalid_statement 1:31');
    expect(refusal(text, { nun: 1 }).detail).toContain('Did you mean nun?');
    expect(refusal(text, { Num: 1 }).detail).toContain('parameter $num is missing');
    expect(refusal(text, { num: undefined }).detail).toContain('missing');
    expect(refusal("MATCH (a:Contact) RETURN '$name'").place).toBe('invalid_statement 1:26');
    expect(refusal('MATCH (a:Contact) RETURN $toString').detail).toContain('missing');
    expect(refusal('MATCH (a:Contact) RETURN $__proto__').detail).toContain('missing');
  });

  it.each<[unknown, string]>([
    [{ a: 1 }, 'is an object'],
    [[[1]], 'a list in a list'],
    [[1, 'x'], 'mixes integer and text'],
    [[{ a: 1 }], 'is an object'],
    [Number.NaN, 'not a finite number'],
    [Number.POSITIVE_INFINITY, 'not a finite number'],
    [() => 1, 'of type function'],
    [new Array(100_001).fill(1), 'more than 100000'],
  ])('are refused if they are of another kind: %j', (value, part) => {
    const { error, detail } = refusal(text, { num: value });
    expect(error.code).toBe('invalid_statement');
    expect(error.errors?.[0]?.loc).toEqual(['body', 'parameters', 'num']);
    expect(detail).toContain(part);
  });

  it('are checked like values in the text', () => {
    expect(refusal(text, { num: 'x' }).detail).toContain('cannot be compared');
    expect(refusal(text, { num: [1] }).detail).toContain('cannot be compared');
    expect(refusal('MATCH (a:Contact) WHERE a.n IN $p RETURN *', { p: 5 }).detail).toContain('IN takes a list');
    expect(refusal('MATCH (a:Contact) MEMBERS $p RETURN *', { p: [] }).detail).toContain('at least one');
    expect(refusal('MATCH (a:Contact) MEMBERS $p RETURN *', { p: 5 }).detail).toContain('MEMBERS takes a list');
    expect(refusal('MATCH (a:Contact) MEMBERS $p RETURN *', { p: ['x'] }).detail).toContain('MEMBERS takes integers');
    for (const value of ['5', 1.5, null, true, [1]])
      expect(refusal('MATCH (a:Contact) RETURN * LIMIT $p', { p: value }).place).toBe('invalid_statement 1:34');
    expect(match('MATCH (a:Contact) WHERE a.n IN $p RETURN *', { p: null }).where).toHaveLength(1);
    expect(match("MATCH (a:Contact) MEMBERS '$p' RETURN a.n LIMIT '$l'", { p: [1], l: 0 }).limit).toMatchObject({
      name: 'l',
    });
  });

  it('are ignored if the statement does not use them', () => {
    expect(match('MATCH (a:Contact) RETURN *', { unused: { deep: 1 } }).items).toHaveLength(10);
  });
});

describe('groups in a statement', () => {
  it('have the items without aggregates as keys, each once, and compute equal aggregates once', () => {
    const { grouping, items } = match(
      'MATCH (a:Contact) RETURN a.n, a.N + 0 AS m, a.n AS again, COUNT(*), count(*) + sum(A.n), SUM( a.n ) AS s',
    );
    expect(grouping!.keys.map((key) => key.text)).toEqual(['a.n', 'a.N + 0']);
    expect(grouping!.aggregates.map((aggregate) => aggregate.text)).toEqual(['COUNT(*)', 'sum(A.n)']);
    expect(items.map((item) => item.expression.kind)).toEqual([
      'keyValue',
      'keyValue',
      'keyValue',
      'aggregateValue',
      'arithmetic',
      'aggregateValue',
    ]);
  });

  it('treat COUNT of an alias as COUNT(*)', () => {
    expect(match('MATCH (a:Contact) RETURN count(*) AS x, count(a) AS y').grouping!.aggregates).toHaveLength(1);
    expect(
      match('MATCH (a:Contact) RETURN count(a.n) AS x, count(DISTINCT a.n) AS y').grouping!.aggregates,
    ).toHaveLength(2);
  });

  it('have keys that can be used inside the other items and in ORDER BY', () => {
    expect(
      match('MATCH (a:Contact) RETURN a.n + 1 AS m, (a.n + 1) * count(*) AS c ORDER BY (a.n + 1) * 2 DESC').orderBy,
    ).toHaveLength(1);
    expect(match('MATCH (a:Contact) RETURN 5 + count(*) AS c').grouping!.keys).toEqual([]);
    expect(match('MATCH (a:Contact) RETURN a, count(*)').grouping!.keys.map((key) => key.type)).toEqual(['row']);
  });

  it('are absent without an aggregate', () => {
    expect(match('MATCH (a:Contact) RETURN a.n').grouping).toBeUndefined();
  });
});

describe('ORDER BY', () => {
  it('finds names of items, ignoring case only if no name matches exactly', () => {
    const order = (text: string) => match(text).orderBy.map(({ expression }) => expression.text);
    expect(order('MATCH (a:Contact) RETURN a.n AS Total ORDER BY total')).toEqual(['a.n']);
    expect(order('MATCH (a:Contact) RETURN a.n AS x, a.score AS X ORDER BY X, x')).toEqual(['a.score', 'a.n']);
    expect(order('MATCH (a:Contact) RETURN a.n ORDER BY n, a.score')).toEqual(['a.n', 'a.score']);
    expect(order('MATCH (a:Contact) RETURN a.n AS a ORDER BY a')).toEqual(['a.n']);
    expect(order('MATCH (a:Contact) RETURN * ORDER BY PLACE')).toEqual(['a.Place']);
    expect(order('MATCH (a:Contact) RETURN a.n AS m ORDER BY -m + 1, bucket(a)')).toEqual(['-m + 1', 'bucket(a)']);
  });

  it('refers to items if the statement has DISTINCT or groups', () => {
    const kinds = (text: string) => match(text).orderBy.map(({ expression }) => expression.kind);
    expect(kinds('MATCH (a:Contact) RETURN DISTINCT a.n, a.score AS s ORDER BY s, a.N, a.n + S')).toEqual([
      'itemValue',
      'itemValue',
      'arithmetic',
    ]);
    expect(kinds('MATCH (a:Contact) RETURN a.n, count(*) AS c ORDER BY c, count(*), COUNT(a), -a.n')).toEqual([
      'itemValue',
      'itemValue',
      'itemValue',
      'negate',
    ]);
  });
});

describe('conditions', () => {
  it('are split at AND and at BETWEEN', () => {
    const conditions = match(
      'MATCH (a:Contact) WHERE (a.n = 1 AND (a.ok AND a.score BETWEEN 1 AND 2)) AND (a.ok OR a.ok AND a.ok) RETURN *',
    ).where;
    expect(conditions.map((condition) => condition.kind)).toEqual(['compare', 'field', 'compare', 'compare', 'or']);
  });
});

describe('changes of rows', () => {
  it('have their columns and values bound', () => {
    const insert = bind('INSERT INTO contact (EVENT_TS, members, place, score) VALUES (1 + 1, [1, $n], null, 5)', {
      n: 7,
    }) as BoundInsert;
    expect(insert.rows[0]!.eventTs?.type).toBe('integer');
    expect(insert.rows[0]!.properties.map(({ column, value }) => [column, value.type])).toEqual([
      ['Place', 'null'],
      ['score', 'integer'],
    ]);
    const update = bind(
      'UPDATE Contact SET n = contact.n + 1, members = [1] WHERE ok AND Contact.n > 1',
    ) as BoundUpdate;
    expect(update.sets.map(({ field }) => field.kind)).toEqual(['property', 'members']);
    expect(update.where).toHaveLength(2);
    expect((bind('DELETE FROM Contact WHERE 5 IN members AND bucket(Contact) = 1') as BoundDelete).where).toHaveLength(
      2,
    );
  });

  it.each<[string, string, string]>([
    ['INSERT INTO Nope (event_ts, members) VALUES (1, [1])', 'table_not_found 1:13', 'SHOW TABLES'],
    ['INSERT INTO Contact (event_ts) VALUES (1)', 'invalid_statement 1:13', 'INSERT must name members'],
    ['INSERT INTO Contact (members) VALUES ([1])', 'invalid_statement 1:13', 'INSERT must name event_ts'],
    [
      'INSERT INTO Contact (event_ts, members, id) VALUES (1, [1], 5)',
      'invalid_statement 1:41',
      'id is given by the database',
    ],
    [
      'INSERT INTO Contact (event_ts, members, n, N) VALUES (1, [1], 5, 6)',
      'invalid_statement 1:44',
      'column N is given twice',
    ],
    ['INSERT INTO Contact (event_ts, members, nn) VALUES (1, [1], 5)', 'unknown_column 1:41', 'no column "nn"'],
    ['INSERT INTO Contact (event_ts, members) VALUES (1.5, [1])', 'invalid_statement 1:49', 'of type integer'],
    ['INSERT INTO Contact (event_ts, members) VALUES (null, [1])', 'invalid_statement 1:49', 'of type integer'],
    ["INSERT INTO Contact (event_ts, members) VALUES (1, ['x'])", 'invalid_statement 1:52', 'a list of integers'],
    ['INSERT INTO Contact (event_ts, members) VALUES (1, 5)', 'invalid_statement 1:52', 'a list of integers'],
    [
      "INSERT INTO Contact (event_ts, members, n) VALUES (1, [1], 'x')",
      'invalid_statement 1:60',
      'column n is of type integer',
    ],
    [
      'INSERT INTO Contact (event_ts, members, n) VALUES (1, [1], 1.0)',
      'invalid_statement 1:60',
      'column n is of type integer',
    ],
    ['INSERT INTO Contact (event_ts, members, n) VALUES (1, [1], n)', 'invalid_statement 1:60', 'not an alias'],
    [
      'INSERT INTO Contact (event_ts, members, n) VALUES (1, [1], count(*))',
      'invalid_statement 1:60',
      'aggregates are allowed in RETURN',
    ],
    ['UPDATE Contact SET id = 5', 'invalid_statement 1:20', 'id is given by the database'],
    ['UPDATE Contact SET n = 5, Contact.N = 6', 'invalid_statement 1:35', 'column N is given twice'],
    ['UPDATE Contact SET n = score', 'invalid_statement 1:24', 'column n is of type integer'],
    ['UPDATE Contact SET n = sum(n)', 'invalid_statement 1:24', 'aggregates are allowed in RETURN'],
    ['UPDATE Contact SET event_ts = null', 'invalid_statement 1:31', 'of type integer'],
    ['UPDATE Contact SET n = 1 WHERE n', 'invalid_statement 1:32', 'WHERE takes a condition'],
    ['UPDATE Contact SET n = 1 WHERE m = 1', 'unknown_column 1:32', 'no column "m"'],
    ['DELETE FROM Contact WHERE Trip.n = 1', 'invalid_statement 1:27', '"Trip" is not an alias'],
    ['DELETE FROM Contact WHERE count(*) = 1', 'invalid_statement 1:27', 'aggregates are allowed in RETURN'],
  ])('are refused: %s', (text, place, part) => {
    const { place: found, detail } = refusal(text);
    expect(found).toBe(place);
    expect(detail).toContain(part);
  });
});

describe('the work of binding', () => {
  /**
   * Counts how often binding visits the parts of a statement. It must not visit all parts for each
   * item.
   */
  it.each([
    ['aggregates', (i: number) => `count(a.n + ${i}) AS r${i}`, ''],
    ['keys beside an aggregate', (i: number) => `a.n + ${i} AS r${i}`, ', count(*)'],
    ['sums of aggregates', (i: number) => `sum(a.n) + ${i} AS r${i}`, ''],
  ])('does not grow with the square of the number of %s', (_, item, behind) => {
    const items = (count: number) => Array.from({ length: count }, (_, i) => item(i));
    const text = `MATCH (a:Contact) RETURN ${items(2000 - 1).join(', ')}${behind} ORDER BY ${items(100)
      .map((_, i) => `r${i}`)
      .join(', ')}`;
    const looks = countCalls(Identities.prototype, ['of'], () => expect(match(text).orderBy).toHaveLength(100));
    expect(looks).toBeLessThan(20 * 2000);
  });

  it.each(['AND', 'OR'])('on a long chain of %s is divided into steps of 250 conditions', (word) => {
    const conditions = Array.from({ length: 2000 }, (_, i) => `a.n ${word === 'OR' ? '=' : '<>'} ${i}`);
    const text = `MATCH (a:Contact) WHERE ${conditions.join(` ${word} `)} RETURN a.id`;
    const steps = matchSteps(text);
    let step = steps.next();
    const fields: number[] = [];
    while (step.done !== true) {
      const calls = countCalls(Scope.prototype, ['field'], () => {
        step = steps.next();
      });
      fields.push(calls);
    }
    expect(Math.max(...fields)).toBeLessThanOrEqual(250);
    expect(fields).toHaveLength(8);
    expect(step.value).toEqual(match(text));
  });
});
