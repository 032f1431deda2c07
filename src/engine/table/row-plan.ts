// Builds the plan of the rows of a table.

import { buildRowPlan, type RowPlan } from '../../core/index.ts';
import type { ColumnSet } from '../../model/columns.ts';

/**
 * Returns the plan of rows with all columns and, if the table has roles, the lists of its roles.
 */
export function planOf(columns: ColumnSet, roles: readonly string[] = []): RowPlan {
  return buildRowPlan(
    columns.columns.map((column) => ({ id: column.id, name: column.name, missing: JSON.stringify(column.default) })),
    roles,
  );
}
