// The ABI of the core (README.md): every export, numbers only, arguments turned into the types that the rooms behind use.

import { crc32c } from './codec/crc32c';
import { checkRecords, encodeRecords, numberRecords, recordMembers, toInteger } from './codec/record';
import { filtersProbe, filterTest } from './fmi/filter';
import { countRows, lookupRows } from './fmi/lookup';
import { difference32, intersect32, union32 } from './fmi/sets';
import { recordRows, segmentRows } from './json/rows';
import { alloc, free, reset, usedBytes } from './memory/alloc';
import {
  M_BUCKETS,
  M_DEAD,
  M_INCIDENCES,
  M_INDEXED,
  M_ORDERED,
  M_RECORD_BYTES,
  M_ROWS,
  recordOf,
} from './memtable/layout';
import {
  bucketsOfOrder,
  memtableFind,
  memtableMatch,
  memtableRows,
  memtableSeek,
  memtableSort,
  orderAt,
} from './memtable/order';
import { indexRows, memtableLookup, memtableNodes } from './memtable/postings';
import { memtableAppend, memtableKill, memtableNew, memtableReserve } from './memtable/rows';
import { mergeRuns } from './merge/merge';
import { psiCount, psiRange } from './psi/range';
import { reconcile } from './reconcile/reconcile';
import { buildSegment } from './segment/builder';
import { checkHeader, checkSegment } from './segment/check';
import { exportRecords, matchRows, rowKey } from './segment/export';
import {
  E_BYTES,
  E_OFFSET,
  findEntry,
  H_BUCKET_SECONDS,
  H_BUCKETS,
  H_BYTES,
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
} from './segment/layout';
import { nodeId, openSegment, rowId, rowTime } from './segment/reader';
import { STEP_BLOCK_BYTES, STEP_ROWS, stepSegment } from './segment/step';
import { BAD_ARGUMENT, OUT_OF_MEMORY, setRows, tooSmall } from './status';
import { bucketsOfList, bucketsOfRows, seekRow } from './tpi/seek';

export {
  HG_FILTER_ENTRY_BYTES,
  HG_MAX_MEMBERS,
  HG_MAX_SEGMENT_ROWS,
  HG_MAX_TEXT_BYTES,
  HG_RECORD_HEADER_BYTES,
  HG_RECORD_ID_OFFSET,
  HG_RECORD_TIME_OFFSET,
  HG_ROWS_SLACK_BYTES,
  HG_SECTION_ENTRY_BYTES,
  HG_SEGMENT_HEADER_BYTES,
  HG_TYPE_BOOLEAN,
  HG_TYPE_INTEGER,
  HG_TYPE_NULL,
  HG_TYPE_REAL,
  HG_TYPE_TEXT,
} from './limits';
export { hg_result_needed, hg_result_offset, hg_result_pointer, hg_result_rows } from './status';
export { hg_abi_version, hg_features, hg_format_version } from './version';

/** A time or id bound: out-of-range numbers and infinities are clamped, so that "before all" and "after all" can be said. */
function boundOf(value: f64): i64 {
  if (value <= -9007199254740992) return -9007199254740992;
  if (value >= 9007199254740992) return 9007199254740992;
  return value == value ? <i64>value : 0;
}

/** Bytes of the block of hg_segment_step; rows one step looks at. */
export const HG_STEP_BLOCK_BYTES: u32 = STEP_BLOCK_BYTES;
export const HG_STEP_ROWS: u32 = STEP_ROWS;

// Memory

export function hg_memory_alloc(bytes: u32): u32 {
  return <u32>alloc(bytes);
}

export function hg_memory_free(ptr: u32): void {
  free(ptr);
}

export function hg_memory_used(): u32 {
  return usedBytes();
}

export function hg_memory_reset(): void {
  reset();
}

// Codec

export function hg_crc32c(ptr: u32, bytes: u32, seed: u32): u32 {
  return crc32c(ptr, bytes, seed);
}

export function hg_records_encode(
  rows: u32,
  times: u32,
  ids: u32,
  counts: u32,
  members: u32,
  propertyEnds: u32,
  properties: u32,
  limit: u32,
  out: u32,
  capacity: u32,
): i32 {
  return encodeRecords(rows, times, ids, counts, members, propertyEnds, properties, limit, out, capacity);
}

export function hg_records_check(ptr: u32, bytes: u32, count: u32): i32 {
  return checkRecords(ptr, bytes, count);
}

export function hg_records_number(ptr: u32, count: u32, firstId: f64): i32 {
  return numberRecords(ptr, count, firstId);
}

export function hg_records_merge(runs: u32, k: u32, out: u32, capacity: u32): i32 {
  return mergeRuns(runs, k, out, capacity);
}

