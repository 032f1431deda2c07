// Encodes, checks and reads records; a record is the encoding of one edge (FORMAT.md section 1).

import { HG_MAX_MEMBERS, HG_MAX_TEXT_BYTES, MAX_SAFE } from '../limits';
import { alloc, free } from '../memory/alloc';
import { bytesOf, get, put } from '../memory/cells';
import {
  BAD_ARGUMENT,
  BAD_INTEGER,
  CORRUPT,
  EMPTY_MEMBERS,
  failAt,
  hg_result_needed,
  OUT_OF_MEMORY,
  TOO_MANY_MEMBERS,
  TOO_SMALL,
  tooSmall,
} from '../status';
import { checkMembers, decodeMembers, encodeMembers, membersBound, skipMembers } from './vbyte';

export const R_COUNT: usize = 4;
export const R_FLAGS: usize = 5;
export const R_PROPERTIES: usize = 6;
export const R_TIME: usize = 8;
export const R_ID: usize = 16;
export const R_MEMBERS: usize = 24;

/** Flag of a record: role masks follow the members. */
export const FLAG_ROLES: u32 = 1;

/**
 * Maximum size in bytes of an edge's property block that the encoder accepts. The columns that the
 * format allows need less.
 */
const MAX_PROPERTY_BYTES: u32 = 0x3fffffff;
const SMALL: u32 = 256;
const scratch: usize = memory.data(2048 + 16, 16);

/** Converts an f64 to a safe integer; returns i64.MIN_VALUE if the value is not a safe integer. */
export function toInteger(value: f64): i64 {
  if (!(value <= <f64>MAX_SAFE && value >= -(<f64>MAX_SAFE))) return i64.MIN_VALUE;
  const integer = <i64>value;
  return <f64>integer == value ? integer : i64.MIN_VALUE;
}

function insertionSort(members: usize, n: u32): void {
  for (let i: u32 = 1; i < n; i++) {
    const value = get<i64>(members, i);
    let j = i;
    while (j > 0 && get<i64>(members, j - 1) > value) {
      put<i64>(members, j, get<i64>(members, j - 1));
      j--;
    }
    put<i64>(members, j, value);
  }
}

function siftDown(a: usize, root: u32, n: u32): void {
  let parent = root;
  while (true) {
    let child = parent * 2 + 1;
    if (child >= n) return;
    if (child + 1 < n && get<i64>(a, child + 1) > get<i64>(a, child)) child++;
    const low = get<i64>(a, parent);
    const high = get<i64>(a, child);
    if (low >= high) return;
    put<i64>(a, parent, high);
    put<i64>(a, child, low);
    parent = child;
  }
}

function heapSort(a: usize, n: u32): void {
  for (let i = n >> 1; i > 0; i--) siftDown(a, i - 1, n);
  for (let end = n - 1; end > 0; end--) {
    const largest = load<i64>(a);
    store<i64>(a, get<i64>(a, end));
    put<i64>(a, end, largest);
    siftDown(a, 0, end);
  }
}

/**
 * Writes n members (f64) as ascending distinct i64; returns how many were written, or BAD_INTEGER.
 */
function memberSet(from: usize, n: u32, to: usize): i32 {
  let sorted = true;
  let previous = i64.MIN_VALUE;
  for (let i: u32 = 0; i < n; i++) {
    const value = toInteger(get<f64>(from, i));
    if (value == i64.MIN_VALUE) return BAD_INTEGER;
    put<i64>(to, i, value);
    if (value <= previous) sorted = false;
    previous = value;
  }
  return <i32>(sorted ? n : sortMembers(to, n));
}

/** Sorts n members (i64) and drops repeats, in place; returns how many are left. */
export function sortMembers(members: usize, n: u32): u32 {
  if (n <= 64) insertionSort(members, n);
  else heapSort(members, n);
  let count: u32 = 1;
  for (let i: u32 = 1; i < n; i++) {
    const value = get<i64>(members, i);
    if (value == get<i64>(members, count - 1)) continue;
    put<i64>(members, count, value);
    count++;
  }
  if (!ASC_NO_ASSERT) assert(count > 0 && count <= n, 'a member set is not empty and not larger than its input');
  return count;
}

