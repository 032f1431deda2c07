// The order in which the tables of a dump are created.

import type { NodeTableItem, TableItem } from '../../engine/index.ts';

export interface TableOrder {
  /** To be created before the node tables. */
  readonly first: readonly TableItem[];
  /** To be created after the node tables. */
  readonly later: readonly TableItem[];
}

/**
 * Splits the tables around the creation of the node tables. A table that is created when its
 * `member_tables` are node tables has nodes as members. So a table of numbers that got a namesake
 * of such a name later comes before the node tables, and all others come after them.
 */
export function tableOrder(tables: readonly TableItem[], nodeTables: readonly NodeTableItem[]): TableOrder {
  const isFirst = (table: TableItem) => table.nodes !== 'named' && namesake(table, nodeTables) !== undefined;
  return { first: tables.filter(isFirst), later: tables.filter((table) => !isFirst(table)) };
}

/** Returns the first of the node tables that is named like one of `member_tables`. */
export function namesake(
  { member_tables: names }: TableItem,
  nodeTables: readonly NodeTableItem[],
): NodeTableItem | undefined {
  const lower = new Set(names.map((name) => name.toLowerCase()));
  return nodeTables.find(({ name }) => lower.has(name.toLowerCase()));
}
