// Compares column blocks, counts and the bounds of windows with those of the naive model.

import { buildColumnPlan, type ColumnBlock, readColumnBlocks } from '../../src/core/index.ts';
import type { Scan, Snapshot, Table } from '../../src/engine/index.ts';
import type { ScanOverlay } from '../../src/engine/scan/scan-view.ts';
import type { EdgeRow, PropertyValue, ScanFormat } from '../../src/engine/types.ts';
import type { NaiveRequest } from '../model/naive-table.ts';

/** Compares the column blocks of a scan with rows. `scanOf` starts a scan in the given format. */
export function compareColumns(
  table: Table,
  wanted: readonly EdgeRow[],
  scanOf: (format: ScanFormat) => Scan,
  what: string,
): void {
  const { columns } = table.columns;
  const plan = buildColumnPlan({
    times: true,
    ids: true,
    members: true,
    masks: !table.roles.isEmpty,
    columns: columns.map(({ id, type, default: missing }) => ({ id, type, missing })),
  });
  const scan = scanOf({ format: 'columns', columns: plan });
  const found: EdgeRow[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next())
    for (const block of readColumnBlocks(slice as Uint8Array<ArrayBuffer>, plan))
      found.push(...rowsOfBlock(block, table));
  const texts = [found, wanted].map((rows) => JSON.stringify(rows));
  if (texts[0] !== texts[1])
    throw new Error(`${what}: as columns\n got ${texts[0]!.slice(0, 1500)}\nwant ${texts[1]!.slice(0, 1500)}`);
}

function rowsOfBlock(block: ColumnBlock, { columns: { columns }, roles }: Table): EdgeRow[] {
  let at = 0;
  return Array.from({ length: block.rows }, (_, place) => {
    const members = [...block.members.subarray(at, at + block.sizes[place]!)];
    const masks = [...block.masks.subarray(at, at + block.sizes[place]!)];
    at += block.sizes[place]!;
    const row: EdgeRow = { id: block.ids[place]!, event_ts: block.times[place]!, members };
    if (!roles.isEmpty) row.roles = roles.listsOf(members, masks);
    for (const [index, { name, type }] of columns.entries()) row[name] = cellOf(block, index, place, type);
    return row;
  });
}

function cellOf(block: ColumnBlock, index: number, place: number, type: string): PropertyValue {
  const column = block.columns[index]!;
  if (column.nulls[place] === 1) return null;
  if (column.kind === 'text') return column.texts[column.codes[place]!]!;
  return type === 'BOOLEAN' ? column.values[place] === 1 : column.values[place]!;
}

/**
 * Compares the count of rows and the bounds in the request's window. `rows` are all rows that are
 * visible to the reader, in order.
 */
export function compareSums(
  table: Table,
  rows: readonly EdgeRow[],
  { startTs, endTs }: NaiveRequest,
  snapshot: Snapshot,
  overlay: ScanOverlay | undefined,
): void {
  const within = rows.filter((row) => row.event_ts >= (startTs ?? -Infinity) && row.event_ts <= (endTs ?? Infinity));
  const times = within.map((row) => row.event_ts);
  const wanted = within.length === 0 ? undefined : { least: times[0]!, greatest: times.at(-1)! };
  const window = { startTs, endTs };
  const found = [table.count(window, snapshot, overlay), table.timeBounds(window, snapshot, overlay)];
  if (JSON.stringify(found) !== JSON.stringify([within.length, wanted]))
    throw new Error(
      `window ${JSON.stringify(window)} of ${table.name}: ${JSON.stringify(found)}, not ${JSON.stringify([within.length, wanted])}`,
    );
  const { rows: estimate, bucketsScanned, totalBuckets } = table.estimate(window, snapshot, overlay);
  if (!(estimate >= 0) || !(bucketsScanned <= totalBuckets))
    throw new Error(`an estimate of ${estimate} rows, ${bucketsScanned} of ${totalBuckets} buckets`);
}
