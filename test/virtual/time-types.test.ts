import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isoTime } from '../../src/iso-time.ts';
import type { BackendSchema, Dialect, SqlRow, SqlStatement } from '../../src/virtual/backend.ts';
import { openPostgresSession } from '../../src/virtual/backends/postgres-session.ts';
import { compileQuery } from '../../src/virtual/compile/compile.ts';
import { type HydratedEdge, hydrate } from '../../src/virtual/hydrate/hydrate.ts';
import { checkedSpec } from '../../src/virtual/spec/spec.ts';
import { instantOf, isoOfMicros } from '../../src/virtual/times.ts';
import { startPostgres } from '../support/postgres.ts';
import { openTestDuckDb } from './duckdb-rows.ts';

/** Times as SQL text, each with the second (since 1970) that contains it. */
const INSTANTS: readonly (readonly [text: string, second: number])[] = [
  ['1969-12-31 23:59:58.500', -2],
  ['1969-12-31 23:59:59', -1],
  ['1970-01-01 00:00:00', 0],
  ['1970-01-01 00:00:00.999', 0],
  ['2024-02-29 12:00:00.001', 1_709_208_000],
  ['2261-12-31 23:59:59.999', 9_214_646_399],
];
const DAYS: readonly (readonly [text: string, second: number])[] = [
  ['0001-01-01', -62_135_596_800],
  ['1969-12-31', -86_400],
  ['1970-01-01', 0],
  ['9999-12-31', 253_402_214_400],
];

interface Backend {
  readonly dialect: Dialect;
  /** Types that can represent INSTANTS exactly. */
  readonly exact: readonly string[];
  /** Types that can only represent whole seconds. */
  readonly whole: readonly string[];
  schema(): Promise<BackendSchema>;
  run(sql: string): Promise<unknown>;
  rows(statement: SqlStatement): Promise<SqlRow[]>;
  close(): Promise<void>;
}

