// Uses the firewall to check what a text or a list of claims states about given edges.

import type { Database, Table } from '../engine/index.ts';
import { kindOfType } from '../model/column-types.ts';
import { EmbeddedStatements } from '../query/index.ts';
import { type CheckResult, checkClaims, checkText } from './check-claims.ts';
import { edgesById } from './computed.ts';
import { storedTexts } from './figure-conditions.ts';
import { folded } from './firewall/lookalikes.ts';
import { possibleValues } from './firewall/value-claims.ts';
import { keyedSupport, keyTexts } from './keyed-support.ts';
import type { CheckRequest, StepRunner } from './request.ts';
import { memberNames, NAMES_SUFFIX } from './retrieval/bind.ts';
import { MemberKeys } from './retrieval/member-keys.ts';
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
  const keys = MemberKeys.of(table, database.nodes);
  const edges = await edgesById(table, request.edgeIds, statements, runner, keys);
  const names = namesOf(database, table);
  const text = 'text' in request ? request.text : request.claims.join('\n');
  const values = await valuesIn(text, table, statements, runner);
  const memberTexts = keys ? keyTexts(edges, keys) : names && (await runner.run(memberNames(names, edges)));
  const keyed = keys && (await runner.run(keyedSupport(text, keys, undefined)));
  const support = supportOf(edges, undefined, memberTexts, values, keyed);
  return runner.run('text' in request ? checkText(request.text, support) : checkClaims(request.claims, support));
}

/** Returns the values of text columns that a text may repeat, in lower case. */
async function valuesIn(
  text: string,
  table: Table,
  statements: EmbeddedStatements,
  runner: StepRunner,
): Promise<Set<string>> {
  const possible = await runner.run(possibleValues(folded(text)));
  const values = new Set<string>();
  if (possible.size === 0) return values;
  const columns = table.item().columns.filter(({ type }) => kindOfType(type) === 'text');
  for (const column of new Set(['formation', ...columns.map(({ name }) => name)])) {
    const found = await storedTexts(column, (one) => possible.has(one), { table, statements, runner });
    for (const one of found?.texts ?? []) values.add(one.toLowerCase());
  }
  return values;
}

/**
 * Returns the table that contains the names of the given table's nodes, if an import created one.
 */
export function namesOf(database: Database, { name, kinds }: Table): Table | undefined {
  if (kinds !== undefined) return undefined; // nodes of a named table have keys
  const wanted = `${name}${NAMES_SUFFIX}`.toLowerCase();
  return database.tables().find((table) => table.name.toLowerCase() === wanted);
}
