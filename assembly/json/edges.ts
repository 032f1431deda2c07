// Reads lines of JSON, one edge in each, and writes them as records.
//
// Only plain lines are read: those for which this short parser certainly finds the same edge as a
// complete one. A plain line is one object whose keys are `event_ts`, `members` and names from the
// key table, each at most once and without escapes. Integers have at most 15 digits; real numbers
// have at most 15 digits and no exponent, so that one division of exact numbers rounds correctly
// (Clinger, "How to read floating point numbers accurately", 1990); texts have no escapes and no
// control characters. Reading stops at the first line that is not plain, and the host reads that
// line itself. What is wrong with a line is therefore never reported from here.
//
// Lines of a named table have keys as members, texts or integers. Some lines are read before their
// keys are looked up, together, in the key dictionary of the instance: the number of a live node is
// the member, and a key without a live node is held if that is allowed, in the order of the lines.
// The holds of a line that is not written after all are taken back.

import { R_PROPERTIES, recordBound, sortMembers, writeRecord } from '../codec/record';
import { isKnownKind } from '../keys/kinds';
import {
  HG_MAX_MEMBERS,
  HG_MAX_TEXT_BYTES,
  HG_TYPE_BOOLEAN,
  HG_TYPE_INTEGER,
  HG_TYPE_REAL,
  HG_TYPE_TEXT,
} from '../limits';
import { element, get, put } from '../memory/cells';
import { BAD_ARGUMENT, failAt, setRows, tooSmall } from '../status';
import {
  beginKeys,
  endKeys,
  hashKeys,
  hasIntegerKeys,
  hasKeys,
  holdCount,
  MOST_HASHED,
  numberKeys,
  putKey,
  releaseAfter,
} from './edge-keys';
import { byteAt, decimals, digitsValue, MINUS, QUOTE, readNumber, skipSpaces, textEnd, wordEnd, ZERO } from './tokens';

/*
 * The key table, made by the host: u32 number of keys, then per key {u32 offset of its name from
 * the start of the table, u32 size of the name in bytes, u32 column id, u32 type}. The type is that
 * of the column, K_IGNORED for a key whose value is skipped, or K_END for the integer column of the
 * ends of intervals: a line whose end is before its event_ts is not plain.
 */
const K_NAME: usize = 0;
const K_NAME_BYTES: usize = 4;
const K_COLUMN: usize = 8;
const K_TYPE: usize = 12;
const K_BYTES: usize = 16;
const K_IGNORED: u32 = 255;
const K_END: u32 = 254;

/** Keys are mostly in the same order in every line; this many are compared before giving up. */
const MOST_COMPARED: u32 = 64;
/** Maximum number of properties of a plain line. */
const MOST_PROPERTIES: u32 = 64;

/*
 * A property: u32 column, u32 type, then the value (8 bytes), or the u32 address and u32 size in
 * bytes of a text.
 */
const P_COLUMN: usize = 0;
const P_TYPE: usize = 4;
const P_VALUE: usize = 8;
const P_TEXT_BYTES: usize = 12;
const P_BYTES: usize = 16;

/*
 * A line that was read, whose keys are not looked up yet: i64 event_ts, u32 address after its
 * newline, u32 number of members, u32 number of properties, u32 size of its property block.
 */
const L_TIME: usize = 0;
const L_NEXT: usize = 8;
const L_MEMBERS: usize = 12;
const L_PROPERTIES: usize = 16;
const L_PROPERTY_BYTES: usize = 20;
const L_BYTES: usize = 24;
/** Maximum number of lines whose keys are looked up together, and of their properties. */
const MOST_LINES: u32 = 32;
const LINES_PROPERTIES: u32 = 256;

const lines: usize = memory.data(32 * 24, 8);
/** The members and properties of these lines, one after another. */
const allMembers: usize = memory.data(512 * 8 + 16, 16);
const allProperties: usize = memory.data(256 * 16, 16);
/** Where the members and properties of the current line begin. */
let members: usize = allMembers;
let properties: usize = allProperties;
/** One bit for each key of the table that the line has had. */
const seen: usize = memory.data(128, 16);
const SEEN_BYTES: usize = 128;
const MOST_KEYS: u32 = 1024;
/** f64 powers of ten with exponents from 0 to 22, which are exact. */
const powers: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
]);

const COMMA: u32 = 0x2c;
const COLON: u32 = 0x3a;
const OPEN_LIST: u32 = 0x5b;
const CLOSE_LIST: u32 = 0x5d;
const OPEN: u32 = 0x7b;
const CLOSE: u32 = 0x7d;