async function duckdbBackend(): Promise<Backend | undefined> {
  const duckdb = await openTestDuckDb();
  if (duckdb === undefined) return undefined;
  return {
    dialect: 'duckdb',
    exact: ['TIMESTAMP', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMPTZ'],
    whole: ['TIMESTAMP_S'],
    schema: duckdb.schema,
    run: duckdb.run,
    rows: duckdb.rows,
    close: async () => duckdb.close(),
  };
}

async function postgresBackend(): Promise<Backend | undefined> {
  const postgres = await startPostgres();
  if (postgres === undefined) return undefined;
  const session = openPostgresSession({ name: 'TEST', address: postgres.address, now: () => performance.now() });
  return {
    dialect: 'postgres',
    exact: ['timestamp', 'timestamptz', 'timestamp(3)'],
    whole: [],
    schema: () => session.schema(),
    run: (sql) => postgres.run(sql),
    rows: async (statement) => {
      const all: SqlRow[] = [];
      for await (const batch of session.query(statement, {})) all.push(...batch);
      return all;
    },
    close: async () => {
      await session.close();
      await postgres.stop();
    },
  };
}

const INTEGERS = ['SMALLINT', 'INTEGER', 'BIGINT'];

/**
 * Makes a table (t0, t1, ...) with the columns m and Time for each type. Returns the values by
 * type.
 */
async function makeTables(backend: Backend): Promise<Map<string, readonly (readonly [string, number])[]>> {
  const tables = new Map<string, readonly (readonly [string, number])[]>();
  const make = async (type: string, values: readonly (readonly [string, number])[], infinite: readonly string[]) => {
    const table = `t${tables.size}`;
    const texts = [...values.map(([text]) => text), ...infinite];
    const rows = texts.map((text, index) => `(${index}, CAST('${text}' AS ${type}))`);
    await backend.run(
      `CREATE TABLE ${table} (m INTEGER, "Time" ${type}); INSERT INTO ${table} VALUES ${rows.join(', ')}, (99, NULL)`,
    );
    tables.set(type, values);
  };
  for (const type of backend.exact)
    await make(type, INSTANTS, type === 'TIMESTAMP_MS' ? [] : ['infinity', '-infinity']);
  for (const type of backend.whole)
    await make(
      type,
      INSTANTS.filter(([text]) => !text.includes('.')),
      [],
    );
  await make('DATE', DAYS, ['infinity', '-infinity']);
  for (const type of INTEGERS)
    await make(
      type,
      [-3, 0, 7].map((second) => [String(second), second]),
      [],
    );
  return tables;
}

const OPERATORS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<>': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

function specOf(count: number) {
  const tables = Array.from({ length: count }, (_, index) => `t${index}`);
  const members = [{ name: 'm', node_label: 'N', role: 'm' }];
  return checkedSpec(
    {
      id: 'times',
      backend: { type: 'postgres', dsn: 'TEST' },
      nodes: [{ label: 'N', table: 't0', id_column: 'm' }],
      edges: tables.flatMap((table) => [
        { label: `R${table}`, shape: 'row', table, ts_column: 'Time', row_member_columns: { m: 'm' }, members },
        {
          label: `G${table}`,
          shape: 'group',
          table,
          ts_column: 'Time',
          group_columns: ['m'],
          member_column: 'm',
          members,
        },
      ]),
    },
    { root: '/srv/virtual' },
  );
}

describe.each([
  ['DuckDB', duckdbBackend],
  ['PostgreSQL', postgresBackend],
] as const)('times in %s', (_name, open) => {
  let backend: Backend | undefined;
  let tables: Awaited<ReturnType<typeof makeTables>>;
  let schema: BackendSchema;
  beforeAll(async () => {
    backend = await open();
    if (backend === undefined) return;
    tables = await makeTables(backend);
    schema = await backend.schema();
  }, 60_000);
  afterAll(() => backend?.close());

  it('become whole seconds and are compared as such, for every type and shape', async (context) => {
    if (backend === undefined) return context.skip();
    const spec = specOf(tables.size);
    const { dialect, rows } = backend;
    let compared = 0;
    for (const [index, [type, values]] of [...tables].entries()) {
      for (const label of [`Rt${index}`, `Gt${index}`]) {
        const ask = async (where: string) => {
          const { statement, reading } = compileQuery(`MATCH (e:${label}) ${where}RETURN e`, spec, schema, { dialect });
          return edgesOf(await rows(statement), reading);
        };
        const seconds = values.map(([, second]) => second).sort((a, b) => a - b);
        const all = await ask('');
        expect(
          all.edges.map(({ event_ts }) => event_ts),
          `${label} ${type}`,
        ).toEqual(seconds);
        expect(all.skipped, `${label} ${type}`).toBeGreaterThan(0);
        expect((await ask('WHERE e.event_ts >= -1e14 ')).edges).toHaveLength(seconds.length);
        for (const literal of new Set([
          ...seconds.flatMap((second) => [second, second + 1, second - 0.5]),
          3e11,
          -1e15,
        ])) {
          const [operator, holds] = Object.entries(OPERATORS)[compared++ % 6]!;
          const { edges } = await ask(`WHERE e.event_ts ${operator} ${literal} `);
          if (Number.isInteger(literal)) {
            const written = await ask(`WHERE e.event_ts ${operator} "${isoTime(literal)}" `);
            expect(written.edges, `${label} ${type} ${operator} ${isoTime(literal)}`).toEqual(edges);
          }
          const expected = seconds.filter((second) => holds(second, literal));
          expect(
            edges.map(({ event_ts }) => event_ts),
            `${label} ${type} ${operator} ${literal}`,
          ).toEqual(expected);
        }
      }
    }
    expect(compared).toBeGreaterThan(100);
  }, 120_000);
});

async function edgesOf(rows: SqlRow[], reading: Parameters<typeof hydrate>[1]) {
  const batches = (async function* () {
    yield rows;
  })();
  const found: { edges: HydratedEdge[]; skipped: number } = { edges: [], skipped: 0 };
  for await (const batch of hydrate(batches, reading, { graph: 'g', spec_version: 1, captured_at: 0 })) {
    for (const part of batch.parts()) found.edges.push(...part);
    found.skipped += batch.skipped;
  }
  return found;
}

describe('texts of times', () => {
  it('are parsed as ISO 8601 and written as ISO 8601', () => {
    expect(instantOf('2024-05-31')).toEqual({ second: 1_717_113_600, micros: 0 });
    expect(instantOf('2024-05-31T14:00:00.5Z')).toEqual({ second: 1_717_164_000, micros: 500_000 });
    expect(instantOf('2024-05-31 14:00+02:00')).toEqual({ second: 1_717_156_800, micros: 0 });
    expect(instantOf('1969-12-31T23:59:59.999999-0100')).toEqual({ second: 3599, micros: 999_999 });
    for (const wrong of [
      '',
      '2024',
      '2024-13-01',
      '2023-02-29',
      '2024-05-31T24:00',
      '2024-05-31T1:00',
      '0000-01-01',
      '2024-05-31T10:00:00.1234567',
      '0001-01-01T00:00+01:00',
      '9999-12-31T23:59-01:00',
      '2024-05-31T00:00+16:00',
      '２０24-05-31',
      "2024-05-31'",
    ])
      expect(instantOf(wrong), wrong).toBeUndefined();
    for (const micros of [0, -1, 1, 1_717_164_000_500_000, -62_135_596_800_000_000, 253_402_300_799_999_999n])
      expect(micros).toEqual(microsOf(isoOfMicros(micros), typeof micros));
  });
});

function microsOf(text: string, type: string): number | bigint {
  const { second, micros } = instantOf(text)!;
  const whole = BigInt(second) * 1_000_000n + BigInt(micros);
  return type === 'bigint' ? whole : Number(whole);
}
