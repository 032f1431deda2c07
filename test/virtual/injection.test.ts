import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { type CompiledQuery, compileQuery } from '../../src/virtual/compile/compile.ts';
import { hydrate } from '../../src/virtual/hydrate/hydrate.ts';
import { checkedSpec, type VirtualSpec } from '../../src/virtual/spec/spec.ts';
import { DUCKDB_MISSING } from '../support/duckdb.ts';
import { Random } from '../support/random.ts';
import { openTestDuckDb, type TestDuckDb } from './duckdb-rows.ts';
import { evaluate, type ModelCondition, type ModelEdge, type ModelTable } from './model.ts';
import { quotedText } from './random-world.ts';

/**
 * Number of worlds. Each world has 20 queries with different names and literals. For a long run,
 * set INJECTION_WORLDS=1000.
 */
const WORLDS = Number(process.env.INJECTION_WORLDS ?? 40);
const QUERIES_PER_WORLD = 20;
const PIECES = [
  ...[
    '"',
    "'",
    '`',
    ';',
    '--',
    '/*',
    '*/',
    '\\',
    '\0',
    '\n',
    '\r',
    '$1',
    '$$',
    '%',
    '_',
    '?',
    ':x',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
  ],
  ...[
    '; DROP TABLE victims; --',
    "' OR '1'='1",
    '" FROM victims --',
    "'); DELETE FROM victims; --",
    '"; ATTACH',
    'x',
    'Y',
    ' ',
    '1',
  ],
  ...[
    'é',
    '中',
    '😀',
    '\u2028',
    '\u202e',
    '\uff07',
    '\u02bc',
    '\ufeff',
    "E'",
    "U&'",
    '\u0001',
    'NULL',
    'AS edge',
    '.',
    ',',
  ],
];

let duckdb: TestDuckDb | undefined;
beforeAll(async () => {
  duckdb = await openTestDuckDb();
  if (duckdb === undefined) process.stderr.write(`Injections are not tried in DuckDB: ${DUCKDB_MISSING}.\n`);
  await duckdb?.run('CREATE TABLE victims (id BIGINT); INSERT INTO victims VALUES (1)');
});
afterAll(() => duckdb?.close());

function nasty(random: Random): string {
  return unmarked(Array.from({ length: 1 + random.below(4) }, () => PIECES[random.below(PIECES.length)]!).join(''));
}

/** Replaces byte order marks at the start of a text, because DuckDB's library drops them. */
function unmarked(text: string): string {
  return text.replace(/^\ufeff+/, 'b');
}

/**
 * Returns a name that a table or column can have. It contains no NUL. The number makes names
 * distinct even if case is ignored.
 */
function nastyName(random: Random, number: number): string {
  return unmarked(`${nasty(random).replaceAll('\0', '')}${number}`);
}

interface NastyWorld {
  readonly table: ModelTable;
  readonly name: string;
  readonly edge: ModelEdge;
  readonly spec: VirtualSpec;
}

function makeWorld(random: Random, number: number): NastyWorld {
  const name = nastyName(random, number);
  const columns = [0, 1, 2, 3].map(
    (index) => ({ name: nastyName(random, index), kind: index === 0 ? 'integer' : 'text' }) as const,
  );
  const text = () => (random.chance(0.1) ? null : nasty(random));
  const rows = Array.from({ length: 12 }, (_, index) => [index, text(), text(), text()]);
  const [ts, first, second] = columns.map((column) => column.name) as [string, string, string];
  const member = (member: string, column: string) => ({ name: member, role: member, label: 'Thing', column });
  const edge: ModelEdge = {
    label: 'E',
    shape: 'row',
    ts,
    members: [member('m', first), member('n', second)],
    keys: [],
  };
  const spec = checkedSpec(
    {
      id: 'nasty',
      backend: { type: 'duckdb', path: 'x.duckdb' },
      nodes: [{ label: 'Thing', table: name, id_column: first }],
      edges: [
        {
          ...{ label: 'E', shape: 'row', table: name, ts_column: ts, row_member_columns: { m: first, n: second } },
          members: edge.members.map(({ name: member, role }) => ({ name: member, role, node_label: 'Thing' })),
        },
      ],
    },
    { root: '/srv/virtual' },
  );
  return { name, table: { columns, rows }, edge, spec };
}

async function load(db: TestDuckDb, { name, table }: NastyWorld): Promise<void> {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const types = table.columns.map((column, index) => `${quoted(column.name)} ${index === 0 ? 'BIGINT' : 'VARCHAR'}`);
  await db.run(`CREATE TABLE ${quoted(name)} (${types.join(', ')})`);
  for (const [time, ...texts] of table.rows) {
    const shown = texts.map((text, index) => (text === null ? 'NULL' : `$${index + 1}`));
    const parameters = texts.map((text) => (text === null ? '' : String(text)));
    // NULL is written without a parameter, but every parameter that is passed must appear in the
    // SQL.
    const unused = texts.map((_, index) => `length($${index + 1}) IS NOT NULL`).join(' AND ');
    await db.rows({
      sql: `INSERT INTO ${quoted(name)} SELECT ${[time, ...shown].join(', ')} WHERE ${unused}`,
      parameters,
    });
  }
}

