// The memtable: appends rows as records, with the LSNs at which they were added and deleted, and
// counts buckets.

import { R_COUNT, R_ID, R_TIME, toInteger } from '../codec/record';
import { HG_RECORD_HEADER_BYTES } from '../limits';
import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, get, put } from '../memory/cells';
import { floorDivide } from '../segment/layout';
import { BAD_ARGUMENT } from '../status';
import {
  growArray,
  lsnOffset,
  M_BASE_LSN,
  M_BUCKET_SECONDS,
  M_BUCKET_SLOTS,
  M_BUCKET_TABLE,
  M_BUCKETS,
  M_BYTES,
  M_CAPACITY,
  M_CHAIN,
  M_CHUNK,
  M_CHUNK_BYTES,
  M_CHUNK_LEFT,
  M_DEAD,
  M_DEATHS,
  M_INCIDENCES,
  M_LAST_BUCKET,
  M_LSNS,
  M_NODE_TABLE,
  M_ORDER,
  M_ORDERED,
  M_RECORD_BYTES,
  M_RECORDS,
  M_REGIONS,
  M_RESERVED,
  M_ROWS,
  M_UNCOUNTED,
  recordOf,
} from './layout';

/**
 * Chunks for records grow fourfold up to this size. A memtable of a few rows stays small, so that
 * many memtables can share an instance.
 */
const CHUNK_BYTES: u32 = 65000;
const FIRST_CHUNK_BYTES: u32 = 1000;
/**
 * Size in bytes of the header of a record region. The header contains the address of the next
 * region.
 */
const REGION_HEADER: u32 = 16;
const FIRST_ROWS: u32 = 16;
/**
 * With fewer rows than this, the row arrays grow fourfold, so that little memory is wasted in
 * arrays that were outgrown. With more rows they double.
 */
const LARGE_ROWS: u32 = 262144;
const NO_BUCKET: i64 = i64.MIN_VALUE;

/**
 * Creates an empty memtable, all of whose rows will have an LSN above `baseLsn`. Returns its
 * handle, or 0 if out of memory or for a bad argument.
 */
export function memtableNew(bucketSeconds: f64, baseLsn: f64): usize {
  const width = toInteger(bucketSeconds);
  if (width < 1) return 0;
  const m = alloc(M_BYTES);
  if (!m) return 0;
  memory.fill(m, 0, M_BYTES);
  store<f64>(m + M_BASE_LSN, baseLsn);
  store<i64>(m + M_BUCKET_SECONDS, width);
  store<i64>(m + M_LAST_BUCKET, NO_BUCKET);
  return m;
}

/**
 * Reserves space for `rows` records with a total of `bytes` bytes. The caller fills it and then
 * appends the records; that append needs no more memory. Returns 0, with nothing reserved, if out
 * of memory.
 */
export function memtableReserve(m: usize, bytes: u32, rows: u32): usize {
  if (!reserveRows(m, rows)) return 0;
  const at = reserveBytes(m, max<u32>(bytes, 1));
  if (at) store<u32>(m + M_RESERVED, load<u32>(m + M_RESERVED) + rows);
  return at;
}

/**
 * Releases space from `memtableReserve` to which no rows will be appended. Its bytes are reused
 * only if they are the last bytes that were reserved.
 */
export function memtableUnreserve(m: usize, records: usize, bytes: u32, rows: u32): void {
  store<u32>(m + M_RESERVED, load<u32>(m + M_RESERVED) - rows);
  if (<usize>load<u32>(m + M_CHUNK) != records + bytes) return;
  store<u32>(m + M_CHUNK, <u32>records);
  store<u32>(m + M_CHUNK_LEFT, load<u32>(m + M_CHUNK_LEFT) + bytes);
}

function reserveBytes(m: usize, bytes: u32): usize {
  const left = load<u32>(m + M_CHUNK_LEFT);
  if (bytes <= left) {
    const at = load<u32>(m + M_CHUNK);
    store<u32>(m + M_CHUNK, at + bytes);
    store<u32>(m + M_CHUNK_LEFT, left - bytes);
    return at;
  }
  if (bytes > CHUNK_BYTES / 4) return newRegion(m, bytes);
  const last = load<u32>(m + M_CHUNK_BYTES);
  const size = min(CHUNK_BYTES, max(bytes, last ? last * 4 : FIRST_CHUNK_BYTES));
  const chunk = newRegion(m, size);
  if (!chunk) return 0;
  store<u32>(m + M_CHUNK_BYTES, size);
  store<u32>(m + M_CHUNK, <u32>chunk + bytes);
  store<u32>(m + M_CHUNK_LEFT, size - bytes);
  return chunk;
}

