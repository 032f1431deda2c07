// The ABI of segments: builds, checks, opens and reads them.

import { toInteger } from '../codec/record';
import { countEach, countRows, lookupRows, tallyNodes } from '../fmi/lookup';
import { stab } from '../interval/tree';
import { segmentRows } from '../json/rows';
import { put } from '../memory/cells';
import { filterSegment } from '../psi/filter';
import { psiCount, psiRange } from '../psi/range';
import { buildSegment } from '../segment/builder';
import { checkHeader, checkSegment, checkStep } from '../segment/check';
import { CHECK_STATE_BYTES } from '../segment/check-state';
import { exportRecords, matchRows, rowKey } from '../segment/export';
import {
  E_BYTES,
  E_OFFSET,
  findEntry,
  H_BUCKET_SECONDS,
  H_BUCKETS,
  H_BYTES,
  H_ENDS,
  H_FIRST_ID,
  H_ID_MAX,
  H_ID_MIN,
  H_INCIDENCES,
  H_LAST_ID,
  H_MAX_SIZE,
  H_NODE_MAX,
  H_NODE_MIN,
  H_NODE_WIDTH,
  H_NODES,
  H_ROWS,
  H_SECTIONS,
  H_TABLE,
  H_TIME_MAX,
  H_TIME_MIN,
  H_VERSION,
  S_NODES,
  S_ROWS,
} from '../segment/layout';
import { nodeId, openSegment, rowId, rowTime } from '../segment/reader';
import { STEP_BLOCK_BYTES, STEP_ROWS, stepSegment } from '../segment/step';
import { BAD_ARGUMENT, setRows } from '../status';
import { bucketsOfList, bucketsOfRows, seekRow } from '../tpi/seek';
import { boundOf } from './bound';

/** Size in bytes of the block that `hg_segment_step` reads and writes. */
export const HG_STEP_BLOCK_BYTES: u32 = STEP_BLOCK_BYTES;
/** Size in bytes of the state that `hg_segment_check_step` keeps between two calls. */
export const HG_CHECK_STATE_BYTES: u32 = CHECK_STATE_BYTES;
/** Maximum number of rows that one step examines. */
export const HG_STEP_ROWS: u32 = STEP_ROWS;

export function hg_segment_build(
  addresses: u32,
  rows: u32,
  bucketSeconds: f64,
  table: u32,
  columns: u32,
  columnCount: u32,
  text: u32,
): i32 {
  const width = toInteger(bucketSeconds);
  return buildSegment(addresses, rows, width, table, columns, columnCount, text);
}

export function hg_segment_check_header(base: u32, available: u32, fileBytes: u32): i32 {
  return checkHeader(base, available, fileBytes);
}

export function hg_segment_check(base: u32, bytes: u32, deep: u32): i32 {
  return checkSegment(base, bytes, deep != 0);
}

/**
 * Same as `hg_segment_check`, but does only about `work` units of it. Returns 1 if it must be
 * called again with the same arguments.
 */
export function hg_segment_check_step(base: u32, bytes: u32, deep: u32, state: u32, work: u32): i32 {
  return checkStep(base, bytes, deep != 0, state, work);
}

/**
 * Returns a field of a checked header by its number (README.md, Segment); NaN for an unknown
 * number.
 */
export function hg_segment_field(base: u32, field: u32): f64 {
  const at = <usize>base;
  switch (field) {
    case 0:
      return load<u32>(at + H_VERSION);
    case 1:
      return load<u32>(at + H_BYTES);
    case 2:
      return load<u32>(at + H_ROWS);
    case 3:
      return load<u32>(at + H_INCIDENCES);
    case 4:
      return load<u32>(at + H_NODES);
    case 5:
      return load<u32>(at + H_BUCKETS);
    case 6:
      return <f64>load<i64>(at + H_BUCKET_SECONDS);
    case 7:
      return <f64>load<i64>(at + H_TIME_MIN);
    case 8:
      return <f64>load<i64>(at + H_TIME_MAX);
    case 9:
      return <f64>load<i64>(at + H_ID_MIN);
    case 10:
      return <f64>load<i64>(at + H_ID_MAX);
    case 11:
      return <f64>load<i64>(at + H_NODE_MIN);
    case 12:
      return <f64>load<i64>(at + H_NODE_MAX);
    case 13:
      return <f64>load<i64>(at + H_FIRST_ID);
    case 14:
      return <f64>load<i64>(at + H_LAST_ID);
    case 15:
      return load<u32>(at + H_MAX_SIZE);
    case 16:
      return load<u32>(at + H_TABLE);
    case 17:
      return load<u32>(at + H_SECTIONS);
    case 18:
      return load<u8>(at + H_NODE_WIDTH);
    case 19:
      return load<f32>(at + H_ENDS);
    default:
      return NaN;
  }
}

/**
 * Returns the offset of a section (kind, column) from the start of the file, or 0 if the file has
 * no such section; `hg_result_rows` returns the size of the section in bytes.
 */
export function hg_segment_section(base: u32, kind: u32, column: u32): u32 {
  return sectionAt(base, kind, column);
}

export function hg_segment_open(base: u32): u32 {
  return <u32>openSegment(base);
}

