// Runs random UPDATE and DELETE with EXISTS. They must find the rows that a MATCH with the same
// condition finds; MATCH itself is compared with the naive evaluator in random.test.ts.

import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { Random } from '../support/random.ts';
import { runDoor } from './door.ts';
import { randomExists, withExists } from './random-exists.ts';
import { indexable, type Shape } from './random-expressions.ts';
import { eachState } from './random-world.ts';

const CONDITIONS = 12;

interface Condition {
  readonly text: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * Returns a condition on the table Contact, whose columns are written after the table's name. The
 * name alone is a row in a MATCH only, so conditions with it are left out.
 */
function randomCondition(random: Random): Condition {
  for (;;) {
    const condition = anyCondition(random);
    if (!/Contact IS\b/.test(condition.text)) return condition;
  }
}

function anyCondition(random: Random): Condition {
  const shape: Shape = { random, aliases: ['Contact'], parameters: {}, loose: true, roles: [] };
  const tests = [randomExists(withExists(shape))];
  if (random.below(2) === 0) tests.push(random.below(2) === 0 ? randomExists(withExists(shape)) : indexable(shape));
  return { text: tests.join(random.below(3) === 0 ? ' OR ' : ' AND '), parameters: shape.parameters };
}

function statementsOf(database: Database): Statements {
  return new Statements({
    database,
    now: () => 1e12,
    nowUs: () => 0,
    newId: () => 'id',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
  });
}

const atOnce = async (step: () => boolean): Promise<void> => {
  while (step());
};

/** Returns the only row of an answer, or the code of a refusal. */
async function outcome(statements: Statements, text: string, parameters: Condition['parameters']): Promise<unknown> {
  try {
    return (await runDoor(statements, text, parameters, 's', atOnce)).rows[0];
  } catch (error) {
    if (error instanceof HedgerowError && error.status < 500) return error.code;
    throw error;
  }
}

/** Counts of conditions, with which the test checks its own coverage. */
const tally = { some: 0, none: 0, refused: 0 };

describe('random changes with EXISTS', () => {
  it.each(Array.from({ length: 12 }, (_, place) => 1 + place))('find the rows of a MATCH (seed %i)', async (seed) => {
    const random = new Random(1000 + seed);
    await eachState(seed, async ({ database }) => {
      const statements = statementsOf(database);
      for (let i = 0; i < CONDITIONS; i++) {
        const { text, parameters } = randomCondition(random);
        const counted = await outcome(
          statements,
          `MATCH (Contact:Contact) WHERE ${text} RETURN COUNT(*) AS c`,
          parameters,
        );
        const isCounted = typeof counted === 'object';
        const count = isCounted ? (counted as { c: number }).c : -1;
        tally[isCounted ? (count > 0 ? 'some' : 'none') : 'refused']++;
        await runDoor(statements, 'BEGIN', {}, 's', atOnce);
        const expected = isCounted ? expect.objectContaining({ rows_affected: count }) : counted;
        const update = `UPDATE Contact SET formation = 'changed' WHERE ${text}`;
        expect([update, parameters, await outcome(statements, update, parameters)]).toEqual([
          update,
          parameters,
          expected,
        ]);
        await runDoor(statements, 'ROLLBACK', {}, 's', atOnce);
        await runDoor(statements, 'BEGIN', {}, 's', atOnce);
        const remove = `DELETE FROM Contact WHERE ${text}`;
        expect([remove, parameters, await outcome(statements, remove, parameters)]).toEqual([
          remove,
          parameters,
          expected,
        ]);
        await runDoor(statements, 'ROLLBACK', {}, 's', atOnce);
      }
      statements.close();
    });
  });

  it('found some rows, and none', () => {
    expect(tally.some).toBeGreaterThan(200);
    expect(tally.none).toBeGreaterThan(50);
  });
});
