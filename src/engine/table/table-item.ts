// The wire form of a table (contract section 3).

import { optionFields } from '../../model/options.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import type { TableItem } from '../types.ts';

/** `withDefaults`: include column defaults, which the wire form omits unless requested. */
export function tableItem(
  definition: TableDefinition,
  rowCount: number,
  isPrimary: boolean,
  withDefaults = false,
): TableItem {
  const { name, memberTables, columns, createdAt } = definition;
  return {
    name,
    member_tables: [...memberTables],
    ...optionFields(definition),
    row_count: rowCount,
    columns: columns.map(({ name: column, type, default: value }) =>
      value === null || !withDefaults ? { name: column, type } : { name: column, type, default: value },
    ),
    created_at: createdAt,
    primary: isPrimary,
  };
}