/** The facts of the line that is read. */
let eventTime: i64 = 0;
let memberCount: u32 = 0;
let propertyCount: u32 = 0;
let propertyBytes: u32 = 0;
/** The end of the edge's interval; the greatest number if it has none. */
let endTime: i64 = i64.MAX_VALUE;
/** Reads the list of members; returns the address after it, or 0. */
function readMembers(from: usize): usize {
  if (byteAt(from) != OPEN_LIST) return 0;
  let at = from;
  let n: u32 = 0;
  do {
    if (n == HG_MAX_MEMBERS) return 0;
    at = readNumber(skipSpaces(at + 1));
    if (!at || decimals) return 0;
    put<i64>(members, n, digitsValue);
    n++;
    at = skipSpaces(at);
  } while (byteAt(at) == COMMA);
  if (byteAt(at) != CLOSE_LIST) return 0;
  memberCount = n;
  return at + 1;
}

/** Reads the list of keys (edge-keys.ts) to `members`; returns the address after it, or 0. */
function readKeys(from: usize): usize {
  if (byteAt(from) != OPEN_LIST) return 0;
  const isInteger = hasIntegerKeys();
  let at = from;
  let n: u32 = 0;
  do {
    if (n == HG_MAX_MEMBERS) return 0;
    const key = skipSpaces(at + 1);
    if (isInteger) {
      at = readNumber(key);
      if (!at || decimals) return 0;
      putKey(members, n, key, at);
    } else {
      at = byteAt(key) == QUOTE ? textEnd(key + 1) : 0;
      if (!at) return 0;
      putKey(members, n, key + 1, at);
      at++;
    }
    n++;
    at = skipSpaces(at);
  } while (byteAt(at) == COMMA);
  if (byteAt(at) != CLOSE_LIST) return 0;
  memberCount = n;
  return at + 1;
}

/** Adds the property at its place by column; returns false if the column has a value already. */
function addProperty(column: u32, type: u32, value: u64, bytes: u32): bool {
  if (propertyCount == MOST_PROPERTIES) return false;
  let i = propertyCount;
  while (i > 0 && load<u32>(element(properties, i - 1, P_BYTES)) >= column) {
    if (load<u32>(element(properties, i - 1, P_BYTES)) == column) return false;
    i--;
  }
  const place = element(properties, i, P_BYTES);
  if (i < propertyCount) memory.copy(place + P_BYTES, place, element(0, propertyCount - i, P_BYTES));
  store<u32>(place + P_COLUMN, column);
  store<u32>(place + P_TYPE, type);
  store<u64>(place + P_VALUE, value);
  propertyCount++;
  propertyBytes += bytes;
  return true;
}

/** Reads the value of a column; returns the address after it, or 0. */
function readValue(from: usize, column: u32, type: u32): usize {
  const first = byteAt(from);
  if (first == 0x6e) return wordEnd(from);
  if (type == HG_TYPE_TEXT) {
    if (first != QUOTE) return 0;
    const end = textEnd(from + 1);
    if (!end) return 0;
    const bytes = <u32>(end - from - 1);
    if (bytes > HG_MAX_TEXT_BYTES) return 0;
    return addProperty(column, type, ((<u64>bytes) << 32) | <u64>(from + 1), 8 + bytes) ? end + 1 : 0;
  }
  if (type == HG_TYPE_BOOLEAN) {
    const end = wordEnd(from);
    return end && addProperty(column, type, first == 0x74 ? 1 : 0, 5) ? end : 0;
  }
  const end = readNumber(from);
  if (!end) return 0;
  if (type == K_END) {
    endTime = digitsValue;
    return !decimals && addProperty(column, HG_TYPE_INTEGER, <u64>digitsValue, 12) ? end : 0;
  }
  if (type == HG_TYPE_INTEGER) return !decimals && addProperty(column, type, <u64>digitsValue, 12) ? end : 0;
  const real = <f64>digitsValue / get<f64>(powers, decimals);
  return addProperty(column, HG_TYPE_REAL, reinterpret<u64>(real), 12) ? end : 0;
}

/** Returns the address after a value that is skipped, or 0. */
function skipValue(from: usize): usize {
  const first = byteAt(from);
  if (first == QUOTE) {
    const end = textEnd(from + 1);
    return end ? end + 1 : 0;
  }
  return first == MINUS || first - ZERO < 10 ? readNumber(from) : wordEnd(from);
}

function isText(at: usize, other: usize, bytes: u32): bool {
  for (let i: u32 = 0; i < bytes; i++) if (byteAt(at + i) != byteAt(other + i)) return false;
  return true;
}

/**
 * Returns the number of the key with this name, or the number of keys. The search begins at
 * `expected`, the key after the one that was found last.
 */
function findKey(keys: usize, expected: u32, name: usize, bytes: u32): u32 {
  const count = load<u32>(keys);
  const most = min(count, MOST_COMPARED);
  for (let i: u32 = 0, key = expected; i < most; i++, key++) {
    if (key >= count) key = 0;
    const entry = element(keys + 4, key, K_BYTES);
    if (load<u32>(entry + K_NAME_BYTES) == bytes && isText(keys + load<u32>(entry + K_NAME), name, bytes)) return key;
  }
  return count;
}