/**
 * Writes one record with ascending members; returns the size of the record in bytes. `masks`: the
 * role masks of the members (u16[n]), or 0; if all are 0, the record has none. `out` needs as many
 * bytes as `recordBound` returns, and those of the masks.
 */
export function writeRecord(
  out: usize,
  time: i64,
  id: i64,
  members: usize,
  n: u32,
  masks: usize,
  properties: usize,
  propertyBytes: u32,
): u32 {
  if (!ASC_NO_ASSERT) assert(n > 0 && n <= HG_MAX_MEMBERS, 'an edge has 1 to 255 members');
  store<u32>(out + R_COUNT, n);
  store<i64>(out + R_TIME, time);
  store<i64>(out + R_ID, id);
  let end = encodeMembers(members, n, out + R_MEMBERS);
  if (masks && hasMask(masks, n)) {
    store<u8>(out + R_FLAGS, <u8>FLAG_ROLES);
    memory.copy(end, masks, bytesOf<u16>(n));
    end += bytesOf<u16>(n);
  }
  if (propertyBytes) {
    if (!ASC_NO_ASSERT) assert(end - out <= 0xffff, 'the offset of a property block is a u16');
    store<u16>(out + R_PROPERTIES, <u16>(end - out));
    memory.copy(end, properties, propertyBytes);
    end += propertyBytes;
  }
  const size = <u32>(end - out);
  if (!ASC_NO_ASSERT)
    assert(size + 8 <= recordBound(n, propertyBytes) + (masks ? n * 2 : 0), 'a record is within its bound');
  store<u32>(out, size);
  return size;
}

/** Returns whether one of the masks (u16[n]) is not 0. */
export function hasMask(masks: usize, n: u32): bool {
  for (let i: u32 = 0; i < n; i++) if (get<u16>(masks, i)) return true;
  return false;
}

/**
 * Returns the address of a record's role masks (u16 per member, unaligned), or 0 if it has none.
 */
export function recordMasks(record: usize): usize {
  if (!(<u32>load<u8>(record + R_FLAGS) & FLAG_ROLES)) return 0;
  return skipMembers(record + R_MEMBERS, load<u8>(record + R_COUNT));
}

/**
 * Returns how many bytes of space are always enough to write a record with n members and no role
 * masks. Each member is written by an 8-byte store, which may end beyond the record.
 */
export function recordBound(n: u32, propertyBytes: u32): u32 {
  return <u32>R_MEMBERS + membersBound(n) + propertyBytes + 8;
}

function encodeRow(
  time: f64,
  id: f64,
  members: usize,
  n: u32,
  set: usize,
  limit: u32,
  masks: usize,
  properties: usize,
  propertyBytes: u32,
  out: usize,
  room: u32,
): i32 {
  if (!n) return EMPTY_MEMBERS;
  const count = memberSet(members, n, set);
  if (count < 0) return count;
  if (<u32>count > limit) return TOO_MANY_MEMBERS;
  const eventTime = toInteger(time);
  const edge = toInteger(id);
  if (eventTime == i64.MIN_VALUE || edge == i64.MIN_VALUE) return BAD_INTEGER;
  if (propertyBytes > MAX_PROPERTY_BYTES) return BAD_ARGUMENT;
  // Masks are in the order of the members, so these must not have been moved.
  if (masks && !isAscending(members, n)) return BAD_ARGUMENT;
  const bound = recordBound(count, propertyBytes) + (masks ? n * 2 : 0);
  if (bound > room) return tooSmall(bound);
  return <i32>writeRecord(out, eventTime, edge, set, count, masks, properties, propertyBytes);
}

function isAscending(members: usize, n: u32): bool {
  for (let i: u32 = 1; i < n; i++) if (!(get<f64>(members, i - 1) < get<f64>(members, i))) return false;
  return true;
}

