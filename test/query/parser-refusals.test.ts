// Tests what the parser refuses: every position with what was found and expected there, every
// limit, and the work on hostile text.

import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import {
  MAX_ARITHMETIC_CHAIN,
  MAX_CHAIN,
  MAX_ITEMS,
  MAX_NESTING,
  MAX_ORDERS,
  MAX_PATTERNS,
} from '../../src/query/limits.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { TokenStream } from '../../src/query/parser/token-stream.ts';
import { countCalls } from './counted-calls.ts';

function match(text: string): MatchNode {
  return parseStatement(text) as MatchNode;
}

function refusal(text: string): { detail: string; fields: Record<string, unknown> } {
  try {
    parseStatement(text);
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.code !== 'syntax_error') throw error;
    return { detail: error.message, fields: error.fields ?? {} };
  }
  throw new Error(`${JSON.stringify(text.slice(0, 100))} was read`);
}

const STATEMENT_WORDS =
  'MATCH INSERT UPDATE DELETE CREATE DROP ALTER SHOW COMPACT BEGIN COMMIT ROLLBACK COPY EXPLAIN ANALYZE'.split(' ');

describe('a refusal by the parser', () => {
  it.each<[string, number, number, string, string[] | undefined]>([
    ['', 1, 1, 'found the end of the statement', STATEMENT_WORDS],
    ['SELECT 1', 1, 1, 'there is no SELECT here', undefined],
    ['`match` (a:T)', 1, 1, 'found `match`', STATEMENT_WORDS],
    ['MATCH', 1, 6, 'found the end', ['HYPEREDGE', '"("']],
    ['MATCH (a T)', 1, 10, 'found "T"', ['":"']],
    ['MATCH (:T) RETURN *', 1, 8, 'found ":"', ['an alias']],
    ['MATCH (a:)', 1, 10, 'found ")"', ['a table name']],
    ["MATCH (a:'T') RETURN *", 1, 10, 'found the text "T"', ['a table name']],
    ['MATCH (a:T)', 1, 12, 'found the end', ['MEMBERS', '","', 'WHERE', 'RETURN']],
    ['MATCH (a:T) MEMBERS 5 RETURN *', 1, 21, 'found "5"', ['a $parameter', '"["']],
    ["MATCH (a:T) MEMBERS 'x' RETURN *", 1, 21, 'found the text "x"', ['a $parameter', '"["']],
    ['MATCH (a:T) WHERE RETURN *', 1, 19, 'found "RETURN"', undefined],
    ['MATCH (a:T) RETURN', 1, 19, 'found the end', undefined],
    ['MATCH (a:T) RETURN a.x,', 1, 24, 'found the end', undefined],
    ['MATCH (a:T) RETURN a.', 1, 22, 'found the end', ['a column name']],
    ['MATCH (a:T) RETURN a.x AS', 1, 26, 'found the end', ['a name']],
    ['MATCH (a:T) RETURN a.x AS 5', 1, 27, 'found "5"', ['a name']],
    ['MATCH (a:T) RETURN a.x ORDER a.x', 1, 30, 'found "a"', ['BY']],
    ['MATCH (a:T) RETURN a.x LIMIT', 1, 29, 'found the end', ['a $parameter', 'an integer of 0 or more']],
    ['MATCH (a:T) RETURN a.x LIMIT -1', 1, 30, 'found "-"', undefined],
    ['MATCH (a:T) RETURN a.x LIMIT 1.5', 1, 30, 'found "1.5"', undefined],
    ['MATCH (a:T) RETURN a.x SKIP a.y', 1, 29, 'found "a"', undefined],
    ['MATCH (a:T) RETURN a.x LIMIT 1 LIMIT 2', 1, 32, 'found "LIMIT"', undefined],
    ['MATCH (a:T) RETURN a.x WHERE a.y', 1, 24, 'found "WHERE"', undefined],
    ['MATCH (a:T) RETURN *, a.x', 1, 21, 'found ","', undefined],
    ['MATCH (a:T) RETURN a.x b', 1, 24, 'found "b"', undefined],
    ['MATCH (a:T)\nWHERE a.x = \nRETURN *', 3, 1, 'found "RETURN"', undefined],
    ['MATCH (a:T) WHERE (a.x = 1 RETURN *', 1, 28, 'found "RETURN"', undefined],
    ['MATCH (a:T) WHERE a.x = 1) RETURN *', 1, 26, 'found ")"', undefined],
    ['MATCH (a:T) WHERE a.x NOT 5 RETURN *', 1, 27, 'found "5"', ['IN', 'BETWEEN', 'CONTAINS', 'STARTS', 'ENDS']],
    ['MATCH (a:T) WHERE a.x IS 5 RETURN *', 1, 26, 'found "5"', ['NOT', 'NULL']],
    ['MATCH (a:T) WHERE a.x BETWEEN 1 OR 2 RETURN *', 1, 33, 'found "OR"', undefined],
    ["MATCH (a:T) WHERE a.x STARTS 'x' RETURN *", 1, 30, 'found the text "x"', ['WITH']],
    ['MATCH (a:T) WHERE a.x IN [1, RETURN *', 1, 30, 'found "RETURN"', undefined],
    ['MATCH (a:T) WHERE a.x IN [1 2] RETURN *', 1, 29, 'found "2"', undefined],
    ['MATCH (a:T) WHERE 1 < a.x < 3 RETURN *', 1, 27, 'comparisons do not chain', undefined],
    ['MATCH (a:T) WHERE a.x IS NULL = true RETURN *', 1, 31, 'comparisons do not chain', undefined],
    ['MATCH (a:T) WHERE a.x IN [1] <> true RETURN *', 1, 30, 'comparisons do not chain', undefined],
    ['MATCH (a:T) WHERE f(a.x RETURN *', 1, 25, 'found "RETURN"', undefined],
    ['MATCH (a:T) WHERE count(*, 1) RETURN *', 1, 26, 'found ","', ['")"']],
    ['MATCH (a:T) RETURN *; MATCH (a:T) RETURN *', 1, 23, 'one statement at a time', undefined],
    ['MATCH (a:T) RETURN *;;', 1, 22, 'one statement at a time', undefined],
    ['INSERT T', 1, 8, 'found "T"', ['INTO']],
    ['INSERT INTO T VALUES (1)', 1, 15, 'found "VALUES"', ['"("']],
    ['INSERT INTO T (a) VALUES (1, 2)', 1, 26, 'this row has 2 values, but 1 columns', undefined],
    ['INSERT INTO T () VALUES ()', 1, 16, 'found ")"', ['a column name']],
    ['UPDATE T x = 1', 1, 10, 'found "x"', ['SET']],
    ['UPDATE T SET U.x = 1', 1, 14, '"U" is not the table', undefined],
    ['UPDATE T SET x == 1', 1, 17, 'found "="', undefined],
    ['DELETE T', 1, 8, 'found "T"', ['FROM']],
    ['CREATE TABLE T', 1, 8, 'found "TABLE"', ['INDEX', 'TEXT', 'NODE', 'HYPEREDGE']],
    ['CREATE HYPEREDGE TABLE T', 1, 25, 'found the end', ['"("']],
    [
      'CREATE HYPEREDGE TABLE T (a) PROPERTIES (b BLOB)',
      1,
      44,
      'found "BLOB"',
      'INTEGER REAL TEXT BOOLEAN INT FLOAT DOUBLE STRING BOOL'.split(' '),
    ],
    ['CREATE HYPEREDGE TABLE T (a) BUCKET_SECONDS x', 1, 45, 'found "x"', ['an integer']],
    ['ALTER TABLE T RENAME x TO y', 1, 22, 'found "x"', ['TO', 'COLUMN']],
    ['ALTER TABLE T MODIFY x', 1, 15, 'found "MODIFY"', ['ADD', 'DROP', 'RENAME']],
    ['SHOW INDEX', 1, 6, 'found "INDEX"', ['TABLES', 'NODE', 'INDEXES']],
    ['COMPACT T TTL', 1, 14, 'found the end', ['an integer']],
    ['BEGIN TRANSACTION', 1, 7, 'found "TRANSACTION"', ['";"', 'the end of the statement']],
    ['COPY T TO 5', 1, 11, 'found "5"', ["a 'file'"]],
    ['EXPLAIN EXPLAIN MATCH (a:T) RETURN *', 1, 9, 'not itself an EXPLAIN or ANALYZE', undefined],
    ['EXPLAIN', 1, 8, 'found the end', STATEMENT_WORDS],
  ])('is right for %j at line %i, column %i: %s', (text, line, column, part, expected) => {
    const { detail, fields } = refusal(text);
    expect(detail).toContain(`Line ${line}, column ${column}: `);
    expect(detail).toContain(part);
    expect([fields.line, fields.column]).toEqual([line, column]);
    if (expected !== undefined) expect(fields.expected).toEqual(expected);
  });
});

