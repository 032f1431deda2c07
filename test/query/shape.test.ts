// Tests the shape of a MATCH, which is computed once and planned many times. It must never be
// modified, and plans for execution must request from the indexes only what they need.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import type { BoundMatch } from '../../src/query/binder/bound.ts';
import { bindMatch } from '../../src/query/binder/match.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { explainRow } from '../../src/query/explain.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import type { MatchPlan } from '../../src/query/planner/plan.ts';
import { planShape } from '../../src/query/planner/planner.ts';
import type { Estimator } from '../../src/query/planner/scans.ts';
import { type MatchShape, shapeOf } from '../../src/query/planner/shape.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { runPlan } from './execute.ts';
import { eachState } from './random-world.ts';

const estimate: Estimator = ({ table }, { startTs, endTs, nodes, ranges }) =>
  table.estimate({
    startTs,
    endTs,
    nodes: nodes.length === 0 ? undefined : nodes,
    where: ranges.length === 0 ? undefined : ranges,
  });

/** Returns the plan of a statement that is executed. */
function planToRun(shape: MatchShape, parameters: ParameterValues): MatchPlan {
  return planShape(shape, parameters, estimate, ({ table }) => table.estimate({}).totalBuckets);
}

/** Freezes plain values and lists recursively. Tables and other objects are not frozen. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

function bound(text: string, database: Database, parameters: ParameterValues): BoundMatch | undefined {
  try {
    return bindMatch(parseStatement(text) as MatchNode, text, database, parameters);
  } catch {
    return undefined;
  }
}

function rowsOf(shape: MatchShape, parameters: ParameterValues): readonly string[] | string {
  try {
    return runPlan(planToRun(shape, parameters), parameters).rows;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the shape of a MATCH', () => {
  it.each([31, 32, 33])('is not changed by plans and runs (seed %i)', async (seed) => {
    let runs = 0;
    await eachState(seed, async ({ database, statements }) => {
      for (const { text, parameters } of statements) {
        const match = bound(text, database, parameters);
        if (match === undefined) continue;
        const shape = shapeOf(match);
        const needs = structuredClone(shape.needs);
        const first = rowsOf(shapeOf(match), parameters);
        freeze(shape);
        expect(rowsOf(shape, parameters), text).toEqual(first);
        expect(rowsOf(shape, parameters), text).toEqual(first);
        expect(shape.needs, text).toEqual(needs);
        runs += typeof first === 'string' ? 0 : 1;
      }
    });
    expect(runs).toBeGreaterThan(30);
  });
});

describe('a plan for execution', () => {
  let database: Database;

  beforeAll(async () => {
    database = await openSim(simDisk(), { core: 'release' });
    await database.createTable({ name: 'T', columns: [{ name: 'n', type: 'INTEGER' }] });
  });

  afterAll(() => database.close());

  it.each([
    ['a:T) RETURN *', 0],
    ['a:T) WHERE 5 IN a.members RETURN *', 0],
    ['a:T) WHERE 5 IN a.members AND a.n > 3 RETURN *', 0],
    ['a:T) WHERE a.event_ts BETWEEN 3 AND 9 RETURN count(*)', 0],
    ['a:T) WHERE a.event_ts = 3 AND a.event_ts = 4 RETURN a', 0],
    ['a:T) WHERE a.n > 3 RETURN *', 1],
    ['a:T) WHERE a.event_ts = 1 OR a.event_ts = 5 RETURN *', 3],
    ['a:T), (b:T) WHERE a.id = b.id RETURN a', 4],
  ])('requests an estimate only if the plan depends on it: (%s', (text, asked) => {
    let asks = 0;
    const counted: Estimator = (pattern, request) => {
      asks += 1;
      return estimate(pattern, request);
    };
    const shape = shapeOf(bound(`MATCH (${text}`, database, {})!);
    planShape(shape, {}, counted, () => 7);
    expect(asks).toBe(asked);
    // A plan that is shown has all estimates.
    const { estimated_rows: rows, buckets_scanned: buckets } = explainRow(planShape(shape, {}, estimate));
    expect([rows, buckets].every(Number.isFinite)).toBe(true);
  });
});
