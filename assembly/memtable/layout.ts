// The handle of a memtable: offsets of its fields, and functions that grow its arrays.

import { alloc, free } from '../memory/alloc';
import { bytesOf, get } from '../memory/cells';

export const M_ROWS: usize = 0;
export const M_CAPACITY: usize = 4;
/** Address of u32[]: for each row, the address of its record. */
export const M_RECORDS: usize = 8;
/** Address of u32[]: for each row, its LSN - M_BASE_LSN, at least 1. */
export const M_LSNS: usize = 12;
/** Address of u32[]: for each row, the LSN of its deletion - M_BASE_LSN; 0 if the row is alive. */
export const M_DEATHS: usize = 16;
/**
 * Address of u32[]: row indexes in (event_ts, id) order, of which the first M_ORDERED are valid.
 */
export const M_ORDER: usize = 20;
export const M_ORDERED: usize = 24;
export const M_DEAD: usize = 28;
export const M_CHUNK: usize = 32;
export const M_CHUNK_LEFT: usize = 36;
export const M_BUCKETS: usize = 40;
export const M_BUCKET_TABLE: usize = 44;
export const M_BUCKET_SLOTS: usize = 48;
export const M_NODES: usize = 52;
/** Address of an open-addressed hash table, M_NODE_SLOTS x {i64 node, u32 head + 1, u32 count}. */
export const M_NODE_TABLE: usize = 56;
export const M_NODE_SLOTS: usize = 60;
/** Address of the links of all chains: {u32 row, u32 previous + 1} per indexed incidence. */
export const M_CHAIN: usize = 64;
export const M_CHAIN_CAPACITY: usize = 68;
export const M_CHAIN_LENGTH: usize = 72;
/** Number of rows whose members are in the node index. */
export const M_INDEXED: usize = 76;
export const M_BASE_LSN: usize = 80;
export const M_BUCKET_SECONDS: usize = 88;
export const M_LAST_BUCKET: usize = 96;
export const M_RECORD_BYTES: usize = 104;
export const M_INCIDENCES: usize = 108;
/** Number of rows reserved by `memtableReserve` and not yet appended. */
export const M_RESERVED: usize = 112;
/** Address of the newest region of records. Each region begins with the address of the next one. */
export const M_REGIONS: usize = 116;
/** Size in bytes of the newest chunk. */
export const M_CHUNK_BYTES: usize = 120;
/**
 * 1 if there was not enough memory to count the buckets of all rows; M_BUCKETS is then meaningless.
 */
export const M_UNCOUNTED: usize = 124;
export const M_BYTES: u32 = 128;

export function recordOf(m: usize, row: u32): usize {
  if (!ASC_NO_ASSERT) assert(row < load<u32>(m + M_CAPACITY), 'a row of a memtable is below its capacity');
  return <usize>get<u32>(load<u32>(m + M_RECORDS), row);
}

/**
 * Moves the array whose address is stored at `field` to a new array of `bytes` bytes. Returns
 * false, with nothing changed, if out of memory.
 */
export function growArray(field: usize, usedBytes: u32, bytes: u32): bool {
  if (!ASC_NO_ASSERT) assert(usedBytes <= bytes, 'an array does not shrink');
  const next = alloc(bytes);
  if (!next) return false;
  const old = <usize>load<u32>(field);
  if (old) {
    memory.copy(next, old, usedBytes);
    free(old);
  }
  store<u32>(field, <u32>next);
  return true;
}

/**
 * Returns an LSN as an offset from the memtable's base, clamped to u32, so that 0 (before all rows)
 * and Infinity (the newest state) can be passed too.
 */
export function lsnOffset(m: usize, lsn: f64): u32 {
  const offset = lsn - load<f64>(m + M_BASE_LSN);
  if (!(offset > 0)) return 0;
  return offset >= 4294967295 ? u32.MAX_VALUE : <u32>offset;
}

/** Returns whether a row is visible to a snapshot at `at`, which is a result of `lsnOffset`. */
export function isVisible(m: usize, row: u32, at: u32): bool {
  if (!ASC_NO_ASSERT) assert(row < load<u32>(m + M_ROWS), 'a row whose visibility is asked exists');
  const slot = bytesOf<u32>(row);
  if (load<u32>(<usize>load<u32>(m + M_LSNS) + slot) > at) return false;
  const death = load<u32>(<usize>load<u32>(m + M_DEATHS) + slot);
  return !death || death > at;
}