describe('the parser limits', () => {
  const within = (expression: string) => `MATCH (a:T) WHERE ${expression} RETURN *`;
  const nest = (open: string, inner: string, close: string, depth: number) =>
    within(open.repeat(depth) + inner + close.repeat(depth));

  it.each([
    ['parentheses', '(', '1', ')'],
    ['lists', '[', '1', ']'],
    ['calls', 'f(', '1', ')'],
    ['NOT', 'NOT ', 'true', ''],
    ['minus', '-', 'a.x', ''],
  ])('the nesting of %s, and names the limit', (_, open, inner, close) => {
    expect(parseStatement(nest(open, inner, close, MAX_NESTING / 2 - 2)).kind).toBe('match');
    expect(refusal(nest(open, inner, close, MAX_NESTING + 1)).detail).toContain(`more than ${MAX_NESTING}`);
    expect(refusal(nest(open, inner, close, 20_000)).detail).toContain(`more than ${MAX_NESTING}`);
  });

  it('the length of chains', () => {
    expect(parseStatement(within(new Array(MAX_CHAIN).fill('a.x').join(' OR '))).kind).toBe('match');
    expect(refusal(within(new Array(MAX_CHAIN + 1).fill('a.x').join(' AND '))).detail).toContain(
      `more than ${MAX_CHAIN}`,
    );
    expect(parseStatement(within(new Array(MAX_ARITHMETIC_CHAIN + 1).fill('1').join('+'))).kind).toBe('match');
    expect(refusal(within(new Array(MAX_ARITHMETIC_CHAIN + 2).fill('1').join('+'))).detail).toContain(
      `more than ${MAX_ARITHMETIC_CHAIN}`,
    );
  });

  it('the height of chains that contain each other', () => {
    const chain = (inner: string) => `(${inner}${' + 1'.repeat(MAX_ARITHMETIC_CHAIN)})`;
    let tower = '1';
    for (let level = 0; level < 60; level++) tower = chain(tower);
    expect(refusal(within(tower)).detail).toContain('deep');
    expect(refusal(`MATCH (a:T) MEMBERS [${tower}] RETURN *`).detail).toContain('deep');
    expect(refusal(`INSERT INTO T (a) VALUES ([${tower}])`).detail).toContain('deep');
    expect(parseStatement(within(chain(chain('1')))).kind).toBe('match');
  });

  it('the number of patterns', () => {
    const patterns = (count: number) => Array.from({ length: count }, (_, place) => `(a${place}:T)`).join(', ');
    expect(match(`MATCH ${patterns(MAX_PATTERNS)} RETURN *`).patterns).toHaveLength(MAX_PATTERNS);
    expect(refusal(`MATCH ${patterns(MAX_PATTERNS + 1)} RETURN *`).detail).toContain(
      `at most ${MAX_PATTERNS} patterns`,
    );
  });

  it('the number of items and of ORDER BY terms', () => {
    const many = (count: number) => new Array(count).fill('a.x').join(', ');
    expect(match(`MATCH (a:T) RETURN ${many(MAX_ITEMS)}`).items).toHaveLength(MAX_ITEMS);
    expect(refusal(`MATCH (a:T) RETURN ${many(MAX_ITEMS + 1)}`).detail).toContain(`at most ${MAX_ITEMS} items`);
    expect(match(`MATCH (a:T) RETURN * ORDER BY ${many(MAX_ORDERS)}`).orderBy).toHaveLength(MAX_ORDERS);
    expect(refusal(`MATCH (a:T) RETURN * ORDER BY ${many(MAX_ORDERS + 1)}`).detail).toContain(
      `at most ${MAX_ORDERS} terms`,
    );
  });
});

