// The wire form of a table (contract section 3).

import type { TableDefinition } from './catalog.ts';
import type { TableItem } from './types.ts';

export function tableItem(definition: TableDefinition, rowCount: number, isPrimary: boolean): TableItem {
  const { name, memberTables, bucketSeconds, compactThreshold, columns, createdAt } = definition;
  return {
    name,
    member_tables: [...memberTables],
    bucket_seconds: bucketSeconds,
    compact_threshold: compactThreshold,
    row_count: rowCount,
    columns: columns.map(({ name: column, type, default: value }) =>
      value === null ? { name: column, type } : { name: column, type, default: value },
    ),
    created_at: createdAt,
    primary: isPrimary,
  };
}