/** Marks the key; returns whether the line has had it before, perhaps with null. */
function wasSeen(key: u32): bool {
  const byte = seen + (key >> 3);
  const bit = 1 << (key & 7);
  const bits = byteAt(byte);
  store<u8>(byte, bits | bit);
  return (bits & bit) != 0;
}

/** True for `event_ts`. */
function isTimeKey(name: usize, bytes: u32): bool {
  return bytes == 8 && load<u64>(name) == 0x73745f746e657665;
}

/** True for `members`. */
function isMembersKey(name: usize, bytes: u32): bool {
  return bytes == 7 && load<u32>(name) == 0x626d656d && load<u32>(name + 3) == 0x73726562;
}

/** Reads a plain line; returns the address of its newline, or 0 if the line is not plain. */
function readLine(from: usize, keys: usize): usize {
  const count = load<u32>(keys);
  let at = skipSpaces(from);
  if (byteAt(at) != OPEN) return 0;
  let hasTime = false;
  memberCount = 0;
  propertyCount = 0;
  propertyBytes = 2;
  endTime = i64.MAX_VALUE;
  let expected: u32 = 0;
  memory.fill(seen, 0, SEEN_BYTES);
  do {
    at = skipSpaces(at + 1);
    if (byteAt(at) != QUOTE) return 0;
    const name = at + 1;
    at = textEnd(name);
    if (!at) return 0;
    const bytes = <u32>(at - name);
    at = skipSpaces(at + 1);
    if (byteAt(at) != COLON) return 0;
    at = skipSpaces(at + 1);
    if (isTimeKey(name, bytes)) {
      if (hasTime) return 0;
      hasTime = true;
      at = readNumber(at);
      if (!at || decimals) return 0;
      eventTime = digitsValue;
    } else if (isMembersKey(name, bytes)) {
      if (memberCount) return 0;
      at = hasKeys() ? readKeys(at) : readMembers(at);
      if (!at) return 0;
    } else {
      const key = findKey(keys, expected, name, bytes);
      if (key == count) return 0;
      expected = key + 1;
      const entry = element(keys + 4, key, K_BYTES);
      const type = load<u32>(entry + K_TYPE);
      if (key >= MOST_KEYS || wasSeen(key)) return 0;
      at = type == K_IGNORED ? skipValue(at) : readValue(at, load<u32>(entry + K_COLUMN), type);
      if (!at) return 0;
    }
    at = skipSpaces(at);
  } while (byteAt(at) == COMMA);
  if (byteAt(at) != CLOSE || !hasTime || !memberCount || endTime < eventTime) return 0;
  at = skipSpaces(at + 1);
  if (byteAt(at) == 0x0d) at++;
  return byteAt(at) == 0x0a ? at : 0;
}

/** Writes the property block of the line; returns the address after it. */
function writeProperties(block: usize): usize {
  store<u16>(block, <u16>propertyCount);
  let at = block + 2;
  for (let i: u32 = 0; i < propertyCount; i++) {
    const property = element(properties, i, P_BYTES);
    const type = load<u32>(property + P_TYPE);
    store<u32>(at, load<u32>(property + P_COLUMN) | (type << 16));
    at += 4;
    if (type == HG_TYPE_TEXT) {
      const bytes = load<u32>(property + P_TEXT_BYTES);
      store<u32>(at, bytes);
      memory.copy(at + 4, <usize>load<u32>(property + P_VALUE), bytes);
      at += 4 + bytes;
    } else if (type == HG_TYPE_BOOLEAN) {
      store<u8>(at, load<u8>(property + P_VALUE));
      at++;
    } else {
      store<u64>(at, load<u64>(property + P_VALUE));
      at += 8;
    }
  }
  return at;
}

/**
 * Writes the record of the line that was read; returns its size, 0 if the line has more than
 * `limit` distinct members, or TOO_SMALL (`hg_result_needed`).
 */
function writeLine(limit: u32, out: usize, capacity: u32): i32 {
  const n = sortMembers(members, memberCount);
  if (n > limit) return 0;
  const room = recordBound(n, propertyBytes);
  if (room > capacity) return tooSmall(room);
  let size = writeRecord(out, eventTime, 0, members, n, 0, 0, 0);
  if (propertyCount) {
    store<u16>(out + R_PROPERTIES, <u16>size);
    size = <u32>(writeProperties(out + size) - out);
    store<u32>(out, size);
  }
  if (!ASC_NO_ASSERT) assert(size + 8 <= room, 'a record is within its bound');
  return <i32>size;
}

