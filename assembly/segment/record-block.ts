// Writes column blocks of records, which are the rows of a memtable.

import { findProperty, R_COUNT, R_ID, R_MEMBERS, R_PROPERTIES, R_TIME, recordMasks } from '../codec/record';
import { decodeMembers } from '../codec/vbyte';
import { HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_TEXT } from '../limits';
import { bytesOf, cell, element, get, put } from '../memory/cells';
import { setRows, tooSmall } from '../status';
import {
  B_HEADER,
  COLUMN_HEADER,
  fixedBytes,
  MISSING_NUMBER,
  MISSING_TEXT,
  P_BYTES,
  P_COLUMN,
  P_HEADER,
  P_KIND,
  P_NUMBER,
  P_TEXT,
  P_TEXT_BYTES,
  P_TYPE,
  PART_IDS,
  PART_MASKS,
  PART_MEMBERS,
  PART_SIZES,
  PART_TIMES,
  padded,
  padEnd,
  rowBytes,
  writeHeader,
} from './column-plan';

const scratch: usize = memory.data(255 * 8 + 16, 16);

/** Same as `segmentColumns`, for the records at the addresses `records` (u32[n]). */
export function recordColumns(records: usize, n: u32, plan: usize, out: usize, capacity: u32): i32 {
  const columns = load<u32>(plan);
  let used = fixedBytes(columns);
  let count: u32 = 0;
  for (; count < n; count++) {
    const record = <usize>get<u32>(records, count);
    // Every row may have a different text. The size of its property block is an upper bound on the
    // size of its texts.
    const block = <u32>load<u16>(record + R_PROPERTIES);
    const texts = block ? load<u32>(record) - block : 0;
    used += rowBytes(plan, <u32>load<u8>(record + R_COUNT)) + <usize>texts + bytesOf<u32>(columns);
    if (used > <usize>capacity) break;
  }
  setRows(0);
  if (!count) return n ? tooSmall(<u32>used) : 0;
  const parts = load<u32>(plan + 4);
  let at = recordKeys(records, count, parts, out + B_HEADER);
  let incidences: u32 = 0;
  if (parts & PART_SIZES) {
    for (let i: u32 = 0; i < count; i++) {
      const record = <usize>get<u32>(records, i);
      put<u32>(at, i, <u32>load<u8>(record + R_COUNT));
    }
    at = padEnd(cell<u32>(at, count));
  }
  if (parts & PART_MEMBERS) {
    const end = recordMembersOf(records, count, at);
    incidences = <u32>((end - at) >> 3);
    at = end;
  }
  if (parts & PART_MASKS) at = recordMasksOf(records, count, at);
  for (let c: u32 = 0; c < columns; c++) {
    const column = element(plan + P_HEADER, c, P_BYTES);
    at =
      load<u32>(column + P_TYPE) == HG_TYPE_TEXT
        ? recordTexts(plan, column, records, count, at)
        : recordNumbers(column, records, count, at);
  }
  return writeHeader(out, count, incidences, at);
}

function recordKeys(records: usize, n: u32, parts: u32, out: usize): usize {
  let at = out;
  if (parts & PART_TIMES) {
    for (let i: u32 = 0; i < n; i++) {
      const record = <usize>get<u32>(records, i);
      put<f64>(at, i, <f64>load<i64>(record + R_TIME));
    }
    at += bytesOf<u64>(n);
  }
  if (parts & PART_IDS) {
    for (let i: u32 = 0; i < n; i++) {
      const record = <usize>get<u32>(records, i);
      put<f64>(at, i, <f64>load<i64>(record + R_ID));
    }
    at += bytesOf<u64>(n);
  }
  return at;
}

function recordMembersOf(records: usize, n: u32, out: usize): usize {
  let at = out;
  for (let i: u32 = 0; i < n; i++) {
    const record = <usize>get<u32>(records, i);
    const size = <u32>load<u8>(record + R_COUNT);
    decodeMembers(record + R_MEMBERS, size, scratch);
    for (let m: u32 = 0; m < size; m++) {
      store<f64>(at, <f64>get<i64>(scratch, m));
      at += 8;
    }
  }
  return at;
}

function recordMasksOf(records: usize, n: u32, out: usize): usize {
  let at = out;
  for (let i: u32 = 0; i < n; i++) {
    const record = <usize>get<u32>(records, i);
    const bytes = bytesOf<u16>(load<u8>(record + R_COUNT));
    const masks = recordMasks(record);
    if (masks) memory.copy(at, masks, bytes);
    else memory.fill(at, 0, bytes);
    at += bytes;
  }
  return padEnd(at);
}

function recordNumbers(column: usize, records: usize, n: u32, out: usize): usize {
  store<f64>(out, 0);
  store<f64>(out + 8, 0);
  const nulls = out + COLUMN_HEADER;
  const values = padded(nulls + <usize>n);
  store<u64>(values - 8, 0);
  const id = load<u32>(column + P_COLUMN);
  const kind = load<u32>(column + P_KIND);
  for (let i: u32 = 0; i < n; i++) {
    const record = <usize>get<u32>(records, i);
    const entry = findProperty(record, id);
    let isNull = kind == 0;
    let value: f64 = kind == MISSING_NUMBER ? load<f64>(column + P_NUMBER) : 0;
    if (entry) {
      const type = <u32>load<u8>(entry + 2);
      isNull = type == 0;
      if (type == HG_TYPE_INTEGER) value = <f64>load<i64>(entry + 4);
      else if (type == HG_TYPE_BOOLEAN) value = <f64>load<u8>(entry + 4);
      else value = isNull ? 0 : load<f64>(entry + 4);
    }
    store<u8>(nulls + <usize>i, <u8>isNull);
    put<f64>(values, i, value);
  }
  return cell<u64>(values, n);
}

/**
 * Writes the texts of records: one for each row that has a text, in order, without deduplication.
 */
function recordTexts(plan: usize, column: usize, records: usize, n: u32, out: usize): usize {
  const nulls = out + COLUMN_HEADER;
  const codes = padded(nulls + <usize>n);
  store<u64>(codes - 8, 0);
  const id = load<u32>(column + P_COLUMN);
  const kind = load<u32>(column + P_KIND);
  let distinct: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const entry = findProperty(get<u32>(records, i), id);
    const isNull = entry ? load<u8>(entry + 2) == 0 : kind != MISSING_TEXT;
    store<u8>(nulls + <usize>i, <u8>isNull);
    put<u32>(codes, i, isNull ? 0 : distinct);
    if (!isNull) distinct++;
  }
  const ends = padEnd(cell<u32>(codes, n));
  const texts = padEnd(cell<u32>(ends, distinct));
  let at = texts;
  let place: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    if (load<u8>(nulls + <usize>i)) continue;
    const entry = findProperty(get<u32>(records, i), id);
    const bytes = entry ? load<u32>(entry + 4) : load<u32>(column + P_TEXT_BYTES);
    memory.copy(at, entry ? entry + 8 : plan + load<u32>(column + P_TEXT), bytes);
    at += bytes;
    put<u32>(ends, place, <u32>(at - texts));
    place++;
  }
  if (!ASC_NO_ASSERT) assert(place == distinct, 'every text that was counted is copied');
  store<f64>(out, <f64>distinct);
  store<f64>(out + 8, <f64>(at - texts));
  return padEnd(at);
}
