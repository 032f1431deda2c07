// Writes one edge as the answer to a request that stored it.

import type { EdgeRow, Table } from '../engine/index.ts';
import { isoTime } from '../iso-time.ts';

/** Returns the row's JSON with the table name inserted before the first field. */
export function rowBody({ name, columns }: Table, row: EdgeRow, iso: boolean): string {
  return `{"table":"${name}",${JSON.stringify(iso ? isoRow(row, columns.end?.name) : row).slice(1)}`;
}

/** Returns the row with its times in ISO 8601. `end` is the column of ends, if there is one. */
export function isoRow<R extends Readonly<Record<string, unknown>>>(row: R, end: string | undefined): R {
  const shown: Record<string, unknown> = { ...row, event_ts: isoTime(row.event_ts as number) };
  if (end !== undefined && typeof row[end] === 'number') shown[end] = isoTime(row[end]);
  return shown as R;
}