export function hg_record_members(record: u32, out: u32): u32 {
  return recordMembers(record, out);
}

export function hg_records_json(addresses: u32, n: u32, plan: u32, separator: u32, out: u32, capacity: u32): i32 {
  return recordRows(addresses, n, plan, separator, out, capacity);
}

// Segment

export function hg_segment_build(
  addresses: u32,
  rows: u32,
  bucketSeconds: f64,
  table: u32,
  columns: u32,
  columnCount: u32,
): i32 {
  const width = toInteger(bucketSeconds);
  return buildSegment(addresses, rows, width, table, columns, columnCount);
}

export function hg_segment_check_header(base: u32, available: u32, fileBytes: u32): i32 {
  return checkHeader(base, available, fileBytes);
}

export function hg_segment_check(base: u32, bytes: u32, deep: u32): i32 {
  return checkSegment(base, bytes, deep != 0);
}

/** Field of a checked header: see README for the numbers. NaN for an unknown one. */
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
    default:
      return NaN;
  }
}

/** Offset of a section (kind, column) from the file's start, 0 = there is none; hg_result_rows = its bytes. */
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

/** Distinct buckets that the rows of an ascending list (u32[n]) lie in. */
export function hg_segment_row_buckets(segment: u32, rows: u32, n: u32): u32 {
  return bucketsOfList(segment, rows, n);
}

export function hg_segment_lookup(segment: u32, nodes: u32, k: u32, from: u32, to: u32, out: u32, capacity: u32): i32 {
  return lookupRows(segment, nodes, k, from, to, out, capacity);
}

export function hg_segment_count(segment: u32, node: f64, from: u32, to: u32): u32 {
  return countRows(segment, node, from, to);
}

/** Writes {event_ts, id} of a row as f64 x 2. 0 or BAD_ARGUMENT. */
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

/** One step of a scan; request and answer in the block (segment/step.ts). */
export function hg_segment_step(segment: u32, block: u32): i32 {
  return stepSegment(segment, block);
}