function newRegion(m: usize, bytes: u32): usize {
  if (bytes > 0xd0000000) return 0;
  const region = alloc(bytes + REGION_HEADER);
  if (!region) return 0;
  store<u32>(region, load<u32>(m + M_REGIONS));
  store<u32>(m + M_REGIONS, <u32>region);
  return region + REGION_HEADER;
}

/** Frees all memory of a memtable; its handle becomes invalid. */
export function memtableFree(m: usize): void {
  for (let region = <usize>load<u32>(m + M_REGIONS); region; ) {
    const next = <usize>load<u32>(region);
    free(region);
    region = next;
  }
  free(load<u32>(m + M_RECORDS));
  free(load<u32>(m + M_LSNS));
  free(load<u32>(m + M_DEATHS));
  free(load<u32>(m + M_ORDER));
  free(load<u32>(m + M_BUCKET_TABLE));
  free(load<u32>(m + M_NODE_TABLE));
  free(load<u32>(m + M_CHAIN));
  free(m);
}

/** Makes space for `more` rows in addition to the rows present or reserved. */
function reserveRows(m: usize, more: u32): bool {
  const rows = load<u32>(m + M_ROWS);
  const capacity = load<u32>(m + M_CAPACITY);
  if (!ASC_NO_ASSERT) assert(rows <= capacity, 'a memtable has no more rows than its capacity');
  if (!ASC_NO_ASSERT)
    assert(<u64>rows + load<u32>(m + M_RESERVED) <= capacity, 'there is room for the rows that are reserved');
  const wanted = <u64>rows + load<u32>(m + M_RESERVED) + more;
  if (wanted > 0x3fffffff) return false;
  if (wanted <= capacity) return true;
  const next = max<u32>(capacity ? capacity * (capacity < LARGE_ROWS ? 4 : 2) : FIRST_ROWS, <u32>wanted);
  const used = bytesOf<u32>(rows);
  if (!growArray(m + M_RECORDS, used, bytesOf<u32>(next))) return false;
  if (!growArray(m + M_LSNS, used, bytesOf<u32>(next))) return false;
  if (!growArray(m + M_DEATHS, used, bytesOf<u32>(next))) return false;
  if (!growArray(m + M_ORDER, used, bytesOf<u32>(next))) return false;
  store<u32>(m + M_CAPACITY, next);
  return true;
}

/**
 * Makes space for `more` further buckets in the set of buckets, at a load factor of at most one
 * half. No set is needed as long as rows arrive in key order. Returns false if out of memory.
 */
function reserveBuckets(m: usize, more: u32): bool {
  const slots = load<u32>(m + M_BUCKET_SLOTS);
  if (!slots)
    return load<u32>(m + M_ORDERED) == load<u32>(m + M_ROWS) ? true : makeBucketSet(m, load<u32>(m + M_ROWS), more);
  const wanted = load<u32>(m + M_BUCKETS) + more;
  if (wanted * 2 <= slots) return true;
  let next: u32 = slots;
  while (next < wanted * 2) next *= 2;
  if (next == slots) return true;
  const old = <usize>load<u32>(m + M_BUCKET_TABLE);
  const table = alloc(bytesOf<u64>(next));
  if (!table) return false;
  for (let i: u32 = 0; i < next; i++) put<i64>(table, i, NO_BUCKET);
  store<u32>(m + M_BUCKET_TABLE, <u32>table);
  store<u32>(m + M_BUCKET_SLOTS, next);
  store<u32>(m + M_BUCKETS, 0);
  for (let i: u32 = 0; i < slots; i++) {
    const bucket = get<i64>(old, i);
    if (bucket != NO_BUCKET) addBucket(m, bucket);
  }
  free(old);
  return true;
}

