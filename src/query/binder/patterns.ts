// Binds the patterns of MATCH and EXISTS: their tables, aliases and MEMBERS.

import type { Database, Table } from '../../engine/index.ts';
import { didYouMean } from '../../model/suggestions.ts';
import type { NameNode, PatternNode } from '../parser/ast.ts';
import { shown, shownName } from '../shown.ts';
import { errorAt } from '../syntax-error.ts';
import type { BoundPattern, BoundValues } from './bound.ts';
import { bindExpression, itemTypeOf } from './expressions.ts';
import type { ParameterValues } from './parameters.ts';
import { Scope } from './scope.ts';

/** The part of the database that the binder needs. */
export type Catalog = Pick<Database, 'table' | 'tables'>;

/** Returns the table of this name. Throws `table_not_found` with the position and a suggestion. */
export function bindTable(catalog: Catalog, name: NameNode, text: string): Table {
  try {
    return catalog.table(name.name);
  } catch {
    const names = catalog.tables().map((one) => one.name);
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
    return { alias: node.alias.name, table, members: bindMembers(node, text, parameters) };
  });
}

/** Binds the nodes of MEMBERS: integers that do not depend on columns. */
function bindMembers(node: PatternNode, text: string, parameters: ParameterValues): BoundPattern['members'] {
  if (node.members === undefined) return undefined;
  const scope = new Scope({ text, patterns: [], parameters });
  const bound = bindExpression(node.members, scope);
  if (bound.kind === 'parameter' && bound.type !== 'list')
    throw scope.error(node.members, `MEMBERS takes a list of node ids, and ${shown(bound.text)} is ${bound.type}.`);
  const items = bound.kind === 'list' ? bound.items : undefined;
  if (items?.length === 0 || (bound.kind === 'parameter' && bound.itemType === 'null'))
    throw scope.error(node.members, 'MEMBERS takes at least one node id.');
  if (itemTypeOf(bound) !== 'integer') throw scope.error(node.members, 'MEMBERS takes integers, the ids of nodes.');
  return items ?? (bound as BoundValues);
}
