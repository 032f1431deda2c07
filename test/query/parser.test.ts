// Tests the parser: the tree for every grammar form, precedence, names and texts.

import { describe, expect, it } from 'vitest';
import type { Expression, MatchNode, Statement } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { itemNodes } from './list-nodes.ts';

/** Returns the text of an expression with all parentheses. */
function show(node: Expression): string {
  const all = (nodes: readonly Expression[]) => nodes.map(show).join(', ');
  switch (node.kind) {
    case 'literal':
      return node.type === 'real' ? `real ${node.value}` : JSON.stringify(node.value);
    case 'parameter':
      return `$${node.name}`;
    case 'list':
    case 'values':
      return `[${all(itemNodes(node))}]`;
    case 'name':
      return node.name;
    case 'column':
      return `${node.alias.name}.${node.column.name}`;
    case 'call':
      return `${node.name.name}(${node.distinct ? 'DISTINCT ' : ''}${node.star ? '*' : all(node.args)})`;
    case 'and':
    case 'or':
      return `(${node.items.map(show).join(` ${node.kind} `)})`;
    case 'not':
      return `(not ${show(node.operand)})`;
    case 'negate':
      return `(- ${show(node.operand)})`;
    case 'binary':
      return `(${show(node.left)} ${node.operator} ${show(node.right)})`;
    case 'in':
      return `(${show(node.operand)} in ${show(node.list)})`;
    case 'between':
      return `(${show(node.operand)} between ${show(node.low)} and ${show(node.high)})`;
    case 'isNull':
      return `(${show(node.operand)} is null)`;
    case 'exists': {
      const patterns = node.patterns.map(({ alias, table }) => `${alias.name}:${table.name}`);
      return `exists(${patterns.join(', ')}${node.where === undefined ? '' : ` where ${show(node.where)}`})`;
    }
  }
}

function match(text: string): MatchNode {
  const statement = parseStatement(text);
  expect(statement.kind).toBe('match');
  return statement as MatchNode;
}

function shown(expression: string): string {
  return show(match(`MATCH (a:T) WHERE ${expression} RETURN *`).where!);
}

/** Returns a tree without positions. */
function bare(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === 'start' || key === 'end' ? undefined : inner)));
}

describe('the precedence of operators', () => {
  it.each([
    ['a.x OR a.y AND NOT a.z', '(a.x or (a.y and (not a.z)))'],
    ['a.x AND a.y OR a.z AND a.w', '((a.x and a.y) or (a.z and a.w))'],
    ['(a.x OR a.y) AND a.z', '((a.x or a.y) and a.z)'],
    ['a.x OR a.y OR a.z', '(a.x or a.y or a.z)'],
    ['NOT a.x = 1', '(not (a.x = 1))'],
    ['NOT NOT a.x', '(not (not a.x))'],
    ['NOT a.x AND a.y', '((not a.x) and a.y)'],
    ['a.x + 1 < a.y * 2', '((a.x + 1) < (a.y * 2))'],
    ['1 + 2 * 3 - 4 / 5 % 6', '((1 + (2 * 3)) - ((4 / 5) % 6))'],
    ['1 - 2 - 3', '((1 - 2) - 3)'],
    ['8 / 4 / 2', '((8 / 4) / 2)'],
    ['1 - (2 - 3)', '(1 - (2 - 3))'],
    ['-a.x * 2', '((- a.x) * 2)'],
    ['- -a.x', '(- (- a.x))'],
    ['-2 + -3', '(-2 + -3)'],
    ['- 2', '-2'],
    ['-0', '0'],
    ['-(2)', '-2'],
    ['-2.5', 'real -2.5'],
    ['2 - -1', '(2 - -1)'],
    ['a.x = -1', '(a.x = -1)'],
    ['a.x BETWEEN 1 + 1 AND 2 * 3 AND a.y', '((a.x between (1 + 1) and (2 * 3)) and a.y)'],
    ['a.x NOT BETWEEN 1 AND 2', '(not (a.x between 1 and 2))'],
    ['NOT a.x BETWEEN 1 AND 2', '(not (a.x between 1 and 2))'],
    ['a.x + 1 IN [1, 2]', '((a.x + 1) in [1, 2])'],
    ['a.x NOT IN $list', '(not (a.x in $list))'],
    ['7 IN a.members', '(7 in a.members)'],
    ['7 NOT IN a.members OR a.x', '((not (7 in a.members)) or a.x)'],
    ['a.x IN []', '(a.x in [])'],
    ['a.x IS NULL AND a.y IS NOT NULL', '((a.x is null) and (not (a.y is null)))'],
    ['a.x + a.y IS NULL', '((a.x + a.y) is null)'],
    ["a.t CONTAINS 'x' + 'y'", '(a.t CONTAINS ("x" + "y"))'],
    ["a.t STARTS WITH 'x' OR a.t NOT ENDS WITH 'y'", '((a.t STARTS WITH "x") or (not (a.t ENDS WITH "y")))'],
    ["a.t NOT CONTAINS 'x'", '(not (a.t CONTAINS "x"))'],
    ['(a.x = 1) = (a.y = 2)', '((a.x = 1) = (a.y = 2))'],
    ['a.x != 1', '(a.x <> 1)'],
    ['a.x <> 1', '(a.x <> 1)'],
    ['not true or false', '((not true) or false)'],
    ["a.x = '$p' OR a.x = '$5' OR a.x = '$p '", '((a.x = $p) or (a.x = "$5") or (a.x = "$p "))'],
    ['a.x = $p', '(a.x = $p)'],
  ])('is right for %s', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });
});