function addBucket(m: usize, bucket: i64): void {
  const table = <usize>load<u32>(m + M_BUCKET_TABLE);
  const mask = load<u32>(m + M_BUCKET_SLOTS) - 1;
  if (!ASC_NO_ASSERT) assert(load<u32>(m + M_BUCKETS) <= mask, 'the set of buckets has an empty slot');
  if (!ASC_NO_ASSERT) assert(popcnt(mask + 1) == 1, 'the slots of the set of buckets are a power of two');
  let slot = <u32>((<u64>bucket * 0x9e3779b97f4a7c15) >> 32) & mask;
  while (true) {
    const found = get<i64>(table, slot);
    if (found == bucket) return;
    if (found == NO_BUCKET) break;
    slot = (slot + 1) & mask;
  }
  put<i64>(table, slot, bucket);
  store<u32>(m + M_BUCKETS, load<u32>(m + M_BUCKETS) + 1);
}

/**
 * Counts a bucket if it is new. Until a row is in an earlier bucket than the row before it, a
 * bucket is compared only with the last one; this row builds the set. Returns false if out of
 * memory.
 */
function countBucket(m: usize, bucket: i64, row: u32, more: u32): bool {
  const last = load<i64>(m + M_LAST_BUCKET);
  if (!load<u32>(m + M_BUCKET_SLOTS)) {
    if (bucket == last) return true;
    if (bucket > last) {
      store<i64>(m + M_LAST_BUCKET, bucket);
      store<u32>(m + M_BUCKETS, load<u32>(m + M_BUCKETS) + 1);
      return true;
    }
    if (!makeBucketSet(m, row, more)) return false;
  }
  addBucket(m, bucket);
  return true;
}

/** Builds the set of buckets from the first `rows` rows, with space for `more` further buckets. */
function makeBucketSet(m: usize, rows: u32, more: u32): bool {
  const slots: u32 = 1 << (33 - clz(max<u32>(load<u32>(m + M_BUCKETS) + more, 32)));
  const table = alloc(bytesOf<u64>(slots));
  if (!table) return false;
  for (let i: u32 = 0; i < slots; i++) put<i64>(table, i, NO_BUCKET);
  store<u32>(m + M_BUCKET_TABLE, <u32>table);
  store<u32>(m + M_BUCKET_SLOTS, slots);
  store<u32>(m + M_BUCKETS, 0);
  const width = load<i64>(m + M_BUCKET_SECONDS);
  for (let row: u32 = 0; row < rows; row++) addBucket(m, floorDivide(load<i64>(recordOf(m, row) + R_TIME), width));
  return true;
}

/** Returns whether record a sorts before record b by (event_ts, id). */
export function keyBefore(a: usize, b: usize): bool {
  const timeA = load<i64>(a + R_TIME);
  const timeB = load<i64>(b + R_TIME);
  return timeA != timeB ? timeA < timeB : load<i64>(a + R_ID) < load<i64>(b + R_ID);
}

/**
 * Appends `count` checked records at `records`, in space from `memtableReserve`. The first record
 * has LSN `firstLsn`, and LSNs rise by one from record to record. Returns 0, or BAD_ARGUMENT if
 * there are more records than were reserved, or if an LSN is not above the base or is about 2^32
 * above it. Cannot run out of memory: if buckets can no longer be counted here, `memtableBuckets`
 * counts them on demand.
 */
