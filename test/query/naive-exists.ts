// Evaluates EXISTS: tries every combination of rows of its patterns.

import type { ExistsNode, Expression, PatternNode } from '../../src/query/parser/ast.ts';
import {
  type Combination,
  isCondition,
  type Meaning,
  meaningOf,
  type NaiveRow,
  type NaiveTable,
  type Names,
} from './naive-expressions.ts';
import { Refusal, refuse } from './naive-values.ts';

/** Returns the patterns. Throws `Refusal` if a table is unknown or an alias occurs twice. */
export function naivePatterns(
  nodes: readonly PatternNode[],
  tables: readonly NaiveTable[],
  outer: Names['patterns'] = [],
): Names['patterns'] {
  const patterns = nodes.map((pattern) => {
    const table = tables.find((one) => one.name.toLowerCase() === pattern.table.name.toLowerCase());
    if (table === undefined) throw new Refusal('table_not_found', `no table ${pattern.table.name}`);
    return { alias: pattern.alias.name, table };
  });
  const all = [...outer, ...patterns];
  if (new Set(all.map(({ alias }) => alias.toLowerCase())).size < all.length) refuse('an alias twice');
  return patterns;
}

/** Returns the test for MEMBERS: an edge must contain all listed nodes. No edge contains null. */
export function membersTest(node: Expression | undefined, parameters: Names['parameters']): (row: NaiveRow) => boolean {
  if (node === undefined) return () => true;
  const meaning = meaningOf(node, { patterns: [], parameters, aggregates: false });
  if (meaning.type !== 'list of integer') refuse('MEMBERS of no integers');
  const wanted = meaning.value({ rows: [], group: [] }) as readonly (number | null)[];
  return (row) => wanted.every((member) => member !== null && row.members.includes(member));
}

export function naiveExists(node: ExistsNode, { patterns: outer, parameters, tables, searches = [] }: Names): Meaning {
  if (tables === undefined) return refuse('EXISTS may not stand here');
  const own = naivePatterns(node.patterns, tables, outer);
  const holds = node.patterns.map((pattern) => membersTest(pattern.members, parameters));
  const patterns = [...outer, ...own];
  const names: Names = { patterns, parameters, aggregates: false, tables, searches: [...searches] };
  const where = node.where === undefined ? undefined : meaningOf(node.where, names);
  if (where !== undefined && !isCondition(where.type)) refuse('WHERE is no condition');
  const isFound = (rows: Combination): boolean => {
    const place = rows.length - outer.length;
    if (place === own.length) return where === undefined || where.value({ rows, group: [] }) === true;
    return own[place]!.table.rows.some((row) => holds[place]!(row) && isFound([...rows, row]));
  };
  return { type: 'boolean', value: ({ rows }) => isFound(rows) };
}