describe('the work of the parser', () => {
  const LENGTH = 100_000;
  it.each([
    ['items', 'MATCH (a:T) RETURN ', 'a.x,', 'a.x'],
    ['a list', 'MATCH (a:T) WHERE a.x IN [', '1,', '1] RETURN *'],
    ['conditions', 'MATCH (a:T) WHERE ', '(a.x=1) AND ', 'a.y RETURN *'],
    ['parentheses', 'MATCH (a:T) WHERE ', '(', ''],
    ['lists in lists', 'MATCH (a:T) WHERE ', '[', ''],
    ['NOT', 'MATCH (a:T) WHERE ', 'NOT ', 'a.x RETURN *'],
    ['minus', 'MATCH (a:T) WHERE ', '-', '1 RETURN *'],
    ['patterns', 'MATCH ', '(a:T),', '(b:T) RETURN *'],
    ['orders', 'MATCH (a:T) RETURN * ORDER BY ', 'a.x DESC,', 'a.y'],
    ['rows', 'INSERT INTO T (a) VALUES ', '(1),', '(2)'],
    ['assignments', 'UPDATE T SET ', 'x=1,', 'x=2'],
    ['columns', 'CREATE HYPEREDGE TABLE T (a) PROPERTIES (', 'x INT,', 'y INT)'],
    ['commas', 'MATCH (a:T) RETURN ', ',', ''],
    ['calls', 'MATCH (a:T) RETURN ', 'f(', ''],
    ['words', '', 'MATCH ', ''],
  ])('is a few reads of each token for 100 KB of %s', (_, before, piece, behind) => {
    const text = before + piece.repeat(LENGTH / piece.length) + behind;
    const looks = countCalls(TokenStream.prototype, ['acceptSymbol', 'acceptSymbolOf', 'acceptWord', 'next'], () => {
      try {
        parseStatement(text);
      } catch (error) {
        expect(error).toBeInstanceOf(HedgerowError);
      }
    });
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThan(15 * LENGTH);
  });
});
