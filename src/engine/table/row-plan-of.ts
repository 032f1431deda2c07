// The plans of the row text of tables.

import { buildRowPlan, type PlanColumn, type RowPlan } from '../../core/index.ts';
import type { ColumnSet } from '../../model/columns.ts';
import type { TableDefinition } from '../catalog/catalog.ts';

/**
 * Returns the plan of a table's row text. Rows of a node table consist of its columns only; members
 * of named tables are numbers. If the table has roles, rows have their lists.
 */
export function planOf(columns: ColumnSet, { key, roles }: Pick<TableDefinition, 'key' | 'roles'>): RowPlan {
  return buildRowPlan(planColumns(columns), key === undefined ? { roles } : { head: 'node' });
}

/** The plans by columns. The roles of a table never change. */
const MARKED = new WeakMap<ColumnSet, RowPlan>();

/**
 * Returns the plan of a named table's row text in which members are marks, which a scan with
 * `keys` replaces by keys.
 */
export function markedPlanOf(columns: ColumnSet, { roles }: Pick<TableDefinition, 'roles'>): RowPlan {
  let plan = MARKED.get(columns);
  if (plan === undefined) {
    plan = buildRowPlan(planColumns(columns), { named: true, roles });
    MARKED.set(columns, plan);
  }
  return plan;
}

function planColumns({ columns }: ColumnSet): PlanColumn[] {
  return columns.map(({ id, name, default: value }) => ({ id, name, missing: JSON.stringify(value) }));
}
