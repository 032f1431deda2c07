// Builds the form of a table that is returned to clients.

import { optionFields } from '../../model/options.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import type { TableItem } from '../types.ts';

/**
 * Returns the form of a table for clients. The defaults of columns are included only if
 * `withDefaults` is true.
 */
export function tableItem(
  definition: TableDefinition,
  rowCount: number,
  isPrimary: boolean,
  withDefaults = false,
): TableItem {
  const { name, memberTables, nodes, columns, createdAt } = definition;
  return {
    name,
    member_tables: [...memberTables],
    nodes: nodes === undefined ? 'numbers' : 'named',
    roles: [...(definition.roles ?? [])],
    intervals: definition.intervals !== undefined,
    ...(nodes === undefined ? {} : { create_nodes: definition.createNodes !== false }),
    ...optionFields(definition),
    row_count: rowCount,
    columns: columns.map(({ name: column, type, default: value }) =>
      value === null || !withDefaults ? { name: column, type } : { name: column, type, default: value },
    ),
    created_at: createdAt,
    primary: isPrimary,
  };
}
