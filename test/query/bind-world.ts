// Opens the tables for binder tests, and binds statements to them.

import { beforeAll } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { BoundDelete, BoundInsert, BoundMatch, BoundUpdate } from '../../src/query/binder/bound.ts';
import { bindDelete, bindInsert, bindUpdate } from '../../src/query/binder/changes.ts';
import { bindingMatch, bindMatch } from '../../src/query/binder/match.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

let database: Database;

beforeAll(async () => {
  database = await openSim(simDisk());
  await database.createTable({
    name: 'Contact',
    columns: [
      { name: 'n', type: 'INTEGER' },
      { name: 'score', type: 'REAL' },
      { name: 'Place', type: 'TEXT' },
      { name: 'ok', type: 'BOOLEAN' },
    ],
  });
  await database.createTable({ name: 'Trip', bucketSeconds: 60 });
});

export function bind(
  text: string,
  parameters: ParameterValues = {},
): BoundMatch | BoundInsert | BoundUpdate | BoundDelete {
  const node = parseStatement(text);
  switch (node.kind) {
    case 'match':
      return bindMatch(node, text, database, parameters);
    case 'insert':
      return bindInsert(node, text, database, parameters);
    case 'update':
      return bindUpdate(node, text, database, parameters);
    case 'delete':
      return bindDelete(node, text, database, parameters);
    default:
      throw new Error(`${node.kind} has nothing to bind`);
  }
}

export function match(text: string, parameters?: ParameterValues): BoundMatch {
  return bind(text, parameters) as BoundMatch;
}

/** Returns the steps in which a MATCH is bound. */
export function matchSteps(text: string): Generator<null, BoundMatch, void> {
  return bindingMatch(parseStatement(text) as MatchNode, text, database, {});
}

/** Returns `code line:column` and the message with which a statement is refused. */
export function refusal(
  text: string,
  parameters?: ParameterValues,
): { place: string; detail: string; error: HedgerowError } {
  try {
    bind(text, parameters);
  } catch (error) {
    if (!(error instanceof HedgerowError)) throw error;
    const { line, column } = (error.fields ?? {}) as { line?: number; column?: number };
    return { place: `${error.code} ${line}:${column}`, detail: error.message, error };
  }
  throw new Error(`${text} was bound`);
}
