import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackendSchema, BackendSession, Dialect, SqlRow, SqlStatement } from '../../src/virtual/backend.ts';
import { openPostgresSession } from '../../src/virtual/backends/postgres-session.ts';
import { compileQuery } from '../../src/virtual/compile/compile.ts';
import { type HydratedEdge, hydrate } from '../../src/virtual/hydrate/hydrate.ts';
import { DUCKDB_MISSING } from '../support/duckdb.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { openTestDuckDb, type TestDuckDb } from './duckdb-rows.ts';
import { evaluate } from './model.ts';
import { makeQuery, makeWorld, type World } from './random-world.ts';

const WORLDS = Number(process.env.VIRTUAL_WORLDS ?? 40);
const POSTGRES_WORLDS = Number(process.env.VIRTUAL_WORLDS ?? 20);
const QUERIES_PER_WORLD = 20;
const PROVENANCE = { graph: 'world', spec_version: 1, captured_at: 0 };

let duckdb: TestDuckDb | undefined;
let postgres: TestPostgres | undefined;
let session: BackendSession | undefined;

beforeAll(async () => {
  duckdb = await openTestDuckDb();
  if (duckdb === undefined) process.stderr.write(`Virtual graphs are not compared: ${DUCKDB_MISSING}.\n`);
  postgres = await startPostgres();
  if (postgres === undefined) return;
  session = openPostgresSession({ name: 'TEST', address: postgres.address, now: () => performance.now() });
}, 60_000);

afterAll(async () => {
  duckdb?.close();
  await session?.close();
  await postgres?.stop();
});

interface Target {
  readonly dialect: Dialect;
  readonly schema: BackendSchema;
  rows(statement: SqlStatement): Promise<SqlRow[]>;
}

/**
 * Compares the answers to random queries over one world with the answers of the naive evaluation.
 * Returns the number of edges and of skipped rows.
 */
async function compareQueries(world: World, random: Random, about: string, target: Target) {
  const found = { edges: 0, skipped: 0 };
  for (let number = 0; number < QUERIES_PER_WORLD; number++) {
    const { edge, query, text } = makeQuery(random, world);
    const compiled = compileQuery(text, world.spec, target.schema, { dialect: target.dialect });
    const edges: HydratedEdge[] = [];
    let skipped = 0;
    for await (const batch of hydrate(once(await target.rows(compiled.statement)), compiled.reading, PROVENANCE)) {
      for (const part of batch.parts()) edges.push(...part);
      skipped += batch.skipped;
    }
    const shown = edges.map(({ members, event_ts, properties }) => ({
      members: members.map(({ vertex_local_id, name, role }) => ({ id: vertex_local_id, name, role })),
      event_ts,
      properties,
    }));
    const expected = evaluate(world.table, edge, query);
    expect({ edges: shown, skipped }, `${about}: ${text}\n${compiled.statement.sql}`).toEqual(expected);
    found.edges += edges.length;
    found.skipped += skipped;
  }
  return found;
}

describe('compiled queries', () => {
  it(`agree in DuckDB with a naive evaluation (${WORLDS * QUERIES_PER_WORLD} queries)`, async (context) => {
    if (duckdb === undefined) return context.skip();
    const found = { edges: 0, skipped: 0 };
    for (let seed = 0; seed < WORLDS; seed++) {
      const random = new Random(seed);
      const world = makeWorld(random, seed);
      await duckdb.run(world.sql.duckdb);
      const target = { dialect: 'duckdb', schema: await duckdb.schema(), rows: duckdb.rows } as const;
      const { edges, skipped } = await compareQueries(world, random, `seed ${seed}`, target);
      found.edges += edges;
      found.skipped += skipped;
      await duckdb.run(`DROP TABLE "t""${seed}"`);
    }
    // Checks that the queries match rows at all.
    expect(found.edges).toBeGreaterThan(WORLDS * 20);
    expect(found.skipped).toBeGreaterThan(WORLDS);
  }, 240_000);

  it(`agree in PostgreSQL with a naive evaluation (${POSTGRES_WORLDS * QUERIES_PER_WORLD} queries)`, async (context) => {
    if (postgres === undefined || session === undefined) return context.skip();
    const worlds = Array.from({ length: POSTGRES_WORLDS }, (_, number) => {
      const random = new Random(number + 5000);
      return { random, world: makeWorld(random, number) };
    });
    await postgres.run(worlds.map(({ world }) => world.sql.postgres).join('\n'));
    const { query } = session;
    const rows = async (statement: SqlStatement) => {
      const all: SqlRow[] = [];
      for await (const batch of query(statement, {})) all.push(...batch);
      return all;
    };
    const target = { dialect: 'postgres', schema: await session.schema(), rows } as const;
    let edges = 0;
    for (const [number, { random, world }] of worlds.entries())
      edges += (await compareQueries(world, random, `seed ${number + 5000}`, target)).edges;
    expect(edges).toBeGreaterThan(POSTGRES_WORLDS * 20);
  }, 240_000);
});

async function* once<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
  yield rows;
}
