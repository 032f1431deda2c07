import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import type { Dialect } from '../../src/virtual/backend.ts';
import { compileQuery } from '../../src/virtual/compile/compile.ts';
import { BANK_SCHEMA, BANK_SPEC } from './bank.ts';

function compile(text: string, dialect: Dialect = 'duckdb', limit?: number) {
  return compileQuery(text, BANK_SPEC, BANK_SCHEMA, { dialect, limit });
}

/**
 * Compiles a query with these conditions. Returns its WHERE or HAVING clause, in which the values
 * replace the parameter numbers.
 */
function conditions(where: string, dialect: Dialect = 'duckdb', label = 'Transfer'): string {
  const { sql, parameters } = compile(`MATCH (a:${label}) WHERE ${where} RETURN a`, dialect).statement;
  const [, found] = /(?:WHERE|HAVING) (.*)\nORDER BY/s.exec(sql) ?? [];
  return found!.replaceAll(/\$(\d+)/g, (_, number) => JSON.stringify(parameters[Number(number) - 1]));
}

/** Returns the error with which a query is refused. */
function refusal(text: string, dialect: Dialect = 'duckdb'): HedgerowError {
  try {
    compile(text, dialect);
  } catch (error) {
    if (error instanceof HedgerowError) return error;
    throw error;
  }
  throw new Error(`not refused: ${text}`);
}

describe('a query', () => {
  it('compiles, for a row edge, to a plan and a SELECT with a fixed order and bound literals', () => {
    const text =
      "MATCH (t:Transfer){src:Account, dst:Account} WHERE src.id = 7 AND t.note <> 'x' AND size(t) >= 2 RETURN t LIMIT 5";
    const { statement, plan, reading } = compile(text);
    expect(statement.parameters).toEqual([7, 'x', 2]);
    expect(statement.sql).toMatch(
      /^SELECT .* AS "event_ts", edge."from_id", edge."to_id", CAST\(edge."via" AS VARCHAR\) AS "via", CAST.*\nFROM "transfers" AS edge\n/,
    );
    expect(statement.sql).toMatch(/ORDER BY 1, 2, 3, .*\nLIMIT 5$/);
    expect(plan).toEqual({
      edge_label: 'Transfer',
      members: [
        { name: 'src', node_label: 'Account', column: 'from_id', role: 'source' },
        { name: 'dst', node_label: 'Account', column: 'to_id', role: 'target' },
        { name: 'via', node_label: 'Broker', column: 'via', role: 'via' },
      ],
      edge_predicates: [{ column: 'note', op: '<>', value: 'x' }],
      member_predicates: [{ member: 'src', op: '=', value: 7 }],
      size_predicates: [{ op: '>=', value: 2 }],
    });
    expect(reading.properties.map(({ name }) => name)).toEqual(
      'amount fee note ok day at key tags Note NOTE2'.split(' '),
    );
  });

  it('compiles to a SELECT of whole groups if its edge is a group edge', () => {
    const text =
      "MATCH (m:Meeting){guest:Account} WHERE guest.id = 3 AND m.room = 'A' AND m.event_ts >= 10 AND size(m) > 1 RETURN m";
    const { sql, parameters } = compile(text).statement;
    expect(sql).toBe(
      [
        'SELECT min(edge."ts") AS "event_ts", edge."meeting_id", CAST(edge."room" AS VARCHAR) AS "room", array_agg(DISTINCT CAST(edge."account" AS VARCHAR)) FILTER (WHERE edge."account" IS NOT NULL) AS "members"',
        'FROM "s"."seats" AS edge',
        'WHERE ((edge."meeting_id", edge."room") IN (SELECT edge."meeting_id", edge."room" FROM "s"."seats" AS edge WHERE edge."account" = CAST($1 AS BIGINT)) OR edge."meeting_id" IS NULL OR edge."room" IS NULL)\n  AND edge."room" = CAST($2 AS VARCHAR)',
        'GROUP BY edge."meeting_id", edge."room"',
        'HAVING bool_or(edge."account" = CAST($1 AS BIGINT))\n  AND min(edge."ts") >= CAST($3 AS BIGINT)\n  AND count(DISTINCT edge."account") > CAST($4 AS BIGINT)',
        'ORDER BY 1, 2, 3',
      ].join('\n'),
    );
    expect(parameters).toEqual([3, 'A', 10, 1]);
  });

  it('may use any case, may have comments and a semicolon, and may omit the members', () => {
    const { sql } = compile('MATCH (t:Transfer) RETURN t').statement;
    for (const text of [
      'match (T:transfer) return t',
      'MATCH (t:TRANSFER){}RETURN t;',
      '/* a */ MATCH (t:Transfer) // b\n RETURN T ;',
    ])
      expect(compile(text).statement.sql).toBe(sql);
    expect(compile('MATCH (t:Transfer){SRC:account} WHERE Src.ID = 1 RETURN t').plan.member_predicates).toEqual([
      { member: 'src', op: '=', value: 1 },
    ]);
  });

  it('has the LIMIT of the call or its own, and with a LIMIT it excludes rows that are not edges', () => {
    expect(compile('MATCH (t:Transfer) RETURN t LIMIT 9', 'duckdb', 3).statement.sql).toMatch(/\nLIMIT 3$/);
    const { sql } = compile('MATCH (t:Transfer) RETURN t LIMIT 0').statement;
    expect(sql).toContain('WHERE isfinite(edge."ts")\n  AND (edge."from_id" IS NOT NULL OR edge."to_id" IS NOT NULL');
    const options = { dialect: 'duckdb', isOrdered: false } as const;
    const stream = (text: string) => compileQuery(text, BANK_SPEC, BANK_SCHEMA, options).statement.sql;
    expect(stream('MATCH (t:Transfer) RETURN t')).not.toContain('ORDER BY');
    expect(stream('MATCH (t:Transfer) RETURN t LIMIT 1')).toContain('ORDER BY');
  });
});

