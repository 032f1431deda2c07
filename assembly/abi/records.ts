// The ABI of records: computes checksums, encodes and checks records, assigns ids to them, merges
// and copies them, and writes them as text.

import { crc32c } from '../codec/crc32c';
import { checkRecords, encodeRecords, numberRecords, recordMembers } from '../codec/record';
import { parseEdges, parseNamedEdges } from '../json/edges';
import { recordRows } from '../json/rows';
import { get } from '../memory/cells';
import { mergeRuns } from '../merge/merge';
import { setRows, tooSmall } from '../status';
import { boundOf } from './bound';

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
  return encodeRecords(rows, times, ids, counts, members, 0, propertyEnds, properties, limit, out, capacity);
}

/** Same as `hg_records_encode`, with role masks (u16 per member, in the same order). */
export function hg_records_encode_roles(
  rows: u32,
  times: u32,
  ids: u32,
  counts: u32,
  members: u32,
  masks: u32,
  propertyEnds: u32,
  properties: u32,
  limit: u32,
  out: u32,
  capacity: u32,
): i32 {
  return encodeRecords(rows, times, ids, counts, members, masks, propertyEnds, properties, limit, out, capacity);
}

/**
 * Reads plain lines of JSON, one edge in each, and writes them as consecutive records with id 0.
 * Stops at the first line that is not plain (json/edges.ts).
 */
export function hg_records_parse(text: u32, bytes: u32, keys: u32, limit: u32, out: u32, capacity: u32): i32 {
  return parseEdges(text, bytes, keys, limit, out, capacity);
}

/** Same as `hg_records_parse`, for lines whose members are keys of one kind. */
export function hg_records_parse_named(
  text: u32,
  bytes: u32,
  keys: u32,
  limit: u32,
  kind: u32,
  create: u32,
  held: u32,
  out: u32,
  capacity: u32,
): i32 {
  return parseNamedEdges(text, bytes, keys, limit, kind, create != 0, held, out, capacity);
}

export function hg_records_check(ptr: u32, bytes: u32, count: u32): i32 {
  return checkRecords(ptr, bytes, count);
}

export function hg_records_number(ptr: u32, count: u32, firstId: f64): i32 {
  return numberRecords(ptr, count, firstId);
}

export function hg_records_merge(runs: u32, k: u32, out: u32, capacity: u32): i32 {
  return mergeRuns(runs, k, i64.MAX_VALUE, i64.MAX_VALUE, out, capacity);
}

/**
 * Same as `hg_records_merge`, but merges only the records with a key below (time, id). Updates
 * `runs` to describe what is left of each run.
 */
export function hg_records_merge_until(runs: u32, k: u32, time: f64, id: f64, out: u32, capacity: u32): i32 {
  return mergeRuns(runs, k, boundOf(time), boundOf(id), out, capacity);
}

export function hg_record_members(record: u32, out: u32): u32 {
  return recordMembers(record, out);
}

export function hg_records_json(addresses: u32, n: u32, plan: u32, separator: u32, out: u32, capacity: u32): i32 {
  return recordRows(addresses, n, plan, separator, out, capacity);
}

/**
 * Copies the records at `addresses` (u32[n]) one after another. Returns the number of bytes
 * written; `hg_result_rows` returns the number of records that fitted.
 */
export function hg_records_copy(addresses: u32, n: u32, out: u32, capacity: u32): i32 {
  return copyRecords(addresses, n, out, capacity);
}

function copyRecords(addresses: usize, n: u32, out: usize, capacity: u32): i32 {
  let written: u32 = 0;
  let done: u32 = 0;
  for (; done < n; done++) {
    const record = <usize>get<u32>(addresses, done);
    const size = load<u32>(record);
    if (size > capacity - written) break;
    memory.copy(out + written, record, size);
    written += size;
  }
  setRows(done);
  return done || !n ? <i32>written : tooSmall(load<u32>(load<u32>(addresses)));
}