describe('values in an expression', () => {
  it.each([
    ['true = TRUE', '(true = true)'],
    ['null IS NULL', '(null is null)'],
    ['1 = 1.0', '(1 = real 1)'],
    ['"x" = \'x\'', '("x" = "x")'],
    ["[1, 'a', true, null, [2]] = a.x", '([1, "a", true, null, [2]] = a.x)'],
    ['COUNT(*) = count(DISTINCT a.x)', '(COUNT(*) = count(DISTINCT a.x))'],
    ['f() = g(1, 2)', '(f() = g(1, 2))'],
    ['overlaps(a, b, 5)', 'overlaps(a, b, 5)'],
    ['true.x = null.y', '(true.x = null.y)'],
    ['`where`.`and` = order.limit', '(where.and = order.limit)'],
    ['a.in = a.null', '(a.in = a.null)'],
  ])('are parsed as in %s', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('are integers or reals as they are written', () => {
    const types = (text: string) =>
      match(`MATCH (a:T) RETURN ${text}`).items!.map(({ expression }) => 'type' in expression && expression.type);
    expect(types('1, 1.0, 1e2, -3, -0.5')).toEqual(['integer', 'real', 'real', 'integer', 'real']);
  });
});

describe('a parsed MATCH', () => {
  it('has its patterns with their members', () => {
    const { patterns } = match(
      "match hyperedge (a:T) members [1, -2, $x], (`b c`:`My Table`) MEMBERS $list, (c:T) MEMBERS '$l'  return *",
    );
    expect(patterns.map(({ alias, table }) => [alias.name, table.name])).toEqual([
      ['a', 'T'],
      ['b c', 'My Table'],
      ['c', 'T'],
    ]);
    expect(patterns.map(({ members }) => members && show(members))).toEqual(['[1, -2, $x]', '$list', '$l']);
  });

  it('has each of its clauses', () => {
    const node = match(
      'MATCH (a:T) WHERE a.x RETURN DISTINCT a.x AS y, count(*) ORDER BY y DESC, a.z ASC, 1 + 1 SKIP 5 LIMIT $n;',
    );
    expect(node.distinct).toBe(true);
    expect(node.items!.map(({ expression, as }) => [show(expression), as?.name])).toEqual([
      ['a.x', 'y'],
      ['count(*)', undefined],
    ]);
    expect(node.orderBy.map(({ expression, descending }) => [show(expression), descending])).toEqual([
      ['y', true],
      ['a.z', false],
      ['(1 + 1)', false],
    ]);
    expect([show(node.skip!), show(node.limit!)]).toEqual(['5', '$n']);
  });

  it('may have only patterns and items', () => {
    const node = match('MATCH (a:T) RETURN *');
    expect([node.where, node.distinct, node.items, node.orderBy, node.skip, node.limit]).toEqual([
      undefined,
      false,
      undefined,
      [],
      undefined,
      undefined,
    ]);
  });

  it('accepts OFFSET for SKIP, on either side of LIMIT', () => {
    for (const clause of [
      'OFFSET 2 LIMIT 3',
      'SKIP 2 LIMIT 3',
      'LIMIT 3 SKIP 2',
      'limit 3 offset 2',
      "SKIP '$s' LIMIT '$l'",
    ]) {
      const { skip, limit } = match(`MATCH (a:T) RETURN * ${clause}`);
      expect([show(skip!), show(limit!)]).toEqual(clause.includes('$') ? ['$s', '$l'] : ['2', '3']);
    }
  });

  it('accepts keywords as names where they cannot be anything else', () => {
    const node = match(
      'MATCH (match:Return), (distinct:Where) WHERE match.limit = 1 RETURN distinct.id, match.order AS skip',
    );
    expect(node.distinct).toBe(false);
    expect(node.items!.map((item) => [show(item.expression), item.as?.name])).toEqual([
      ['distinct.id', undefined],
      ['match.order', 'skip'],
    ]);
    expect(match('MATCH (a:T) RETURN DISTINCT `distinct`.id').distinct).toBe(true);
    expect(match('MATCH (a:T) RETURN a.x ORDER BY `order`').orderBy.map(({ expression }) => show(expression))).toEqual([
      'order',
    ]);
  });

  it('has the source text of its items, including parentheses', () => {
    const text = 'MATCH (a:T) RETURN (a.x + 1) * 2, -(3), ( a.y ), NOT (a.z), (a.x) IS NULL, size( a.members ) AS s';
    const texts = match(text).items!.map(({ expression }) => text.slice(expression.start, expression.end));
    expect(texts).toEqual(['(a.x + 1) * 2', '-(3)', '( a.y )', 'NOT (a.z)', '(a.x) IS NULL', 'size( a.members )']);
  });
});

describe('the other statements', () => {
  const at = (name: string) => ({ name });
  it.each<[string, unknown]>([
    [
      'INSERT INTO T (event_ts, members) VALUES (1, [2, 3]), ($a, $b)',
      { kind: 'insert', table: at('T'), columns: [at('event_ts'), at('members')] },
    ],
    [
      'UPDATE T SET x = x + 1, T.y = null WHERE x > 1',
      { kind: 'update', table: at('T'), sets: [{ column: at('x') }, { column: at('y') }] },
    ],
    ['DELETE FROM T WHERE T.x = 1', { kind: 'delete', table: at('T'), where: { kind: 'binary' } }],
    ['DELETE FROM T', { kind: 'delete', table: at('T') }],
    [
      'CREATE HYPEREDGE TABLE IF NOT EXISTS T (person, place) PROPERTIES (a INT, b DOUBLE, c string, d Bool) BUCKET_SECONDS 5 COMPACT_THRESHOLD 7',
      {
        kind: 'createTable',
        table: at('T'),
        ifNotExists: true,
        memberTables: [at('person'), at('place')],
        properties: [
          { name: at('a'), type: 'INTEGER' },
          { name: at('b'), type: 'REAL' },
          { name: at('c'), type: 'TEXT' },
          { name: at('d'), type: 'BOOLEAN' },
        ],
        bucketSeconds: 5,
        compactThreshold: 7,
      },
    ],
    ['CREATE HYPEREDGE TABLE T ()', { kind: 'createTable', ifNotExists: false, memberTables: [], properties: [] }],
    ['CREATE HYPEREDGE TABLE if (a)', { kind: 'createTable', table: at('if'), ifNotExists: false }],
    ['DROP HYPEREDGE TABLE IF EXISTS T', { kind: 'dropTable', table: at('T'), ifExists: true }],
    ['DROP HYPEREDGE TABLE T', { kind: 'dropTable', table: at('T'), ifExists: false }],
    [
      'ALTER TABLE T ADD COLUMN c FLOAT DEFAULT -1.5',
      {
        kind: 'alterTable',
        action: { kind: 'addColumn', column: { name: at('c'), type: 'REAL' }, default: { value: -1.5 } },
      },
    ],
    ['ALTER TABLE T ADD COLUMN c TEXT', { kind: 'alterTable', action: { kind: 'addColumn' } }],
    ['ALTER TABLE T DROP COLUMN c', { kind: 'alterTable', action: { kind: 'dropColumn', column: at('c') } }],
    ['ALTER TABLE T RENAME TO U', { kind: 'alterTable', action: { kind: 'renameTable', to: at('U') } }],
    [
      'ALTER TABLE T RENAME COLUMN c TO d',
      { kind: 'alterTable', action: { kind: 'renameColumn', column: at('c'), to: at('d') } },
    ],
    ['CREATE INDEX ON T (c)', { kind: 'createIndex', table: at('T'), column: at('c') }],
    ['DROP INDEX ON T (c)', { kind: 'dropIndex', table: at('T'), column: at('c') }],
    ['SHOW INDEXES', { kind: 'showIndexes' }],
    ['SHOW INDEXES ON T', { kind: 'showIndexes', table: at('T') }],
    ['show tables;', { kind: 'showTables' }],
    ['COMPACT', { kind: 'compact' }],
    ['COMPACT T TTL 60', { kind: 'compact', table: at('T'), ttlSeconds: 60 }],
    ['COMPACT TTL 60', { kind: 'compact', ttlSeconds: 60 }],
    ['COMPACT TTL', { kind: 'compact', table: at('TTL') }],
    ['BEGIN', { kind: 'begin' }],
    ['commit', { kind: 'commit' }],
    ['ROLLBACK ;', { kind: 'rollback' }],
    ["COPY T FROM 'f.csv'", { kind: 'copyFrom', table: at('T'), file: { kind: 'literal', value: 'f.csv' } }],
    ['COPY T TO $f', { kind: 'copyTo', source: at('T'), file: { kind: 'parameter', name: 'f' } }],
    ["COPY (MATCH (a:T) RETURN *) TO 'f'", { kind: 'copyTo', source: { kind: 'match' } }],
    ["COPY MATCH (a:T) RETURN * TO 'f'", { kind: 'copyTo', source: { kind: 'match' } }],
    ["COPY match TO 'f'", { kind: 'copyTo', source: at('match') }],
    ['EXPLAIN MATCH (a:T) RETURN *', { kind: 'explain', statement: { kind: 'match' } }],
    ['EXPLAIN DROP HYPEREDGE TABLE T', { kind: 'explain', statement: { kind: 'dropTable' } }],
    ['ANALYZE DELETE FROM T', { kind: 'analyze', statement: { kind: 'delete' } }],
    ['/* c */ BEGIN // x', { kind: 'begin' }],
  ])('are parsed: %s', (text, expected) => {
    const statement: Statement = parseStatement(text);
    expect(bare(statement)).toMatchObject(expected as object);
    expect(statement.start).toBeLessThan(statement.end);
  });

  it('keep the rows of INSERT', () => {
    const node = parseStatement('INSERT INTO T (event_ts, members) VALUES (1 + 1, [2]), (-3, $m)');
    expect(node.kind === 'insert' && node.rows.map((row) => row.map(show))).toEqual([
      ['(1 + 1)', '[2]'],
      ['-3', '$m'],
    ]);
  });
});