/**
 * Reads plain lines and writes them as consecutive records with id 0. `text` is `bytes` bytes of
 * valid UTF-8 that end with a newline, and 16 more bytes are readable. `limit`: maximum number of
 * distinct members per edge. Returns the number of bytes written; `hg_result_rows` returns the
 * number of lines read, and `hg_result_offset` where the first line begins that was not read (or
 * `bytes`). Returns TOO_SMALL if not even the first line fits (`hg_result_needed`), or BAD_ARGUMENT
 * if the text does not end with a newline.
 */
export function parseEdges(text: usize, bytes: u32, keys: usize, limit: u32, out: usize, capacity: u32): i32 {
  if (!bytes || byteAt(text + bytes - 1) != 0x0a) return BAD_ARGUMENT;
  const end = text + bytes;
  members = allMembers;
  properties = allProperties;
  let at = text;
  let written: u32 = 0;
  let rows: u32 = 0;
  while (at < end) {
    const newline = readLine(at, keys);
    if (!newline) break;
    const size = writeLine(limit, out + written, capacity - written);
    if (size <= 0) {
      if (size < 0 && !rows) return size;
      break;
    }
    written += <u32>size;
    rows++;
    at = newline + 1;
  }
  setRows(rows);
  failAt(0, <u32>(at - text));
  return <i32>written;
}

/** Reads lines as far as there is space for them; returns how many. */
function readLines(from: usize, end: usize, keys: usize): u32 {
  let at = from;
  let count: u32 = 0;
  members = allMembers;
  properties = allProperties;
  const lastMembers = element(allMembers, MOST_HASHED - HG_MAX_MEMBERS, 8);
  const lastProperties = element(allProperties, LINES_PROPERTIES - MOST_PROPERTIES, P_BYTES);
  while (at < end && count < MOST_LINES && members <= lastMembers && properties <= lastProperties) {
    const newline = readLine(at, keys);
    if (!newline) break;
    at = newline + 1;
    const line = element(lines, count, L_BYTES);
    store<i64>(line + L_TIME, eventTime);
    store<u32>(line + L_NEXT, <u32>at);
    store<u32>(line + L_MEMBERS, memberCount);
    store<u32>(line + L_PROPERTIES, propertyCount);
    store<u32>(line + L_PROPERTY_BYTES, propertyBytes);
    members = element(members, memberCount, 8);
    properties = element(properties, propertyCount, P_BYTES);
    count++;
  }
  return count;
}

/** Same as `parseEdges`, for lines whose members are keys. */
function parseKeyedEdges(text: usize, bytes: u32, keys: usize, limit: u32, out: usize, capacity: u32): i32 {
  if (!bytes || byteAt(text + bytes - 1) != 0x0a) return BAD_ARGUMENT;
  const end = text + bytes;
  let at = text;
  let written: u32 = 0;
  let rows: u32 = 0;
  let isStopped = false;
  while (at < end && !isStopped) {
    const count = readLines(at, end, keys);
    hashKeys(allMembers, <u32>((members - allMembers) >> 3));
    members = allMembers;
    properties = allProperties;
    isStopped = !count;
    for (let i: u32 = 0; i < count; i++) {
      const line = element(lines, i, L_BYTES);
      eventTime = load<i64>(line + L_TIME);
      memberCount = load<u32>(line + L_MEMBERS);
      propertyCount = load<u32>(line + L_PROPERTIES);
      propertyBytes = load<u32>(line + L_PROPERTY_BYTES);
      const held = holdCount();
      const isNumbered = numberKeys(allMembers, <u32>((members - allMembers) >> 3), memberCount);
      const size = isNumbered ? writeLine(limit, out + written, capacity - written) : 0;
      if (size <= 0) {
        releaseAfter(held);
        if (size < 0 && !rows) return size;
        isStopped = true;
        break;
      }
      written += <u32>size;
      rows++;
      at = <usize>load<u32>(line + L_NEXT);
      members = element(members, memberCount, 8);
      properties = element(properties, propertyCount, P_BYTES);
    }
  }
  setRows(rows);
  failAt(0, <u32>(at - text));
  return <i32>written;
}

/**
 * Same as `parseEdges`, for lines whose members are keys of `kind`. If `create` is false, a line
 * with a key that has no live node is not read. `held` has space for a u32 per two bytes of text,
 * and one more: the number of holds that were taken is written there, then the number of each.
 */
export function parseNamedEdges(
  text: usize,
  bytes: u32,
  keys: usize,
  limit: u32,
  kind: u32,
  create: bool,
  held: usize,
  out: usize,
  capacity: u32,
): i32 {
  if (!isKnownKind(kind)) return BAD_ARGUMENT;
  beginKeys(kind, create, held);
  const written = parseKeyedEdges(text, bytes, keys, limit, out, capacity);
  endKeys();
  return written;
}
