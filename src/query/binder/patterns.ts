// Binds the patterns of MATCH and EXISTS: their tables, aliases and MEMBERS.

import type { Database, Table } from '../../engine/index.ts';
import { didYouMean } from '../../model/suggestions.ts';
import type { NameNode, PatternNode } from '../parser/ast.ts';
import { shown, shownName } from '../shown.ts';
import { errorAt } from '../syntax-error.ts';
import type { BoundNode, BoundPattern, BoundValues } from './bound.ts';
import { bindExpression, itemTypeOf } from './expressions.ts';
import { bindMemberList } from './nodes.ts';
import type { ParameterValues } from './parameters.ts';
import { Scope } from './scope.ts';

/** The part of the database that the binder needs. */
export type Catalog = Pick<Database, 'table' | 'tables' | 'nodes'>;

/**
 * Returns the hyperedge table or node table of this name. Throws `table_not_found` with the
 * position and a suggestion.
 */
export function bindTable(catalog: Catalog, name: NameNode, text: string): Table {
  try {
    return catalog.table(name.name);
  } catch {
    const nodeTables = catalog.nodes.tables();
    const lower = name.name.toLowerCase();
    const found = nodeTables.find((one) => one.name.toLowerCase() === lower);
    if (found !== undefined) return found;
    const names = [...catalog.tables(), ...nodeTables].map((one) => one.name);
    throw errorAt(
      text,
      name.start,
      `there is no table ${shownName(name.name)}; SHOW TABLES lists them.${didYouMean(name.name, names)}`,
      undefined,
      'table_not_found',
    );
  }
}

/**
 * Binds patterns. Throws `invalid_statement` if two of them have the same alias, or if one has an
 * alias of `outer`, the patterns outside an EXISTS.
 */
export function bindPatterns(
  nodes: readonly PatternNode[],
  text: string,
  catalog: Catalog,
  parameters: ParameterValues,
  outer: readonly BoundPattern[] = [],
): BoundPattern[] {
  const seen = new Set<string>();
  const outside = new Set(outer.map(({ alias }) => alias.toLowerCase()));
  return nodes.map((node) => {
    const key = node.alias.name.toLowerCase();
    const fault = outside.has(key)
      ? `alias ${shown(node.alias.name)} is already used outside this EXISTS`
      : seen.has(key)
        ? `alias ${shown(node.alias.name)} occurs twice`
        : undefined;
    if (fault !== undefined)
      throw errorAt(text, node.alias.start, `${fault}; take another name.`, undefined, 'invalid_statement');
    seen.add(key);
    const table = bindTable(catalog, node.table, text);
    return { alias: node.alias.name, table, members: bindMembers(node, table, text, parameters) };
  });
}

/** Binds the nodes of MEMBERS: integers that do not depend on columns. */
function bindMembers(
  node: PatternNode,
  table: Table,
  text: string,
  parameters: ParameterValues,
): BoundPattern['members'] {
  if (node.members === undefined) return undefined;
  const scope = new Scope({ text, patterns: [], parameters });
  if (table.isOfNodes)
    throw scope.error(node.members, `MEMBERS belongs to edges; the rows of ${table.name} are nodes.`);
  const { kinds } = table;
  if (kinds !== undefined) return bindKeys(node.members, table, kinds, scope);
  const bound = bindExpression(node.members, scope);
  if (bound.kind === 'parameter' && bound.type !== 'list')
    throw scope.error(node.members, `MEMBERS takes a list of node ids, and ${shown(bound.text)} is ${bound.type}.`);
  const items = bound.kind === 'list' ? bound.items : undefined;
  if (items?.length === 0 || (bound.kind === 'parameter' && bound.itemType === 'null'))
    throw scope.error(node.members, 'MEMBERS takes at least one node id.');
  if (itemTypeOf(bound) !== 'integer') throw scope.error(node.members, 'MEMBERS takes integers, the ids of nodes.');
  return items ?? (bound as BoundValues);
}

/** Binds the nodes of MEMBERS in a named table: keys. */
function bindKeys(
  node: NonNullable<PatternNode['members']>,
  table: Table,
  kinds: NonNullable<Table['kinds']>,
  scope: Scope,
): BoundPattern['members'] {
  const bound = bindMemberList(node, table, kinds, scope, 'number');
  if (bound.kind === 'list' ? bound.items.length === 0 : itemTypeOf(bound) === 'null')
    throw scope.error(node, 'MEMBERS takes at least one key.');
  return bound.kind === 'list' ? bound.items : (bound as BoundValues | BoundNode);
}
