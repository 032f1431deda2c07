// Runs random statements on named tables. The answers must be those of the naive evaluator, and
// where DuckDB is installed its rows too, for the same statement over plain tables.

import { afterAll, describe, expect, it } from 'vitest';
import { openDuckDb } from '../support/duckdb.ts';
import { Random } from '../support/random.ts';
import { NamedChecks } from './named-check.ts';
import { namedStatement } from './named-random.ts';
import { eachNamedState, shapeOf } from './named-random-world.ts';

/** HEDGEROW_STATEMENTS=5000 is the long form. */
const STATEMENTS = Number(process.env.HEDGEROW_STATEMENTS ?? 200);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const OF_A_WORLD = 25;

const duckdb = await openDuckDb();
afterAll(() => duckdb?.close());

const checks = new NamedChecks(duckdb);

async function runWorld(seed: number): Promise<void> {
  const random = new Random(seed);
  const shape = shapeOf(seed);
  const statements = Array.from({ length: OF_A_WORLD }, () => namedStatement(random, shape.roles));
  await eachNamedState(seed, random, shape, (state) => checks.inState(statements, state, seed));
}

describe('random statements on named tables', () => {
  const worlds = Math.ceil(STATEMENTS / OF_A_WORLD);
  it.each(Array.from({ length: worlds }, (_, place) => FIRST_SEED + place))(
    'agree with the naive evaluator for seed %i',
    runWorld,
    120_000,
  );

  it('find COUNT(alias) in ORDER BY where COUNT(*) is returned, because both count rows', async () => {
    const shape = shapeOf(1);
    const text = 'MATCH (a:Person) RETURN a.place AS place, COUNT(*) AS n ORDER BY -COUNT(a) + 0, place';
    const statement = { text, parameters: {} };
    const kept = new NamedChecks(duckdb);
    await eachNamedState(1, new Random(1), shape, (state) =>
      kept.inState([{ named: statement, plain: statement }], state, 1),
    );
    expect(kept.tally).toMatchObject({ rows: 5, refused: 0 });
  });

  it('had rows, empty answers, refusals, and rows that the core wrote', () => {
    const { tally } = checks;
    if (process.env.HEDGEROW_TALLY === '1') console.log(tally, checks.strategies);
    if (worlds < 8) return;
    expect(tally.rows).toBeGreaterThan(5 * STATEMENTS * 0.3);
    for (const count of [tally.empty, tally.refused, tally.written]) expect(count).toBeGreaterThan(0);
  });
});