describe('conditions', () => {
  it('compare each column type with literals of the same type', () => {
    expect(conditions('src.id = 5')).toBe('edge."from_id" = CAST(5 AS BIGINT)');
    expect(conditions('src.id IN [1, -2]')).toBe('edge."from_id" IN (CAST(1 AS BIGINT), CAST(-2 AS BIGINT))');
    expect(conditions('src.id = 9007199254740993')).toBe('edge."from_id" = CAST("9007199254740993" AS HUGEINT)');
    expect(conditions('a.amount >= 1')).toBe('edge."amount" >= CAST(1 AS DOUBLE)');
    expect(conditions('a.fee = 0.5')).toBe('CAST(edge."fee" AS DOUBLE) = CAST(0.5 AS DOUBLE)');
    expect(conditions('a.fee = 0.5', 'postgres')).toBe('edge."fee" = CAST("0.5" AS numeric)');
    expect(conditions('a.ok = true')).toBe('edge."ok" = CAST(true AS BOOLEAN)');
    expect(conditions("a.day < '2024-05-31'")).toBe('edge."day" < CAST("2024-05-31" AS DATE)');
    expect(conditions("a.at < '2024-05-31T02:00:00.5+02:00'")).toBe(
      'edge."at" < CAST("2024-05-31 00:00:00.500000+00" AS TIMESTAMPTZ)',
    );
    expect(conditions("a.ts <> '2024-05-31 10:00'")).toBe('edge."ts" <> CAST("2024-05-31 10:00:00" AS TIMESTAMP)');
    expect(conditions("a.key = '7D444840-9dc0-11d1-b245-5ffdce74fad2'")).toBe(
      'edge."key" = CAST("7d444840-9dc0-11d1-b245-5ffdce74fad2" AS UUID)',
    );
    expect(conditions("a.tags = '[1]'")).toBe('CAST(edge."tags" AS VARCHAR) = CAST("[1]" AS VARCHAR)');
    expect(conditions("a.note > 'b'", 'postgres')).toBe('edge."note" COLLATE "C" > CAST("b" AS text)');
    expect(conditions("a.note = 'b'", 'postgres')).toBe('edge."note" = CAST("b" AS text)');
  });

  it('compare integers with fractions exactly', () => {
    expect(conditions('src.id > 1.5')).toBe('edge."from_id" >= CAST(2 AS BIGINT)');
    expect(conditions('src.id <= -1.5')).toBe('edge."from_id" <= CAST(-2 AS BIGINT)');
    expect(conditions('src.id = 1.5')).toBe('FALSE');
    expect(conditions('src.id <> 1.5')).toBe('edge."from_id" IS NOT NULL');
    expect(conditions('src.id IN [1.5, 2.0]')).toBe('edge."from_id" IN (CAST(2 AS BIGINT))');
    expect(conditions('src.id IN [1.5]')).toBe('FALSE');
    expect(conditions('src.id < 1e300')).toBe(`edge."from_id" < CAST("${2n ** 127n - 1n}" AS HUGEINT)`);
  });

  it('compare the time column itself, so that the backend can use its indexes', () => {
    expect(conditions('a.event_ts >= 0')).toBe('edge."ts" >= CAST("1970-01-01 00:00:00" AS TIMESTAMP)');
    expect(conditions('a.event_ts BETWEEN 0 AND 9')).toBe(
      '(edge."ts" >= CAST("1970-01-01 00:00:00" AS TIMESTAMP) AND edge."ts" < CAST("1970-01-01 00:00:10" AS TIMESTAMP))',
    );
    expect(conditions('a.event_ts = 9007199254740991')).toContain('// 1000000 = CAST(9007199254740991 AS BIGINT)');
  });

  it.each([
    ['a.event_ts >= "2024-05-02"', 'a.event_ts >= 1714608000'],
    ["a.event_ts < '2024-05-02T12:00:00.75+02:00'", 'a.event_ts < 1714644000'],
    ["a.event_ts BETWEEN '2024-05-02 10:00' AND '2024-05-02T24:00Z'", 'a.event_ts BETWEEN 1714644000 AND 1714694400'],
    ["a.event_ts IN ['1970-01-01', 9]", 'a.event_ts IN [0, 9]'],
    ["a.event_ts <> '+012000-01-01'", 'a.event_ts <> 316516204800'],
  ])('accept times in ISO 8601: %s means %s', (text, seconds) => {
    expect(conditions(text)).toBe(conditions(seconds));
  });
});

