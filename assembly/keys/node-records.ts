// Records of nodes: a node table stores each node as an edge whose time, id and only member are its
// number, and whose key is a property.

import { findProperty, R_ID, recordBound, writeRecord } from '../codec/record';
import { writeInt } from '../json/number';
import { HG_TYPE_INTEGER, HG_TYPE_TEXT } from '../limits';
import { get } from '../memory/cells';
import { BAD_ARGUMENT, failAt, setRows, tooSmall } from '../status';
import { addNode, MAX_KEY_BYTES } from './dictionary';
import { E_KEY, entryOf, keyBytesOf, kindOf } from './entry';
import { isIntegerKind } from './kinds';

/** u16 count, then u16 column, u8 type, u8 0. */
const BLOCK_HEAD: u32 = 6;
const digits: usize = memory.data(32, 8);
const member: usize = memory.data(8, 8);
const block: usize = memory.data(6 + 4 + 512, 8);

/**
 * Adds the nodes of `count` checked records, whose keys are in the property `column`. Returns 0, or
 * what `addNode` returns for the record whose index `hg_result_offset` returns; the records before
 * it are added then.
 */
export function addRecords(kind: u32, records: usize, count: u32, column: u32): i32 {
  let record = records;
  for (let i: u32 = 0; i < count; i++) {
    const status = addRecord(kind, record, column);
    if (status < 0) return failAt(status, i);
    record += load<u32>(record);
  }
  return 0;
}

function addRecord(kind: u32, record: usize, column: u32): i32 {
  const number = load<u64>(record + R_ID);
  const property = findProperty(record, column);
  if (!property || number > 0xffffffff) return BAD_ARGUMENT;
  const type = <u32>load<u8>(property + 2);
  if (type == HG_TYPE_TEXT) return addNode(kind, property + 8, load<u32>(property + 4), <u32>number);
  if (type != HG_TYPE_INTEGER) return BAD_ARGUMENT;
  return addNode(kind, digits, <u32>(writeInt(digits, load<i64>(property + 4)) - digits), <u32>number);
}

/**
 * Writes the records of numbers (u32[n]) that all have this kind. Returns the number of bytes
 * written; `hg_result_rows` returns how many records fitted. Returns TOO_SMALL if the first does
 * not fit, or BAD_ARGUMENT at the index of a number that has no entry of this kind.
 */
export function writeNodeRecords(numbers: usize, n: u32, kind: u32, column: u32, out: usize, capacity: u32): i32 {
  const room = recordBound(1, BLOCK_HEAD + 4 + MAX_KEY_BYTES);
  if (n && capacity < room) return tooSmall(room);
  let at = out;
  let done: u32 = 0;
  for (; done < n && at + room <= out + capacity; done++) {
    const number = get<u32>(numbers, done);
    const entry = entryOf(number);
    if (!entry || kindOf(entry) != kind) return failAt(BAD_ARGUMENT, done);
    store<i64>(member, <i64>number);
    const bytes = writeKeyBlock(entry, kind, column);
    at += writeRecord(at, <i64>number, <i64>number, member, 1, 0, block, bytes);
  }
  setRows(done);
  return <i32>(at - out);
}

/** Writes the property block with the entry's key at `block`; returns its size in bytes. */
function writeKeyBlock(entry: usize, kind: u32, column: u32): u32 {
  const bytes = keyBytesOf(entry);
  const isInteger = isIntegerKind(kind);
  store<u16>(block, 1);
  store<u32>(block + 2, column | ((isInteger ? HG_TYPE_INTEGER : HG_TYPE_TEXT) << 16));
  if (isInteger) {
    store<i64>(block + BLOCK_HEAD, integerOf(entry + E_KEY, bytes));
    return BLOCK_HEAD + 8;
  }
  store<u32>(block + BLOCK_HEAD, bytes);
  memory.copy(block + BLOCK_HEAD + 4, entry + E_KEY, bytes);
  return BLOCK_HEAD + 4 + bytes;
}

/** Returns the integer of a decimal text. */
function integerOf(text: usize, bytes: u32): i64 {
  const negative = load<u8>(text) == 0x2d;
  let value: i64 = 0;
  for (let i: u32 = negative ? 1 : 0; i < bytes; i++) value = value * 10 + <i64>(load<u8>(text + i) - 0x30);
  return negative ? -value : value;
}