function makeQuery(random: Random, { table, edge }: NastyWorld): { condition: ModelCondition; text: string } {
  const writable = table.columns.slice(1).filter(({ name }) => !name.includes('`'));
  const of = random.chance(0.5) || writable.length === 0 ? 'member' : 'column';
  const on = of === 'member' ? ['m', 'n'][random.below(2)]! : writable[random.below(writable.length)]!.name;
  const op = (['=', '=', '<>', '<', '>=', 'IN'] as const)[random.below(6)]!;
  const column = of === 'member' ? edge.members.find(({ name }) => name === on)!.column : on;
  const index = table.columns.findIndex(({ name }) => name === column);
  const present = table.rows.map((row) => row[index]).filter((value) => value !== null) as string[];
  const literal = () =>
    random.chance(0.4) && present.length > 0 ? present[random.below(present.length)]! : nasty(random);
  const values = op === 'IN' ? [literal(), literal()] : [literal()];
  const shown = values.map((value) => quotedText(random, value));
  const subject = of === 'member' ? `${on}.id` : `e.\`${on}\``;
  const test = op === 'IN' ? `IN [${shown.join(', ')}]` : `${op} ${shown[0]}`;
  return { condition: { of, on, op, values }, text: `MATCH (e:E){m:Thing, n:Thing} WHERE ${subject} ${test} RETURN e` };
}

describe('names and literals of any kind', () => {
  it(`compile to one correct statement (${WORLDS * QUERIES_PER_WORLD} random queries)`, async (context) => {
    if (duckdb === undefined) return context.skip();
    let found = 0;
    for (let seed = 0; seed < WORLDS; seed++) {
      const random = new Random(seed + 77);
      const world = makeWorld(random, seed + 10);
      await load(duckdb, world);
      const schema = await duckdb.schema();
      for (let number = 0; number < QUERIES_PER_WORLD; number++) {
        const { condition, text } = makeQuery(random, world);
        const compiled = compileQuery(text, world.spec, schema, { dialect: 'duckdb' });
        const about = `seed ${seed}: ${JSON.stringify(text)}`;
        expect(await duckdb.statementCount(compiled.statement.sql), about).toBe(1);
        const edges = await edgesOf(duckdb, compiled);
        const expected = evaluate(world.table, world.edge, { conditions: [condition], limit: undefined });
        expect(edges, about).toEqual(expected.edges);
        found += edges.length;
      }
      await duckdb.run(`DROP TABLE "${world.name.replaceAll('"', '""')}"`);
    }
    expect(found).toBeGreaterThan(WORLDS * QUERIES_PER_WORLD);
    expect(await duckdb.rows({ sql: 'SELECT count(*) FROM victims', parameters: [] })).toEqual([[1n]]);
  }, 600_000);

  it('are bound as parameters if they are literals, in both dialects', () => {
    const random = new Random(5);
    const world = makeWorld(random, 1);
    const columns = world.table.columns.map(({ name, kind }) => ({ name, kind, type: kind }));
    const schema = { tables: [{ name: world.name, path: [world.name], columns, row_count: null }] };
    for (const dialect of ['duckdb', 'postgres'] as const) {
      const sql = new Set<string>();
      for (const text of ["'a'", "'; DROP TABLE victims; --'", '"\\u0027"', "'''"].slice(0, 3)) {
        const query = `MATCH (e:E) WHERE m.id = ${text} RETURN e`;
        sql.add(compileQuery(query, world.spec, schema, { dialect }).statement.sql);
      }
      expect(sql.size, dialect).toBe(1);
    }
  });

  it('are refused if they contain NUL, which PostgreSQL cannot store, or an unpaired surrogate', () => {
    const world = makeWorld(new Random(6), 1);
    const columns = world.table.columns.map(({ name, kind }) => ({ name, kind, type: kind }));
    const schema = { tables: [{ name: world.name, path: [world.name], columns, row_count: null }] };
    const refuse = (literal: string) => () =>
      compileQuery(`MATCH (e:E) WHERE m.id = ${literal} RETURN e`, world.spec, schema, { dialect: 'postgres' });
    expect(refuse("'a\\u0000b'")).toThrow(/character NUL/);
    expect(refuse("'a\0b'")).toThrow(/character NUL/);
    expect(refuse("'\\ud800'")).toThrow(/half of a surrogate pair/);
    expect(refuse("'\ud800'")).toThrow(HedgerowError);
  });
});

async function edgesOf(db: TestDuckDb, { statement, reading }: CompiledQuery): Promise<unknown[]> {
  const rows = await db.rows(statement);
  const edges: unknown[] = [];
  const batches = (async function* () {
    yield rows;
  })();
  for await (const batch of hydrate(batches, reading, { graph: 'nasty', spec_version: 1, captured_at: 0 }))
    for (const { members, event_ts, properties } of [...batch.parts()].flat())
      edges.push({
        members: members.map(({ vertex_local_id, name, role }) => ({ id: vertex_local_id, name, role })),
        event_ts,
        properties,
      });
  return edges;
}
