// Uses the firewall to check what a text or a list of claims states about given edges.

import type { Database, Table } from '../engine/index.ts';
import { EmbeddedStatements } from '../query/index.ts';
import { type CheckResult, checkClaims, checkText } from './check-claims.ts';
import { edgesById } from './computed.ts';
import type { CheckRequest, StepRunner } from './request.ts';
import { memberNames, NAMES_SUFFIX } from './retrieval/bind.ts';
import { supportOf } from './support.ts';

/**
 * Compares a text, or claims, with edges in a table and returns the verdicts. Rejects with
 * `table_not_found`, `table_corrupt`, and the errors from the runner.
 */
export async function edgeClaims(
  database: Database,
  request: CheckRequest,
  runner: StepRunner,
  statements = new EmbeddedStatements({ database }),
): Promise<CheckResult> {
  const table = database.table(request.table);
  const edges = await edgesById(table, request.edgeIds, statements, runner);
  const names = namesOf(database, table);
  const support = supportOf(edges, undefined, names && (await runner.run(memberNames(names, edges))));
  return runner.run('text' in request ? checkText(request.text, support) : checkClaims(request.claims, support));
}

/**
 * Returns the table that contains the names of the given table's nodes, if an import created one.
 */
export function namesOf(database: Database, { name }: Table): Table | undefined {
  const wanted = `${name}${NAMES_SUFFIX}`.toLowerCase();
  return database.tables().find((table) => table.name.toLowerCase() === wanted);
}
