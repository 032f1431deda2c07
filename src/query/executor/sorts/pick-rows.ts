// Copies selected rows into a new set.

import type { TextColumn } from '../../../core/index.ts';
import type { PropertyColumn, RowSet } from '../rows/row-set.ts';

/** Returns the given rows of a set, in the given order. */
export function pickRows(set: RowSet, rows: Uint32Array): RowSet {
  const offsets = new Uint32Array(set.offsets.length > 1 ? rows.length + 1 : set.offsets.length);
  let { members, masks } = set;
  if (set.offsets.length > 1) {
    let total = 0;
    for (let i = 0, end = rows.length; i < end; i++) {
      offsets[i] = total;
      total += set.offsets[rows[i]! + 1]! - set.offsets[rows[i]!]!;
    }
    offsets[rows.length] = total;
    if (set.members.length > 0) {
      members = new Float64Array(total);
      for (let i = 0, end = rows.length; i < end; i++)
        members.set(set.members.subarray(set.offsets[rows[i]!]!, set.offsets[rows[i]! + 1]!), offsets[i]!);
    }
    if (set.masks.length > 0) {
      masks = new Uint16Array(total);
      for (let i = 0, end = rows.length; i < end; i++)
        masks.set(set.masks.subarray(set.offsets[rows[i]!]!, set.offsets[rows[i]! + 1]!), offsets[i]!);
    }
  }
  const columns = new Map<number, PropertyColumn>();
  for (const [id, column] of set.columns) columns.set(id, pickColumn(column, rows));
  return {
    rows: rows.length,
    times: picked(set.times, rows),
    ids: picked(set.ids, rows),
    offsets,
    members,
    masks,
    columns,
  };
}

function pickColumn(column: PropertyColumn, rows: Uint32Array): PropertyColumn {
  const nulls = new Uint8Array(rows.length);
  for (let i = 0, end = rows.length; i < end; i++) nulls[i] = column.nulls[rows[i]!]!;
  if (column.kind === 'number') return { kind: 'number', nulls, values: picked(column.values, rows) };
  const codes = new Uint32Array(rows.length);
  for (let i = 0, end = rows.length; i < end; i++) codes[i] = column.codes[rows[i]!]!;
  const found: TextColumn = { kind: 'text', nulls, codes, texts: column.texts };
  return rows.length * FEW_SHARE < column.texts.length ? withOwnTexts(found) : found;
}

/** A column has only its own texts if its rows are at most one in this many of the texts read. */
const FEW_SHARE = 4;

/** Returns the column without the texts that no row has, so that these are not kept and merged. */
function withOwnTexts({ nulls, codes, texts }: TextColumn): TextColumn {
  const places = new Map<number, number>();
  const own: string[] = [];
  for (let i = 0; i < codes.length; i++) {
    // The code of a null means nothing.
    if (nulls[i] === 1) {
      codes[i] = 0;
      continue;
    }
    let place = places.get(codes[i]!);
    if (place === undefined) {
      place = own.push(texts[codes[i]!]!) - 1;
      places.set(codes[i]!, place);
    }
    codes[i] = place;
  }
  return { kind: 'text', nulls, codes, texts: own };
}

function picked(values: Float64Array, rows: Uint32Array): Float64Array {
  if (values.length === 0) return values;
  const result = new Float64Array(rows.length);
  for (let i = 0, end = rows.length; i < end; i++) result[i] = values[rows[i]!]!;
  return result;
}
