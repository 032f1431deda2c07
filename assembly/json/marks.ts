// Writes members as marks, which the key dictionary replaces by keys (keys/translate.ts). A mark is
// a byte 0x01 and the number of a node (u32). Row text has no other bytes 0x01.

import { cell, get } from '../memory/cells';
import { S_MEMBERS, S_NODE_IDS, S_NODE_MIN, S_NODE_WIDTH, S_ORDINAL_WIDTH } from '../segment/layout';
import { memberOrdinal, nodeId } from '../segment/reader';

export const MARK: u32 = 1;
export const MARK_BYTES: usize = 5;

/** Writes one mark; returns the address after it. Nodes of named tables have numbers of 32 bits. */
export function writeMark(out: usize, number: i64): usize {
  store<u8>(out, MARK);
  store<u32>(out, <u32>number, 1);
  return out + MARK_BYTES;
}

/** Writes n members (i64) as marks, each followed by a comma. */
export function writeMarks(out: usize, members: usize, n: u32): usize {
  let at = out;
  for (let i: u32 = 0; i < n; i++) {
    at = writeMark(at, get<i64>(members, i));
    store<u8>(at, 0x2c);
    at++;
  }
  return at;
}

/**
 * Writes the n members of a segment's row as marks, each followed by a comma. `first` is the row's
 * first incidence. The usual widths, u16 ordinals and u32 ids, have a loop of their own.
 */
export function writeSegmentMarks(out: usize, s: usize, first: u32, n: u32): usize {
  const least = load<i64>(s + S_NODE_MIN);
  let at = out;
  if (load<u32>(s + S_ORDINAL_WIDTH) == 2 && load<u32>(s + S_NODE_WIDTH) == 4) {
    const ordinals = cell<u16>(load<u32>(s + S_MEMBERS), first);
    const ids = <usize>load<u32>(s + S_NODE_IDS);
    for (let i: u32 = 0; i < n; i++) {
      at = writeMark(at, least + <i64>get<u32>(ids, <usize>get<u16>(ordinals, i)));
      store<u8>(at, 0x2c);
      at++;
    }
    return at;
  }
  for (let i: u32 = 0; i < n; i++) {
    at = writeMark(at, nodeId(s, memberOrdinal(s, first + i)));
    store<u8>(at, 0x2c);
    at++;
  }
  return at;
}
