// Replaces the marks of row text by keys. A mark is a byte 0x01 and a number (u32): the text of
// rows is written with marks (json/marks.ts) by instances that do not know the keys.

import { MARK, MARK_BYTES } from '../json/marks';
import { textNeed, writeText } from '../json/text';
import { failAt, tooSmall } from '../status';
import { MAX_KEY_BYTES } from './dictionary';
import { E_KEY, E_STATE, ESCAPED, entryOf, keyBytesOf, kindOf } from './entry';
import { isIntegerKind, longestPrefix, prefixBytesOf, prefixOf } from './kinds';

/** How far a wide store may go beyond what is written. */
const OVERSHOOT: u32 = 16;
const ONES: u64 = 0x0101010101010101;

/**
 * Copies `bytes` bytes of text and writes the key of each mark as JSON, or as an object with its
 * kind if `objects` is true; a number without an entry is written as null. 16 more bytes of text
 * are readable. Returns the number of bytes written; `hg_result_offset` returns the number of bytes
 * read, fewer if `capacity` is exhausted or the text ends inside of a mark. Returns TOO_SMALL if
 * the capacity is not enough for one key.
 */
export function translateMarks(text: usize, bytes: u32, objects: bool, out: usize, capacity: u32): i32 {
  const room = longestPrefix() + textNeed(MAX_KEY_BYTES) + 2 * OVERSHOOT;
  if (capacity < room) return tooSmall(room);
  const end = text + bytes;
  const last = out + capacity - room;
  let at = text;
  let to = out;
  while (at < end && to <= last) {
    const plain = copyToMark(to, at);
    const left = end - at;
    if (plain >= left) {
      at += left;
      to += left;
      break;
    }
    at += plain;
    to += plain;
    if (plain == WIDTH) continue;
    if (end - at < MARK_BYTES) break;
    to = writeKey(to, load<u32>(at + 1), objects);
    at += MARK_BYTES;
  }
  if (!ASC_NO_ASSERT) assert(to <= out + capacity, 'text with keys is within its capacity');
  failAt(0, <u32>(at - text));
  return <i32>(to - out);
}

/** How many bytes `copyToMark` copies at most. */
const WIDTH: usize = ASC_FEATURE_SIMD ? 16 : 8;

/** Copies WIDTH bytes; returns how many come before the first mark, or WIDTH. */
function copyToMark(out: usize, from: usize): usize {
  if (ASC_FEATURE_SIMD) {
    const bytes = v128.load(from);
    v128.store(out, bytes);
    const mask = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(<i8>MARK)));
    return mask ? <usize>ctz(mask) : 16;
  }
  const word = load<u64>(from);
  store<u64>(out, word);
  // Of the bits found, only the lowest is reliable.
  const other = word ^ (ONES * <u64>MARK);
  const found = (other - ONES) & ~other & (ONES << 7);
  return found ? <usize>(ctz(found) >> 3) : 8;
}

/** Copies at least n bytes of a key or prefix, and up to OVERSHOOT - 1 more. */
function copyKey(out: usize, from: usize, n: u32): usize {
  for (let i: u32 = 0; i < n; i += ASC_FEATURE_SIMD ? 16 : 8) {
    if (ASC_FEATURE_SIMD) v128.store(out + i, v128.load(from + i));
    else store<u64>(out + i, load<u64>(from + i));
  }
  return out + n;
}

function writeKey(out: usize, number: u32, objects: bool): usize {
  const entry = entryOf(number);
  if (!entry) {
    store<u32>(out, 0x6c6c756e); // null
    return out + 4;
  }
  const kind = kindOf(entry);
  const bytes = keyBytesOf(entry);
  let at = objects ? copyKey(out, prefixOf(kind), prefixBytesOf(kind)) : out;
  if (isIntegerKind(kind)) {
    at = copyKey(at, entry + E_KEY, bytes);
  } else if (load<u32>(entry + E_STATE) & ESCAPED) {
    at = writeText(at, entry + E_KEY, bytes);
  } else {
    store<u8>(at, 0x22);
    at = copyKey(at + 1, entry + E_KEY, bytes);
    store<u8>(at, 0x22);
    at++;
  }
  if (objects) {
    store<u8>(at, 0x7d);
    at++;
  }
  return at;
}
