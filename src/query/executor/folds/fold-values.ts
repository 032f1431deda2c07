// Makes representative rows: one for each combination of the values of some fields in a segment. An
// expression is evaluated once on a representative row, for all rows with the same values.

import { ONE_CODE, ROW_FIELD, type RowCodes, type SegmentFold } from '../../../core/index.ts';
import type { PropertyValue } from '../../../engine/index.ts';
import { kindOfType } from '../../../model/column-types.ts';
import { type Batch, batchOf, type PropertyColumn } from '../rows/row-set.ts';
import type { FoldField } from './fold-plan.ts';

/** A field of a segment, with the codes of its values. */
export interface CodedField {
  readonly field: FoldField;
  readonly codes: RowCodes;
  /** The distinct texts, by code. */
  readonly texts: readonly string[];
  /** The value of all rows if `constantField` made the field; otherwise null and not used. */
  readonly value: PropertyValue;
}

/** Returns a field that has the same value in all rows. */
export function constantField(field: FoldField, value: PropertyValue): CodedField {
  return { field, codes: ONE_CODE, texts: typeof value === 'string' ? [value] : [], value };
}

export function codedField(field: FoldField, codes: RowCodes, fold: SegmentFold): CodedField {
  const texts = field.type !== undefined && kindOfType(field.type) === 'text' ? fold.texts(field.column, codes) : [];
  return { field, codes, texts, value: null };
}

/** Returns the number of possible combinations of codes. */
export function combinationsOf(fields: readonly CodedField[]): number {
  return fields.reduce((product, { codes }) => product * codes.count, 1);
}

/** Returns the codes of combinations. The last field varies fastest. */
export function joinedCodes(fields: readonly CodedField[], fold: SegmentFold): RowCodes {
  let joined: RowCodes | undefined;
  let isOwn = false;
  for (const { codes } of fields) {
    if (codes.pointer === 0) continue;
    if (joined === undefined) {
      joined = codes;
      continue;
    }
    joined = fold.join(isOwn ? joined : fold.copyOf(joined), codes);
    isOwn = true;
  }
  return joined ?? ONE_CODE;
}

/** Returns one row for each of the given combinations. */
export function combinationRows(
  fields: readonly CodedField[],
  combinations: Uint32Array | Float64Array,
  pattern: number,
): Batch {
  const count = combinations.length;
  const columns = new Map<number, PropertyColumn>();
  let times = new Float64Array(0);
  let offsets = new Uint32Array(1);
  let step = 1;
  for (let index = fields.length - 1; index >= 0; index--) {
    const coded = fields[index]!;
    const own = new Uint32Array(count);
    for (let i = 0; i < count; i++) own[i] = Math.floor(combinations[i]! / step) % coded.codes.count;
    step *= coded.codes.count;
    if (coded.field.kind === ROW_FIELD.bucket) times = Float64Array.from(own, (code) => coded.codes.values[code]!);
    else if (coded.field.kind === ROW_FIELD.size) offsets = offsetsOf(own);
    else columns.set(coded.field.column, columnOf(coded, own));
  }
  const none = new Float64Array(0);
  return batchOf(
    { rows: count, times, ids: none, offsets, members: none, masks: new Uint16Array(0), columns },
    pattern,
  );
}

/** Returns the offsets of lists with these sizes. The code of a size is the size itself. */
function offsetsOf(sizes: Uint32Array): Uint32Array<ArrayBuffer> {
  const offsets = new Uint32Array(sizes.length + 1);
  for (let i = 0, end = sizes.length; i < end; i++) offsets[i + 1] = offsets[i]! + sizes[i]!;
  return offsets;
}

function columnOf({ field, codes, texts, value }: CodedField, own: Uint32Array): PropertyColumn {
  const nulls = new Uint8Array(own.length);
  if (codes.pointer === 0) nulls.fill(value === null ? 1 : 0);
  else for (let i = 0, end = own.length; i < end; i++) nulls[i] = own[i]! >= codes.values.length ? 1 : 0;
  if (field.type !== undefined && kindOfType(field.type) === 'text') {
    for (let i = 0, end = own.length; i < end; i++) if (nulls[i] === 1) own[i] = 0;
    return { kind: 'text', nulls, codes: own, texts };
  }
  const values = new Float64Array(own.length);
  if (codes.pointer === 0) values.fill(Number(value ?? 0));
  else for (let i = 0, end = own.length; i < end; i++) values[i] = nulls[i] === 1 ? 0 : codes.values[own[i]!]!;
  return { kind: 'number', nulls, values };
}