export function memtableAppend(m: usize, records: usize, count: u32, firstLsn: f64): i32 {
  const first = lsnOffset(m, firstLsn);
  const reserved = load<u32>(m + M_RESERVED);
  if (!first || <u64>first + count >= u32.MAX_VALUE || count > reserved) return BAD_ARGUMENT;
  store<u32>(m + M_RESERVED, reserved - count);
  let counted = !load<u32>(m + M_UNCOUNTED) && reserveBuckets(m, count);
  const width = load<i64>(m + M_BUCKET_SECONDS);
  let row = load<u32>(m + M_ROWS);
  if (!ASC_NO_ASSERT) assert(row + count <= load<u32>(m + M_CAPACITY), 'reserved rows fit');
  if (!ASC_NO_ASSERT) assert(load<u32>(m + M_ORDERED) <= row, 'no more rows are in order than there are');
  if (!ASC_NO_ASSERT) assert(!row || get<u32>(load<u32>(m + M_LSNS), row - 1) <= first, 'LSNs ascend from row to row');
  let bucketEnd = i64.MIN_VALUE;
  let bucketStart = i64.MAX_VALUE;
  let bytes = load<u32>(m + M_RECORD_BYTES);
  let incidences = load<u32>(m + M_INCIDENCES);
  let record = records;
  for (let i: u32 = 0; i < count; i++) {
    const slot = bytesOf<u32>(row);
    store<u32>(<usize>load<u32>(m + M_RECORDS) + slot, <u32>record);
    store<u32>(<usize>load<u32>(m + M_LSNS) + slot, first + i);
    store<u32>(<usize>load<u32>(m + M_DEATHS) + slot, 0);
    appendOrder(m, row, record);
    const time = load<i64>(record + R_TIME);
    if (counted && (time >= bucketEnd || time < bucketStart)) {
      const bucket = floorDivide(time, width);
      bucketStart = bucket * width;
      bucketEnd = bucketStart + width;
      counted = countBucket(m, bucket, row, count - i);
    }
    const size = load<u32>(record);
    if (!ASC_NO_ASSERT) assert(size > HG_RECORD_HEADER_BYTES, 'a record has a header and a member');
    bytes += size;
    incidences += load<u8>(record + R_COUNT);
    record += size;
    row++;
  }
  store<u32>(m + M_ROWS, row);
  store<u32>(m + M_RECORD_BYTES, bytes);
  store<u32>(m + M_INCIDENCES, incidences);
  if (!counted) uncount(m);
  return 0;
}

/** Discards the set of buckets, which has become incomplete. */
function uncount(m: usize): void {
  store<u32>(m + M_UNCOUNTED, 1);
  free(load<u32>(m + M_BUCKET_TABLE));
  store<u32>(m + M_BUCKET_TABLE, 0);
  store<u32>(m + M_BUCKET_SLOTS, 0);
}

/**
 * Returns the number of distinct buckets of all rows, including dead rows. If they could not be
 * counted before, counts them now. If there is not enough memory for that, counts how often the
 * bucket changes from one row to the next, which may be more.
 */
export function memtableBuckets(m: usize): u32 {
  if (!load<u32>(m + M_UNCOUNTED)) return load<u32>(m + M_BUCKETS);
  const width = load<i64>(m + M_BUCKET_SECONDS);
  const rows = load<u32>(m + M_ROWS);
  let changes: u32 = 0;
  let last = NO_BUCKET;
  for (let row: u32 = 0; row < rows; row++) {
    const bucket = floorDivide(load<i64>(recordOf(m, row) + R_TIME), width);
    if (bucket != last) changes++;
    last = bucket;
  }
  store<u32>(m + M_BUCKETS, changes);
  if (!makeBucketSet(m, rows, 0)) return changes;
  store<u32>(m + M_UNCOUNTED, 0);
  return load<u32>(m + M_BUCKETS);
}

/**
 * Extends the sorted part of the order by a row, if this part contains all earlier rows and the row
 * follows them in key order.
 */
function appendOrder(m: usize, row: u32, record: usize): void {
  const ordered = load<u32>(m + M_ORDERED);
  if (ordered != row) return;
  const order = <usize>load<u32>(m + M_ORDER);
  if (row && !keyBefore(recordOf(m, get<u32>(order, row - 1)), record)) return;
  put<u32>(order, row, row);
  store<u32>(m + M_ORDERED, row + 1);
}

/**
 * Marks a row as dead from `lsn` on. Returns 1 if it was alive and 0 if it was already dead.
 * Returns BAD_ARGUMENT if there is no such row or the LSN is not above the base.
 */
export function memtableKill(m: usize, row: u32, lsn: f64): i32 {
  const at = lsnOffset(m, lsn);
  if (row >= load<u32>(m + M_ROWS) || !at) return BAD_ARGUMENT;
  const death = cell<u32>(load<u32>(m + M_DEATHS), row);
  if (load<u32>(death)) return 0;
  if (!ASC_NO_ASSERT) assert(load<u32>(m + M_DEAD) < load<u32>(m + M_ROWS), 'no more rows are dead than there are');
  store<u32>(death, at);
  store<u32>(m + M_DEAD, load<u32>(m + M_DEAD) + 1);
  return 1;
}
