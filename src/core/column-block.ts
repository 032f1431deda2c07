// Builds the plan that requests rows as columns from the core, and reads the resulting column
// blocks through views (assembly/segment/column-block.ts).

import { type ColumnType, KIND_CODES, kindOfType } from '../model/column-types.ts';
import type { RowPlan } from './row-plan.ts';

/** A property column of a block. */
export interface BlockColumn {
  /** Column id. */
  id: number;
  type: ColumnType;
  /** Value of the rows that do not have the column. */
  missing: number | string | boolean | null;
}

export interface BlockParts {
  times?: boolean;
  ids?: boolean;
  sizes?: boolean;
  members?: boolean;
  /** Role masks, parallel to the members; with them the members are requested too. */
  masks?: boolean;
  columns: readonly BlockColumn[];
}

/** A row plan for column blocks, together with the parts that it requests. */
export interface ColumnPlan extends RowPlan {
  readonly parts: Required<BlockParts>;
}

const HEADER_BYTES = 8;
const COLUMN_BYTES = 32;

export function buildColumnPlan(parts: BlockParts): ColumnPlan {
  const whole = {
    times: parts.times ?? false,
    ids: parts.ids ?? false,
    sizes: parts.sizes ?? parts.members ?? parts.masks ?? false,
    members: parts.members ?? parts.masks ?? false,
    masks: parts.masks ?? false,
    columns: parts.columns,
  };
  const texts = parts.columns.map(({ missing }) => (typeof missing === 'string' ? Buffer.from(missing) : EMPTY));
  const head = HEADER_BYTES + parts.columns.length * COLUMN_BYTES;
  const bytes = new Uint8Array(head + texts.reduce((sum, text) => sum + text.length, 0));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, parts.columns.length, true);
  view.setUint32(
    4,
    (whole.times ? 1 : 0) |
      (whole.ids ? 2 : 0) |
      (whole.sizes ? 4 : 0) |
      (whole.members ? 8 : 0) |
      (whole.masks ? 16 : 0),
    true,
  );
  let at = head;
  for (const [index, column] of parts.columns.entries()) {
    const entry = HEADER_BYTES + index * COLUMN_BYTES;
    const { missing } = column;
    view.setUint32(entry, column.id, true);
    view.setUint32(entry + 4, KIND_CODES[kindOfType(column.type)], true);
    view.setUint32(entry + 8, missing === null ? 0 : typeof missing === 'string' ? 2 : 1, true);
    view.setUint32(entry + 12, texts[index]!.length, true);
    view.setFloat64(entry + 16, typeof missing === 'string' || missing === null ? 0 : Number(missing), true);
    view.setUint32(entry + 24, at, true);
    bytes.set(texts[index]!, at);
    at += texts[index]!.length;
  }
  return { bytes, parts: whole };
}

const EMPTY = Buffer.alloc(0);

/**
 * Values of a REAL, INTEGER or BOOLEAN (0 or 1) column. Where `nulls` is 1, the value is
 * meaningless.
 */
export interface NumberColumn {
  readonly kind: 'number';
  readonly nulls: Uint8Array;
  readonly values: Float64Array;
}

/**
 * Values of a TEXT column: `codes` are indexes into `texts`, and meaningless where `nulls` is 1.
 */
export interface TextColumn {
  readonly kind: 'text';
  readonly nulls: Uint8Array;
  readonly codes: Uint32Array;
  readonly texts: readonly string[];
}

/** Views of one block. Parts that were not requested are empty. */
export interface ColumnBlock {
  readonly rows: number;
  readonly times: Float64Array;
  readonly ids: Float64Array;
  readonly sizes: Uint32Array;
  /** Members of all rows concatenated, ascending within each row. */
  readonly members: Float64Array;
  /** Bit i of a mask: the member has the table's role i. */
  readonly masks: Uint16Array;
  readonly columns: readonly (NumberColumn | TextColumn)[];
}

/**
 * Reads the consecutive blocks in `bytes`. The offset of `bytes` in its buffer must be a multiple
 * of 8.
 */
export function readColumnBlocks(bytes: Uint8Array<ArrayBuffer>, plan: ColumnPlan): ColumnBlock[] {
  const blocks: ColumnBlock[] = [];
  let at = bytes.byteOffset;
  const end = at + bytes.byteLength;
  while (at < end) {
    const header = new Float64Array(bytes.buffer, at, 3);
    blocks.push(readBlock(bytes.buffer, at, plan, header[0]!, header[1]!));
    at += header[2]!;
  }
  return blocks;
}

const BLOCK_HEADER_BYTES = 32;

function readBlock(
  buffer: ArrayBuffer,
  start: number,
  plan: ColumnPlan,
  rows: number,
  incidences: number,
): ColumnBlock {
  const { parts } = plan;
  let at = start + BLOCK_HEADER_BYTES;
  const numbers = (wanted: boolean, count: number) => {
    const view = new Float64Array(buffer, at, wanted ? count : 0);
    if (wanted) at += count * 8;
    return view;
  };
  const words = (count: number) => {
    const view = new Uint32Array(buffer, at, count);
    at += padded(count * 4);
    return view;
  };
  const times = numbers(parts.times, rows);
  const ids = numbers(parts.ids, rows);
  const sizes = words(parts.sizes ? rows : 0);
  const members = numbers(parts.members, incidences);
  const masks = new Uint16Array(buffer, at, parts.masks ? incidences : 0);
  at += padded(masks.byteLength);
  const columns = parts.columns.map(({ type }): NumberColumn | TextColumn => {
    const [distinct, textBytes] = numbers(true, 2) as unknown as [number, number];
    const nulls = new Uint8Array(buffer, at, rows);
    at += padded(rows);
    if (kindOfType(type) !== 'text') return { kind: 'number', nulls, values: numbers(true, rows) };
    const codes = words(rows);
    const ends = words(distinct);
    const texts = readTexts(new Uint8Array(buffer, at, textBytes), ends);
    at += padded(textBytes);
    return { kind: 'text', nulls, codes, texts };
  });
  return { rows, times, ids, sizes, members, masks, columns };
}

function readTexts(bytes: Uint8Array<ArrayBuffer>, ends: Uint32Array): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const texts = new Array<string>(ends.length);
  let start = 0;
  for (let i = 0; i < ends.length; i++) {
    texts[i] = buffer.toString('utf8', start, ends[i]!);
    start = ends[i]!;
  }
  return texts;
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}