/**
 * Encodes `rows` edges into consecutive records.
 *
 * - times, ids: f64[rows]; address 0 for `ids` means that all ids are 0;
 * - counts: u32[rows], the number of members of each edge, with repetitions;
 * - members: f64, the members of all rows concatenated. The members of a row may be in any order
 *   and may be repeated;
 * - masks: u16, the role masks of the members, in the same order; each row's members must then be
 *   ascending and distinct. Address 0: there are none;
 * - propertyEnds: u32[rows], the offset in `properties` at which each row's property block ends;
 *   address 0 means that no row has a block;
 * - limit: maximum number of distinct members per edge.
 *
 * Returns the number of bytes written, or a status. EMPTY_MEMBERS, TOO_MANY_MEMBERS, BAD_INTEGER
 * and BAD_ARGUMENT (a property block that ends before it begins or is too large, or masks of
 * members that do not ascend) make `hg_result_offset` return the row. After TOO_SMALL,
 * `hg_result_needed` returns the bytes needed for all rows up to and including the first that did
 * not fit. A record fits if as many bytes are left as `recordBound` returns, which is more than it
 * occupies.
 */
export function encodeRecords(
  rows: u32,
  times: usize,
  ids: usize,
  counts: usize,
  members: usize,
  masks: usize,
  propertyEnds: usize,
  properties: usize,
  limit: u32,
  out: usize,
  capacity: u32,
): i32 {
  if (limit > HG_MAX_MEMBERS) limit = HG_MAX_MEMBERS;
  let set = scratch;
  let setRoom = SMALL;
  let written: u32 = 0;
  let propertyStart: u32 = 0;
  let source = members;
  let status: i32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const n = get<u32>(counts, row);
    if (n > setRoom) {
      if (set != scratch) free(set);
      set = n < 0x10000000 ? alloc(bytesOf<u64>(n)) : 0;
      if (!set) return OUT_OF_MEMORY;
      setRoom = n;
    }
    const propertyEnd = propertyEnds ? get<u32>(propertyEnds, row) : 0;
    const propertyBytes = propertyEnds ? propertyEnd - propertyStart : 0;
    const id = ids ? get<f64>(ids, row) : 0;
    status = encodeRow(
      get<f64>(times, row),
      id,
      source,
      n,
      set,
      limit,
      masks ? masks + (source - members) / 4 : 0,
      properties + propertyStart,
      propertyBytes,
      out + written,
      capacity - written,
    );
    if (status < 0) {
      failAt(status, row);
      if (status == TOO_SMALL) tooSmall(written + hg_result_needed());
      break;
    }
    if (!ASC_NO_ASSERT) assert(written + <u32>status <= capacity, 'records end inside their region');
    written += <u32>status;
    propertyStart = propertyEnd;
    source += bytesOf<u64>(n);
  }
  if (set != scratch) free(set);
  return status < 0 ? status : <i32>written;
}

function checkProperties(block: usize, end: usize): bool {
  if (block + 2 > end) return false;
  const count = <u32>load<u16>(block);
  let at = block + 2;
  let previous: i32 = -1;
  for (let i: u32 = 0; i < count; i++) {
    if (at + 4 > end) return false;
    const column = <i32>load<u16>(at);
    if (column <= previous) return false;
    previous = column;
    const next = propertyEnd(at, end);
    if (!next) return false;
    at = next;
  }
  return at == end && count > 0;
}

function propertyEnd(at: usize, end: usize): usize {
  const type = load<u8>(at + 2);
  if (load<u8>(at + 3) || type > 4) return 0;
  if (type == 0) return at + 4;
  const fixed: usize = type == 4 ? 1 : type == 3 ? 4 : 8;
  if (at + 4 + fixed > end) return 0;
  if (type == 1) return isFinite(load<f64>(at + 4)) ? at + 12 : 0;
  if (type == 2) {
    const value = load<i64>(at + 4);
    return value > MAX_SAFE || value < -MAX_SAFE ? 0 : at + 12;
  }
  if (type == 4) return load<u8>(at + 4) > 1 ? 0 : at + 5;
  const length = load<u32>(at + 4);
  if (length > HG_MAX_TEXT_BYTES || at + 8 + length > end) return 0;
  return at + 8 + length;
}