export function hg_segment_records(segment: u32, rows: u32, n: u32, out: u32, capacity: u32): i32 {
  return exportRecords(segment, rows, n, out, capacity);
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

/** Writes the dictionary's node ids ascending as f64, from ordinal `from`, at most `capacity`; returns how many. */
export function hg_segment_nodes(segment: u32, from: u32, out: u32, capacity: u32): u32 {
  const nodes = load<u32>(<usize>segment + S_NODES);
  let count: u32 = 0;
  for (let i = from; i < nodes && count < capacity; i++, count++)
    store<f64>(<usize>out + ((<usize>count) << 3), <f64>nodeId(segment, i));
  return count;
}

// Row lists and filters

export function hg_rows_range(from: u32, to: u32, out: u32): void {
  for (let row = from; row < to; row++) store<u32>(<usize>out + ((<usize>(row - from)) << 2), row);
}

export function hg_rows_intersect(a: u32, na: u32, b: u32, nb: u32, out: u32): u32 {
  return intersect32(a, na, b, nb, out);
}

export function hg_rows_union(a: u32, na: u32, b: u32, nb: u32, out: u32): u32 {
  return union32(a, na, b, nb, out);
}

export function hg_rows_difference(a: u32, na: u32, b: u32, nb: u32, out: u32): u32 {
  return difference32(a, na, b, nb, out);
}

export function hg_rows_reconcile(rows: u32, n: u32, dead: u32, deaths: u32, m: u32, lsn: f64): u32 {
  return reconcile(rows, n, dead, deaths, m, lsn);
}

export function hg_filter_test(ptr: u32, bytes: u32, node: f64): u32 {
  return u32(filterTest(ptr, bytes, boundOf(node)));
}

export function hg_filters_probe(directory: u32, count: u32, nodes: u32, k: u32, out: u32): u32 {
  return filtersProbe(directory, count, nodes, k, out);
}

// Memtable

export function hg_memtable_new(bucketSeconds: f64, baseLsn: f64): u32 {
  return <u32>memtableNew(bucketSeconds, baseLsn);
}

export function hg_memtable_reserve(memtable: u32, bytes: u32): u32 {
  return <u32>memtableReserve(memtable, bytes);
}

export function hg_memtable_append(memtable: u32, records: u32, count: u32, firstLsn: f64): i32 {
  return memtableAppend(memtable, records, count, firstLsn);
}

/** Figure of a memtable: 0 rows, 1 dead rows, 2 buckets, 3 record bytes, 4 incidences, 5 rows in order. */
export function hg_memtable_field(memtable: u32, field: u32): u32 {
  const m = <usize>memtable;
  switch (field) {
    case 0:
      return load<u32>(m + M_ROWS);
    case 1:
      return load<u32>(m + M_DEAD);
    case 2:
      return load<u32>(m + M_BUCKETS);
    case 3:
      return load<u32>(m + M_RECORD_BYTES);
    case 4:
      return load<u32>(m + M_INCIDENCES);
    case 5:
      return load<u32>(m + M_ORDERED);
    default:
      return 0;
  }
}

export function hg_memtable_sort(memtable: u32): i32 {
  return memtableSort(memtable) ? 0 : OUT_OF_MEMORY;
}

/** Position of the first key >= (time, id). hg_memtable_sort first. */
export function hg_memtable_seek(memtable: u32, time: f64, id: f64): u32 {
  return memtableSeek(memtable, boundOf(time), boundOf(id));
}

export function hg_memtable_rows(memtable: u32, from: u32, to: u32, lsn: f64, out: u32, capacity: u32): u32 {
  return memtableRows(memtable, from, min(to, load<u32>(<usize>memtable + M_ORDERED)), lsn, out, capacity);
}

/** Brings the node index on by at most `limit` rows; returns the rows left, or OUT_OF_MEMORY. A lookup does what is left itself. */
export function hg_memtable_index(memtable: u32, limit: u32): i32 {
  if (!indexRows(memtable, limit)) return OUT_OF_MEMORY;
  return <i32>(load<u32>(<usize>memtable + M_ROWS) - load<u32>(<usize>memtable + M_INDEXED));
}

export function hg_memtable_lookup(
  memtable: u32,
  nodes: u32,
  k: u32,
  startTime: f64,
  startId: f64,
  endTime: f64,
  lsn: f64,
  out: u32,
  capacity: u32,
): i32 {
  return memtableLookup(memtable, nodes, k, boundOf(startTime), boundOf(startId), boundOf(endTime), lsn, out, capacity);
}

/** Row index at a position of the order, dead or not; 0xffffffff beyond its end. hg_memtable_sort first. */
export function hg_memtable_at(memtable: u32, position: u32): u32 {
  return position < load<u32>(<usize>memtable + M_ORDERED) ? orderAt(memtable, position) : u32.MAX_VALUE;
}

export function hg_memtable_key(memtable: u32, row: u32, out: u32): i32 {
  if (row >= load<u32>(<usize>memtable + M_ROWS)) return BAD_ARGUMENT;
  const record = recordOf(memtable, row);
  store<f64>(<usize>out, <f64>load<i64>(record + 8));
  store<f64>(<usize>out + 8, <f64>load<i64>(record + 16));
  return 0;
}

/** Live row with exactly this key, or -1. hg_memtable_sort first. */
export function hg_memtable_find(memtable: u32, time: f64, id: f64): i32 {
  return memtableFind(memtable, boundOf(time), boundOf(id));
}

export function hg_memtable_match(memtable: u32, record: u32, lsn: f64, out: u32, capacity: u32): u32 {
  return memtableMatch(memtable, record, lsn, out, capacity);
}

export function hg_memtable_kill(memtable: u32, row: u32, lsn: f64): i32 {
  return memtableKill(memtable, row, lsn);
}

/** Turns row indexes (u32[n]) into record addresses, in place. */
export function hg_memtable_addresses(memtable: u32, rows: u32, n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    const at = <usize>rows + ((<usize>i) << 2);
    store<u32>(at, <u32>recordOf(memtable, load<u32>(at)));
  }
}

/** Copies the records at `addresses` (u32[n]) behind each other. Returns bytes, hg_result_rows = how many fitted. */
export function hg_records_copy(addresses: u32, n: u32, out: u32, capacity: u32): i32 {
  return copyRecords(addresses, n, out, capacity);
}

/** Distinct buckets that rows in key order (u32[n]) lie in. */
export function hg_memtable_row_buckets(memtable: u32, rows: u32, n: u32): u32 {
  return bucketsOfOrder(memtable, rows, n);
}

export function hg_memtable_nodes(memtable: u32, out: u32, capacity: u32): i32 {
  return memtableNodes(memtable, out, capacity);
}

function copyRecords(addresses: usize, n: u32, out: usize, capacity: u32): i32 {
  let written: u32 = 0;
  let done: u32 = 0;
  for (; done < n; done++) {
    const record = <usize>load<u32>(addresses + ((<usize>done) << 2));
    const size = load<u32>(record);
    if (size > capacity - written) break;
    memory.copy(out + written, record, size);
    written += size;
  }
  setRows(done);
  return done || !n ? <i32>written : tooSmall(load<u32>(load<u32>(addresses)));
}

function sectionAt(base: usize, kind: u32, column: u32): u32 {
  const entry = findEntry(base, kind, column);
  setRows(entry ? load<u32>(entry + E_BYTES) : 0);
  return entry ? load<u32>(entry + E_OFFSET) : 0;
}
