// Replaces the marks of row text by keys. A mark is a byte 0x01 and a number (u32): the text of
// rows is written with marks (json/marks.ts) by instances that do not know the keys.

import { MARK, MARK_BYTES } from '../json/marks';
import { textNeed, writeText } from '../json/text';
import { failAt, tooSmall } from '../status';
import { MAX_KEY_BYTES } from './dictionary';
import { E_KEY, E_STATE, entryOf, keyBytesOf, kindOf, QUOTED } from './entry';
import { isIntegerKind, longestPrefix, prefixBytesOf, prefixOf } from './kinds';

/** How far a wide store may go beyond what is written. */
const OVERSHOOT: u32 = 16;
const COMMA: u32 = 0x2c;
const COMMA_AND_MARK: u32 = COMMA | (MARK << 8);
const ONES: u64 = 0x0101010101010101;

/** Forms of keys: as JSON; as an object with the kind; as a JSON text; as the text `kind:key`. */
const OBJECTS: u32 = 1;
const TEXTS: u32 = 2;
const KIND_TEXTS: u32 = 3;
/** Sizes of the parts of a prefix around the name of the kind: `{"kind":` and `","key":`. */
const BEFORE_NAME: u32 = 8;
const AFTER_NAME: u32 = 8;

/**
 * Copies `bytes` bytes of text and writes the key of each mark in a form (above); a number without
 * an entry is written as null, or as the text "null". 16 more bytes of text are readable. Returns
 * the number of bytes written; `hg_result_offset` returns the number of bytes read, fewer if
 * `capacity` is exhausted or the text ends inside of a mark. Returns TOO_SMALL if the capacity is
 * not enough for one key.
 */
export function translateMarks(text: usize, bytes: u32, form: u32, out: usize, capacity: u32): i32 {
  const room = longestPrefix() + textNeed(MAX_KEY_BYTES) + 2 * OVERSHOOT;
  if (capacity < room) return tooSmall(room);
  const end = text + bytes;
  const quoted: u32 = form == OBJECTS || form == KIND_TEXTS ? 0 : QUOTED;
  const last = out + capacity - room;
  let at = text;
  let to = out;
  while (at < end && to <= last) {
    const found = copyWide(to, at);
    if (!found && end - at >= WIDTH) {
      at += WIDTH;
      to += WIDTH;
      continue;
    }
    const before = found ? placeOf(found) : WIDTH;
    const left = end - at;
    if (before >= left) {
      at += left;
      to += left;
      break;
    }
    at += before;
    to += before;
    if (end - at < MARK_BYTES) break;
    // The marks of a list follow each other, with a comma between two.
    while (true) {
      const entry = entryOf(load<u32>(at + 1));
      at += MARK_BYTES;
      to = entry && load<u32>(entry + E_STATE) & quoted ? writeQuoted(to, entry) : writeKey(to, entry, form);
      if (end - at <= MARK_BYTES || to > last || <u32>load<u16>(at) != COMMA_AND_MARK) break;
      store<u8>(to++, COMMA);
      at++;
    }
  }
  if (!ASC_NO_ASSERT) assert(to <= out + capacity, 'text with keys is within its capacity');
  failAt(0, <u32>(at - text));
  return <i32>(to - out);
}

/** How many bytes `copyWide` copies. */
const WIDTH: usize = ASC_FEATURE_SIMD ? 16 : 8;

/** Copies WIDTH bytes; returns 0 if there is no mark in them, or a word for `placeOf`. */
function copyWide(out: usize, from: usize): u64 {
  if (ASC_FEATURE_SIMD) {
    const bytes = v128.load(from);
    v128.store(out, bytes);
    return <u64>i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(<i8>MARK)));
  }
  const word = load<u64>(from);
  store<u64>(out, word);
  // Of the bits found, only the lowest is reliable.
  const other = word ^ (ONES * <u64>MARK);
  return (other - ONES) & ~other & (ONES << 7);
}

/** Returns how many bytes come before the first mark. */
function placeOf(found: u64): usize {
  return <usize>(ASC_FEATURE_SIMD ? ctz(found) : ctz(found) >> 3);
}

/** Copies at least n bytes of a key or prefix, and up to OVERSHOOT - 1 more. */
function copyKey(out: usize, from: usize, n: u32): usize {
  for (let i: u32 = 0; i < n; i += ASC_FEATURE_SIMD ? 16 : 8) {
    if (ASC_FEATURE_SIMD) v128.store(out + i, v128.load(from + i));
    else store<u64>(out + i, load<u64>(from + i));
  }
  return out + n;
}

function writeQuoted(out: usize, entry: usize): usize {
  store<u8>(out, 0x22);
  const end = copyKey(out + 1, entry + E_KEY, keyBytesOf(entry));
  store<u8>(end, 0x22);
  return end + 1;
}

/** Writes the key of an entry; null or "null" if it is 0. */
function writeKey(out: usize, entry: usize, form: u32): usize {
  if (!entry) {
    const isText = form >= TEXTS;
    store<u64>(out, isText ? 0x226c6c756e22 : 0x6c6c756e); // "null" or null
    return out + (isText ? 6 : 4);
  }
  const kind = kindOf(entry);
  if (form == KIND_TEXTS) {
    const name = prefixBytesOf(kind) - BEFORE_NAME - AFTER_NAME;
    const colon = copyKey(out, prefixOf(kind) + BEFORE_NAME, name);
    const end = writeJson(colon, entry, kind, true);
    store<u8>(colon, 0x3a); // in place of the quotation mark
    return end;
  }
  if (form != OBJECTS) return writeJson(out, entry, kind, form == TEXTS);
  const at = copyKey(out, prefixOf(kind), prefixBytesOf(kind));
  const end = writeJson(at, entry, kind, false);
  store<u8>(end, 0x7d);
  return end + 1;
}

/** Writes a key as JSON; an integer as a text if `asText` is true. */
function writeJson(out: usize, entry: usize, kind: u32, asText: bool): usize {
  if (load<u32>(entry + E_STATE) & QUOTED) return writeQuoted(out, entry);
  if (!isIntegerKind(kind)) return writeText(out, entry + E_KEY, keyBytesOf(entry));
  return asText ? writeQuoted(out, entry) : copyKey(out, entry + E_KEY, keyBytesOf(entry));
}
