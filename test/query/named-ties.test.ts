// Runs random statements that tie nodes to edges, by family. The answers must be those of the naive
// evaluator, and where DuckDB is installed its rows too, for the same statement over plain tables.

import { afterAll, describe, expect, it } from 'vitest';
import { openDuckDb } from '../support/duckdb.ts';
import { Random } from '../support/random.ts';
import { NamedChecks } from './named-check.ts';
import { eachNamedState, shapeOf } from './named-random-world.ts';
import { FAMILIES, type Family, tieStatement } from './named-tie-statements.ts';

/**
 * HEDGEROW_STATEMENTS=2000 is the long form: statements in each family. HEDGEROW_FAMILY selects one
 * family.
 */
const STATEMENTS = Number(process.env.HEDGEROW_STATEMENTS ?? 100);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const OF_A_WORLD = 25;

const duckdb = await openDuckDb();
afterAll(() => duckdb?.close());

/**
 * Counts of other nodes and of edges. Joins of several edges have the smallest; the largest have so
 * many edges that they are looked up by node.
 */
const SMALL = [0, 15] as const;
const SIZES = [SMALL, [0, 30], [12, 40], [60, 20], [200, 30], [30, 500]] as const;

async function runWorld(family: Family, seed: number, checks: NamedChecks): Promise<void> {
  const random = new Random(seed);
  const [nodes, edges] = family === 'counts' || family === 'rows' ? SIZES[seed % SIZES.length]! : SMALL;
  const shape = shapeOf(seed + Math.floor(seed / SIZES.length), nodes, edges);
  const statements = Array.from({ length: OF_A_WORLD }, () => tieStatement(random, shape, family));
  await eachNamedState(seed, random, shape, (state) => checks.inState(statements, state, seed));
}

describe.each(FAMILIES.filter((family) => family === (process.env.HEDGEROW_FAMILY ?? family)))(
  'random statements of nodes with their edges: %s',
  (family) => {
    const checks = new NamedChecks(duckdb);
    const worlds = Math.ceil(STATEMENTS / OF_A_WORLD);

    it.each(Array.from({ length: worlds }, (_, place) => FIRST_SEED + place))(
      'agree with the naive evaluator for seed %i',
      (seed) => runWorld(family, seed, checks),
      300_000,
    );

    it('had rows and empty answers', () => {
      const { tally, strategies } = checks;
      if (process.env.HEDGEROW_TALLY === '1') console.log(family, tally, strategies);
      expect(tally.rows).toBeGreaterThan(5 * STATEMENTS * 0.4);
      expect(tally.empty).toBeGreaterThan(0);
      expect(tally.refused).toBeLessThan(5 * STATEMENTS * 0.2);
      if (family === 'counts') expect(tally.counted).toBeGreaterThan(5 * STATEMENTS * 0.15);
    });
  },
);
