// Builds, checks and opens segments in an instance, from the edges of the model.

import { KIND_CODES, kindOfType } from '../../../src/model/column-types.ts';
import type { Instance } from './instance.ts';
import { type Column, concat, type Edge, edgeOf, naiveRecord, propertyBlock } from './model.ts';

export interface BuiltSegment {
  file: number;
  bytes: number;
  handle: number;
}

const encoded = new WeakMap<readonly Edge[], Uint8Array[]>();

/** Returns the records of edges, which are computed once per list of edges. */
export function recordsOf(edges: readonly Edge[], columns: readonly Column[]): Uint8Array[] {
  let records = encoded.get(edges);
  if (records === undefined) {
    records = edges.map((edge) => naiveRecord(edge, columns));
    encoded.set(edges, records);
  }
  return records;
}

/**
 * Places the records of edges in memory, and returns the address of the list of their addresses.
 */
export function placeRecords(instance: Instance, edges: readonly Edge[], columns: readonly Column[]): number {
  const records = recordsOf(edges, columns);
  const base = instance.put(concat(records));
  let at = base;
  return instance.putWords(
    records.map((record) => {
      at += record.length;
      return at - record.length;
    }),
  );
}

/**
 * Places the column list for the builder. Each entry is {u16 id, u8 type, u8 indexes, u32 address
 * of the default}.
 */
export function placeColumns(instance: Instance, columns: readonly Column[]): number {
  const words: number[] = [];
  for (const column of columns) {
    words.push(
      (column.id |
        (KIND_CODES[kindOfType(column.type)] << 16) |
        ((column.indexed ? 1 : 0) << 24) |
        ((column.ends ? 2 : 0) << 24)) >>>
        0,
    );
    const block = propertyBlock(edgeOf(0, 0, [1], { [column.id]: column.byDefault }), columns);
    words.push(column.byDefault === null ? 0 : instance.put(block.subarray(2)));
  }
  return instance.putWords(words.length > 0 ? words : [0, 0]);
}

/**
 * Builds a segment from edges in key order. Returns the builder's status: the size of the file in
 * bytes, or a negative number if the builder refuses.
 */
export function tryBuild(
  instance: Instance,
  edges: readonly Edge[],
  columns: readonly Column[],
  bucketSeconds: number,
): { status: number; file: number } {
  const list = placeRecords(instance, edges, columns);
  return buildFrom(instance, list, edges.length, columns, bucketSeconds);
}

/** Does the same as `tryBuild`, from a list of record addresses. */
export function buildFrom(
  instance: Instance,
  list: number,
  rows: number,
  columns: readonly Column[],
  bucketSeconds: number,
): { status: number; file: number } {
  const status = instance.x.hg_segment_build(
    list,
    rows,
    bucketSeconds,
    9,
    placeColumns(instance, columns),
    columns.length,
    0,
  );
  return { status, file: status > 0 ? instance.pointer : 0 };
}

export function buildSegment(
  instance: Instance,
  edges: readonly Edge[],
  columns: readonly Column[],
  bucketSeconds: number,
): BuiltSegment {
  const { status, file } = tryBuild(instance, edges, columns, bucketSeconds);
  if (status < 0) throw new Error(`hg_segment_build answered ${status}`);
  return { file, bytes: status, handle: openSegment(instance, file, status) };
}

/** Runs the deep check on a file and opens it. */
export function openSegment(instance: Instance, file: number, bytes: number): number {
  const status = instance.x.hg_segment_check(file, bytes, 1);
  if (status !== 0) throw new Error(`hg_segment_check answered ${status} at ${instance.offset}`);
  const handle = instance.x.hg_segment_open(file) >>> 0;
  if (handle === 0) throw new Error('hg_segment_open answered 0');
  return handle;
}