/**
 * Checks the record in the `room` bytes that begin at `record`; returns the size of the record in
 * bytes, or CORRUPT.
 */
export function checkRecord(record: usize, room: u32): i32 {
  if (room < <u32>R_MEMBERS + 2) return CORRUPT;
  const size = load<u32>(record);
  if (size > room || size < <u32>R_MEMBERS + 2) return CORRUPT;
  const end = record + size;
  const n = <u32>load<u8>(record + R_COUNT);
  const flags = <u32>load<u8>(record + R_FLAGS);
  if (!n || flags > FLAG_ROLES) return CORRUPT;
  const time = load<i64>(record + R_TIME);
  const id = load<i64>(record + R_ID);
  if (time > MAX_SAFE || time < -MAX_SAFE || id > MAX_SAFE || id < -MAX_SAFE) return CORRUPT;
  let behind = checkMembers(record + R_MEMBERS, n, end);
  if (!behind) return CORRUPT;
  if (flags) {
    if (behind + bytesOf<u16>(n) > end || !hasMask(behind, n)) return CORRUPT;
    behind += bytesOf<u16>(n);
  }
  const block = <u32>load<u16>(record + R_PROPERTIES);
  if (!block) return behind == end ? <i32>size : CORRUPT;
  if (record + block != behind || !checkProperties(behind, end)) return CORRUPT;
  return <i32>size;
}

/**
 * Checks that [ptr, ptr + bytes) is exactly `count` records. Returns 0 or CORRUPT;
 * `hg_result_offset` then returns the offset of the first bad record, or of the bytes after the
 * last one.
 */
export function checkRecords(ptr: usize, bytes: u32, count: u32): i32 {
  let at: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const size = checkRecord(ptr + at, bytes - at);
    if (size < 0) return failAt(CORRUPT, at);
    at += <u32>size;
  }
  return at == bytes ? 0 : failAt(CORRUPT, at);
}

/** Writes the members of a record as f64[]; returns how many there are. */
export function recordMembers(record: usize, out: usize): u32 {
  const n = <u32>load<u8>(record + R_COUNT);
  decodeMembers(record + R_MEMBERS, n, out);
  for (let i: u32 = 0; i < n; i++) put<f64>(out, i, <f64>get<i64>(out, i));
  return n;
}

/**
 * Returns the address of the property `column` in a record, or 0 if the record does not have it.
 */
export function findProperty(record: usize, column: u32): usize {
  const block = <usize>load<u16>(record + R_PROPERTIES);
  if (!block) return 0;
  const count = <u32>load<u16>(record + block);
  let at = record + block + 2;
  for (let i: u32 = 0; i < count; i++) {
    const found = <u32>load<u16>(at);
    if (found == column) return at;
    if (found > column) return 0;
    at = skipProperty(at);
  }
  return 0;
}

export function skipProperty(at: usize): usize {
  const type = load<u8>(at + 2);
  if (type == 0) return at + 4;
  if (type == 4) return at + 5;
  if (type == 3) return at + 8 + load<u32>(at + 4);
  return at + 12;
}

/**
 * Assigns the ids `first`, `first + 1`, ... to `count` consecutive records. Returns 0, or
 * BAD_ARGUMENT.
 */
export function numberRecords(ptr: usize, count: u32, first: f64): i32 {
  let id = toInteger(first);
  if (id == i64.MIN_VALUE || id > MAX_SAFE - <i64>count) return BAD_ARGUMENT;
  let at = ptr;
  for (let i: u32 = 0; i < count; i++) {
    if (!ASC_NO_ASSERT) assert(load<u32>(at) >= <u32>R_MEMBERS + 2, 'a record has a header and a member');
    store<i64>(at + R_ID, id);
    at += load<u32>(at);
    id++;
  }
  return 0;
}
