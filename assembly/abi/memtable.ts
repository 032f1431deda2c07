// The ABI of memtables: creates them, appends rows, and reads rows by key order and by node.

import { greatestEnd } from '../interval/tree';
import { cell, put } from '../memory/cells';
import { M_DEAD, M_INCIDENCES, M_INDEXED, M_ORDERED, M_RECORD_BYTES, M_ROWS, recordOf } from '../memtable/layout';
import {
  bucketsOfOrder,
  memtableFind,
  memtableMatch,
  memtableRows,
  memtableSeek,
  memtableSort,
  orderAt,
} from '../memtable/order';
import { indexRows, memtableLookup, memtableNodes, seedNodes } from '../memtable/postings';
import {
  memtableAppend,
  memtableBuckets,
  memtableFree,
  memtableKill,
  memtableNew,
  memtableReserve,
  memtableUnreserve,
} from '../memtable/rows';
import { filterMemtable } from '../psi/filter';
import { BAD_ARGUMENT, OUT_OF_MEMORY } from '../status';
import { boundOf } from './bound';

/**
 * Seeds the hash tables of nodes with 64 secret random bits. Call it before the first memtable is
 * created. Results do not depend on the seed.
 */
export function hg_memtable_seed(low: u32, high: u32): void {
  seedNodes(low, high);
}

export function hg_memtable_new(bucketSeconds: f64, baseLsn: f64): u32 {
  return <u32>memtableNew(bucketSeconds, baseLsn);
}

/** Frees all memory of a memtable; its handle becomes invalid. */
export function hg_memtable_free(memtable: u32): void {
  memtableFree(memtable);
}

/**
 * Reserves space for `rows` records with a total of `bytes` bytes; returns the address of this
 * space, or 0 if memory cannot grow.
 */
export function hg_memtable_reserve(memtable: u32, bytes: u32, rows: u32): u32 {
  return <u32>memtableReserve(memtable, bytes, rows);
}

/** Releases reserved space to which no records will be appended. */
export function hg_memtable_unreserve(memtable: u32, records: u32, bytes: u32, rows: u32): void {
  memtableUnreserve(memtable, records, bytes, rows);
}

export function hg_memtable_append(memtable: u32, records: u32, count: u32, firstLsn: f64): i32 {
  return memtableAppend(memtable, records, count, firstLsn);
}

/**
 * Returns a count that `field` selects: 0 rows, 1 dead rows, 2 buckets, 3 bytes of records, 4
 * incidences, 5 rows that are already sorted by key.
 */
export function hg_memtable_field(memtable: u32, field: u32): u32 {
  const m = <usize>memtable;
  switch (field) {
    case 0:
      return load<u32>(m + M_ROWS);
    case 1:
      return load<u32>(m + M_DEAD);
    case 2:
      return memtableBuckets(m);
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

/** Returns the position of the first key >= (time, id). Call `hg_memtable_sort` first. */
export function hg_memtable_seek(memtable: u32, time: f64, id: f64): u32 {
  return memtableSeek(memtable, boundOf(time), boundOf(id));
}

export function hg_memtable_rows(memtable: u32, from: u32, to: u32, lsn: f64, out: u32, capacity: u32): u32 {
  return memtableRows(memtable, from, min(to, load<u32>(<usize>memtable + M_ORDERED)), lsn, out, capacity);
}

/**
 * Extends the node index by at most `limit` rows; returns how many rows are not yet indexed, or
 * OUT_OF_MEMORY. A lookup indexes the remaining rows itself.
 */
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

/**
 * Returns the index of the row, dead or not, at a position in the key order; 0xffffffff for a
 * position beyond the last row. Call `hg_memtable_sort` first.
 */
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

/** Returns the live row with exactly this key, or -1. Call `hg_memtable_sort` first. */
export function hg_memtable_find(memtable: u32, time: f64, id: f64): i32 {
  return memtableFind(memtable, boundOf(time), boundOf(id));
}

export function hg_memtable_match(memtable: u32, record: u32, lsn: f64, out: u32, capacity: u32): u32 {
  return memtableMatch(memtable, record, lsn, out, capacity);
}

export function hg_memtable_kill(memtable: u32, row: u32, lsn: f64): i32 {
  return memtableKill(memtable, row, lsn);
}

/** Replaces row indexes (u32[n]) by the addresses of their records, in place. */
export function hg_memtable_addresses(memtable: u32, rows: u32, n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    const at = cell<u32>(rows, i);
    store<u32>(at, <u32>recordOf(memtable, load<u32>(at)));
  }
}

/**
 * Writes running sums of record sizes in bytes (u32[n] at `out`) for the rows, dead or not, at
 * positions [from, from + n) in the key order. Entry i is `before` plus the sizes of the records at
 * the positions from `from` to `from + i`.
 */
export function hg_memtable_sums(memtable: u32, from: u32, n: u32, before: u32, out: u32): i32 {
  const ordered = load<u32>(<usize>memtable + M_ORDERED);
  if (from > ordered || n > ordered - from) return BAD_ARGUMENT;
  let sum = before;
  for (let i: u32 = 0; i < n; i++) {
    sum += load<u32>(recordOf(memtable, orderAt(memtable, from + i)));
    put<u32>(out, i, sum);
  }
  return 0;
}

/**
 * Removes, in place, the rows of a list (u32[n]) that are not in all k ranges; returns how many
 * rows remain.
 */
export function hg_memtable_filter(memtable: u32, rows: u32, n: u32, ranges: u32, k: u32): u32 {
  return filterMemtable(memtable, rows, n, ranges, k);
}

/**
 * Returns the number of distinct buckets that contain rows of a list (u32[n]), which must be in key
 * order.
 */
export function hg_memtable_row_buckets(memtable: u32, rows: u32, n: u32): u32 {
  return bucketsOfOrder(memtable, rows, n);
}

export function hg_memtable_nodes(memtable: u32, out: u32, capacity: u32): i32 {
  return memtableNodes(memtable, out, capacity);
}

/**
 * Returns the greatest value of an integer column among the rows from number `from` on, dead ones
 * included: Infinity if it is null in one, -Infinity if there is no row.
 */
export function hg_memtable_greatest(memtable: u32, column: u32, from: u32): f64 {
  return greatestEnd(memtable, column, from);
}