export function hg_segment_seek(segment: u32, time: f64, id: f64): u32 {
  return seekRow(segment, boundOf(time), boundOf(id));
}

export function hg_segment_buckets(segment: u32, from: u32, to: u32): u32 {
  return bucketsOfRows(segment, from, min(to, load<u32>(<usize>segment + S_ROWS)));
}

/** Returns the number of distinct buckets that contain rows of an ascending list (u32[n]). */
export function hg_segment_row_buckets(segment: u32, rows: u32, n: u32): u32 {
  return bucketsOfList(segment, rows, n);
}

export function hg_segment_lookup(segment: u32, nodes: u32, k: u32, from: u32, to: u32, out: u32, capacity: u32): i32 {
  return lookupRows(segment, nodes, k, from, to, out, capacity);
}

export function hg_segment_count(segment: u32, node: f64, from: u32, to: u32): u32 {
  return countRows(segment, node, from, to);
}

export function hg_segment_counts(segment: u32, nodes: u32, n: u32, from: u32, to: u32, counts: u32): i32 {
  return countEach(segment, nodes, n, from, to, counts);
}

export function hg_segment_tally(segment: u32, least: f64, n: u32, from: u32, to: u32, counts: u32): i32 {
  return tallyNodes(segment, least, n, from, to, counts);
}

/** Writes {event_ts, id} of a row as two f64. Returns 0 or BAD_ARGUMENT. */
export function hg_segment_key(segment: u32, row: u32, out: u32): i32 {
  if (row >= load<u32>(<usize>segment + S_ROWS)) return BAD_ARGUMENT;
  rowKey(segment, row, out);
  return 0;
}

export function hg_segment_find(segment: u32, time: f64, id: f64): i32 {
  const row = seekRow(segment, boundOf(time), boundOf(id));
  if (row >= load<u32>(<usize>segment + S_ROWS)) return -1;
  return rowTime(segment, row) == boundOf(time) && rowId(segment, row) == boundOf(id) ? <i32>row : -1;
}

export function hg_segment_match(segment: u32, record: u32, out: u32, capacity: u32): u32 {
  return matchRows(segment, record, out, capacity);
}

export function hg_segment_json(
  segment: u32,
  rows: u32,
  n: u32,
  plan: u32,
  separator: u32,
  out: u32,
  capacity: u32,
): i32 {
  return segmentRows(segment, rows, n, plan, separator, out, capacity);
}

/**
 * Performs one step of a scan. The block contains the request and receives the answer
 * (segment/step.ts).
 */
export function hg_segment_step(segment: u32, block: u32): i32 {
  return stepSegment(segment, block);
}

export function hg_segment_records(segment: u32, rows: u32, n: u32, out: u32, capacity: u32): i32 {
  return exportRecords(segment, rows, n, 0, 0, out, capacity);
}

/**
 * Same as `hg_segment_records`, but leaves out texts that are equal to the default of their column
 * in `columns` (see `hg_segment_build`).
 */
export function hg_segment_records_short(
  segment: u32,
  rows: u32,
  n: u32,
  columns: u32,
  columnCount: u32,
  out: u32,
  capacity: u32,
): i32 {
  return exportRecords(segment, rows, n, columns, columnCount, out, capacity);
}

export function hg_segment_psi(
  segment: u32,
  column: u32,
  low: f64,
  high: f64,
  flags: u32,
  out: u32,
  capacity: u32,
): i32 {
  return psiRange(segment, column, low, high, (flags & 1) != 0, (flags & 2) != 0, out, capacity);
}

export function hg_segment_psi_count(segment: u32, column: u32, low: f64, high: f64, flags: u32): i32 {
  return psiCount(segment, column, low, high, (flags & 1) != 0, (flags & 2) != 0);
}

/**
 * Writes the rows of [from, to) whose value in an integer column is above `time` or null, ascending
 * (u32, room for to - from); returns their number. Uses the tree of ends if the column has one.
 */
export function hg_segment_stab(segment: u32, column: u32, time: f64, from: u32, to: u32, out: u32): u32 {
  return stab(segment, column, boundOf(time), from, to, out);
}

/**
 * Removes, in place, the rows of a list (u32[n]) that are not in all k ranges; returns how many
 * rows remain.
 */
export function hg_segment_filter(segment: u32, rows: u32, n: u32, ranges: u32, k: u32): i32 {
  return filterSegment(segment, rows, n, ranges, k);
}

/**
 * Writes node ids of the dictionary as f64, ascending, at most `capacity` of them, beginning with
 * ordinal `from`; returns how many were written.
 */
export function hg_segment_nodes(segment: u32, from: u32, out: u32, capacity: u32): u32 {
  const nodes = load<u32>(<usize>segment + S_NODES);
  let count: u32 = 0;
  for (let i = from; i < nodes && count < capacity; i++, count++) put<f64>(out, count, <f64>nodeId(segment, i));
  return count;
}

function sectionAt(base: usize, kind: u32, column: u32): u32 {
  const entry = findEntry(base, kind, column);
  setRows(entry ? load<u32>(entry + E_BYTES) : 0);
  return entry ? load<u32>(entry + E_OFFSET) : 0;
}
