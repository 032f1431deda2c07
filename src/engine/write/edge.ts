// Builds the row that is returned for an edge that was written.

import type { CheckedEdge } from '../../model/edge.ts';
import { setField } from '../../model/set-field.ts';
import type { Table } from '../table/table.ts';
import type { EdgeRow } from '../types.ts';

/** Returns the row as later reads will return it. The row shares the edge's `members` array. */
export function rowOf(
  { columns, roles }: Pick<Table, 'columns' | 'roles'>,
  id: number,
  { event_ts, members, masks, properties }: CheckedEdge,
): EdgeRow {
  const row: EdgeRow = { id, event_ts, members };
  if (!roles.isEmpty) row.roles = roles.listsOf(members, masks);
  for (const column of columns.columns) setField(row, column.name, column.default);
  for (const { name, value } of properties) setField(row, name, value);
  return row;
}