describe('an invalid query', () => {
  it.each<[string, string, string, string]>([
    ['nothing', '', 'syntax_error', 'Line 1, column 1: found the end of the query, but expected MATCH.'],
    ['another statement', 'SELECT 1', 'syntax_error', 'found "SELECT", but expected MATCH.'],
    ['no label', 'MATCH (a) RETURN a', 'syntax_error', 'Line 1, column 9: found ")", but expected ":".'],
    [
      'no RETURN',
      'MATCH (a:Transfer)\n WHERE src.id = 1',
      'syntax_error',
      'Line 2, column 18: found the end of the query, but expected AND or RETURN.',
    ],
    [
      'several patterns',
      'MATCH (a:Transfer){src:Account}, (b:Transfer){src:Account} RETURN a',
      'syntax_error',
      'Line 1, column 32: only one pattern is supported',
    ],
    ['a second MATCH', 'MATCH (a:Transfer) MATCH (b:Transfer) RETURN a', 'syntax_error', 'one pattern is supported'],
    ['an arrow', 'MATCH (a:Transfer)-[:X]->(b) RETURN a', 'syntax_error', 'one pattern is supported'],
    [
      'OR',
      'MATCH (a:Transfer) WHERE src.id = 1 OR src.id = 2 RETURN a',
      'syntax_error',
      'conditions are joined by AND only',
    ],
    ['NOT', 'MATCH (a:Transfer) WHERE NOT src.id = 1 RETURN a', 'syntax_error', 'NOT is not supported'],
    ['NULL', 'MATCH (a:Transfer) WHERE src.id = NULL RETURN a', 'syntax_error', 'nothing equals NULL'],
    ['a parameter', 'MATCH (a:Transfer) WHERE src.id = $x RETURN a', 'syntax_error', 'has no parameters'],
    [
      'two statements',
      'MATCH (a:Transfer) RETURN a; DROP TABLE x',
      'syntax_error',
      'found "DROP", but expected the end of the query.',
    ],
    [
      'a column returned',
      'MATCH (a:Transfer) RETURN a.note',
      'syntax_error',
      'a query returns its whole edge: RETURN a.',
    ],
    [
      'another name returned',
      'MATCH (a:Transfer) RETURN b',
      'syntax_error',
      'a query returns its whole edge: RETURN a.',
    ],
    ['a negative limit', 'MATCH (a:Transfer) RETURN a LIMIT -1', 'syntax_error', 'found "-", but expected an integer.'],
    ['an empty list', 'MATCH (a:Transfer) WHERE src.id IN [] RETURN a', 'syntax_error', 'found "]", but expected'],
    ['an open text', "MATCH (a:Transfer) WHERE via.id = 'x", 'syntax_error', 'this text does not end'],
    ['an open comment', 'MATCH /* (a:Transfer)', 'syntax_error', 'this comment does not end'],
    ['an unknown escape', "MATCH (a:Transfer) WHERE via.id = '\\x' RETURN a", 'syntax_error', 'this escape is unknown'],
    [
      'too many digits',
      `MATCH (a:Transfer) WHERE src.id = ${'9'.repeat(40)} RETURN a`,
      'syntax_error',
      'has more than 39 digits',
    ],
    [
      'an integer of 129 bits',
      `MATCH (a:Transfer) WHERE src.id = ${2n ** 127n} RETURN a`,
      'syntax_error',
      'is larger than',
    ],
    [
      'a number with letters',
      'MATCH (a:Transfer) WHERE src.id = 5x RETURN a',
      'syntax_error',
      '"5x" is neither a number nor a name',
    ],
    [
      'a strange character',
      'MATCH (a:Transfer) WHERE src.id = 5 & 1 RETURN a',
      'syntax_error',
      'the character "&" has no meaning here',
    ],
    [
      'an unknown label',
      'MATCH (a:Transfr) RETURN a',
      'invalid_statement',
      'there is no edge label "Transfr"; there are Transfer, Meeting',
    ],
    [
      'an unknown member',
      'MATCH (a:Transfer){scr:Account} RETURN a',
      'invalid_statement',
      'Transfer has no member "scr"; it has src, dst, via (did you mean src?).',
    ],
    [
      'a member twice',
      'MATCH (a:Transfer){src:Account, SRC:Account} RETURN a',
      'invalid_statement',
      'the member src occurs twice',
    ],
    [
      'an unknown node label',
      'MATCH (a:Transfer){src:Acount} RETURN a',
      'invalid_statement',
      'there is no node label "Acount"; there are Account, Broker, Lost (did you mean Account?).',
    ],
    [
      'the wrong node label',
      'MATCH (a:Transfer){src:Broker} RETURN a',
      'invalid_statement',
      'Line 1, column 24: the member src of Transfer is Account, not Broker.',
    ],
    [
      'a member called like the edge',
      'MATCH (src:Transfer){src:Account} RETURN src',
      'invalid_statement',
      'give the edge another name',
    ],
    [
      'a member that the pattern leaves out',
      'MATCH (a:Transfer){src:Account} WHERE dst.id = 1 RETURN a',
      'invalid_statement',
      'the pattern does not name the member dst',
    ],
    [
      'another field of a member',
      'MATCH (a:Transfer) WHERE src.name = 1 RETURN a',
      'unknown_column',
      'a member has only an id: write src.id, or a.name',
    ],
    [
      'an unknown owner',
      'MATCH (a:Transfer) WHERE b.note = 1 RETURN a',
      'invalid_statement',
      'Transfer has no member "b"',
    ],
    [
      'an unknown column',
      'MATCH (a:Transfer) WHERE a.amuont = 1 RETURN a',
      'unknown_column',
      '"amuont" is not a column of Transfer; there are event_ts, from_id',
    ],
    [
      'two columns of that name',
      "MATCH (a:Transfer) WHERE a.nOtE = 'x' RETURN a",
      'unknown_column',
      'several columns are called "nOtE" if case is ignored',
    ],
    [
      'a column that does not group',
      'MATCH (a:Meeting) WHERE a.account = 1 RETURN a',
      'unknown_column',
      '"account" is not a group column of Meeting; there are event_ts, meeting_id, room.',
    ],
    [
      'the size of something else',
      'MATCH (a:Transfer) WHERE size(src) = 1 RETURN a',
      'invalid_statement',
      'size(..) takes the edge',
    ],
    [
      'a text for an integer',
      "MATCH (a:Transfer) WHERE src.id = '5' RETURN a",
      'invalid_statement',
      'src.id is of the type INTEGER; compare it with a number, without quotes.',
    ],
    [
      'a number for a text',
      'MATCH (a:Transfer) WHERE via.id = 5 RETURN a',
      'invalid_statement',
      "via.id is of the type TEXT; compare it with a text in '..'.",
    ],
    [
      'a number for a boolean',
      'MATCH (a:Transfer) WHERE a.ok = 1 RETURN a',
      'invalid_statement',
      'compare it with TRUE or FALSE',
    ],
    [
      'a number for a time',
      'MATCH (a:Transfer) WHERE a.at = 1 RETURN a',
      'invalid_statement',
      'compare it with a time such as',
    ],
    [
      'no such day',
      "MATCH (a:Transfer) WHERE a.day = '2024-02-30' RETURN a",
      'invalid_statement',
      'compare it with a date such as',
    ],
    [
      'a text for the time of the edge',
      "MATCH (a:Transfer) WHERE a.event_ts > 'yesterday' RETURN a",
      'invalid_statement',
      'event_ts is in whole seconds since 1970; "yesterday" is not a time in ISO 8601 such as 2024-05-02,',
    ],
    [
      'a day that does not exist for the time of the edge',
      "MATCH (a:Transfer) WHERE a.event_ts IN [0, '2024-02-30'] RETURN a",
      'invalid_statement',
      '"2024-02-30" names a day or an hour that does not exist',
    ],
    [
      'a number in quotes for the time of the edge',
      "MATCH (a:Transfer) WHERE a.event_ts BETWEEN '0' AND 9 RETURN a",
      'invalid_statement',
      '"0" is a number in quotes; write it without them',
    ],
    ['no uuid', "MATCH (a:Transfer) WHERE a.key = 'x' RETURN a", 'invalid_statement', 'compare it with a text such as'],
    [
      'an edge of no table',
      'MATCH (a:NoTable) RETURN a',
      'invalid_input',
      'The edge NoTable names the table "transferz", which the backend does not have; the tables are accounts, transfers, s.seats (did you mean transfers?).',
    ],
    [
      'an edge of no time',
      'MATCH (a:NoTime) RETURN a',
      'unknown_column',
      'The edge NoTime names the column "tz" of "transfers", which the backend does not have',
    ],
    [
      'an edge whose time is a text',
      'MATCH (a:TextTime) RETURN a',
      'invalid_input',
      'it must be an integer (seconds since 1970), a timestamp or a date',
    ],
    ['an edge of no column', 'MATCH (a:NoColumn) RETURN a', 'unknown_column', '(did you mean from_id?)'],
    [
      'an edge whose node has no table',
      'MATCH (a:NoNode) RETURN a',
      'invalid_input',
      'The node Lost names the table "nowhere"',
    ],
    [
      'an edge of two columns',
      'MATCH (a:TwoNotes) RETURN a',
      'unknown_column',
      'but several columns have that name if case is ignored',
    ],
  ])('is refused with the right error: %s', (_what, text, code, detail) => {
    const error = refusal(text);
    expect(error.message).toContain(detail);
    expect(error.code).toBe(code);
    expect(error.status).toBe(400);
    if (error.message.startsWith('Line')) expect(error.fields).toMatchObject({ line: expect.any(Number) });
  });

  it('is refused in linear time if it is a random text or very long', () => {
    const pieces =
      "MATCH|(|a|:|Transfer|)|{|}|src|.|id|=|<|>|5|-|'x'|\"|`|[|]|,|;|AND|WHERE|RETURN|LIMIT|IN|BETWEEN|size|/*|*/|//|\n|é|\ud800|\0|1e9".split(
        '|',
      );
    for (let seed = 0; seed < 3000; seed++) {
      const text = Array.from(
        { length: 1 + (seed % 17) },
        (_, index) => pieces[(seed * 7919 + index * index * 104729) % pieces.length],
      ).join(' ');
      expect(() => compile(text), text).toThrow(HedgerowError);
    }
    const many = Array.from({ length: 10_000 }, (_, index) => index).join(', ');
    expect(compile(`MATCH (a:Transfer) WHERE src.id IN [${many}] RETURN a`).statement.parameters).toHaveLength(10_000);
    expect(refusal(`MATCH (a:Transfer) WHERE src.id IN [${many}, 1] RETURN a`).message).toContain(
      'more than 10000 values',
    );
    expect(refusal(`MATCH (a:Transfer) WHERE ${'src.id = 1 AND '.repeat(501)} 1`).message).toContain(
      'more than 500 conditions',
    );
    expect(refusal('x'.repeat(300_000)).message).toContain('more than the limit');
    expect(refusal(`MATCH ${'('.repeat(200_000)}`).message).toContain('expected a name for the edge');
  });
});
