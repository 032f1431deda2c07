// The role masks of a segment (FORMAT.md, section 10): writes them when a file is built, and keeps
// the rows in which a node has a role.

import { R_COUNT, recordMasks } from '../codec/record';
import { findNode } from '../fmi/lookup';
import { bytesOf, cell, get } from '../memory/cells';
import { K_ROLES, S_ROLES, sectionOf } from './layout';
import { firstIncidence, memberOrdinal, rowSize } from './reader';

/** Returns whether one of the records (addresses u32[rows]) has role masks. */
export function haveRoles(records: usize, rows: u32): bool {
  for (let row: u32 = 0; row < rows; row++) if (recordMasks(get<u32>(records, row))) return true;
  return false;
}

/** Fills the section of the masks, if the file has one; its bytes are 0 before. */
export function fillRoles(file: usize, records: usize, rows: u32): void {
  let at = sectionOf(file, K_ROLES);
  if (!at) return;
  for (let row: u32 = 0; row < rows; row++) {
    const record = <usize>get<u32>(records, row);
    const bytes = bytesOf<u16>(load<u8>(record + R_COUNT));
    const masks = recordMasks(record);
    if (masks) memory.copy(at, masks, bytes);
    at += bytes;
  }
}

/**
 * Returns the address of the role masks of a row, whose first incidence is given (u16 per member),
 * or 0 if the segment has none.
 */
export function rowMasks(s: usize, first: u32): usize {
  const roles = <usize>load<u32>(s + S_ROLES);
  return roles ? cell<u16>(roles, first) : 0;
}

/**
 * Removes, in place, the rows of a list (u32[n]) in which `node` has none of the roles of `mask`;
 * returns how many rows remain. Cost: a search among the members of each row.
 */
export function keepRole(s: usize, rows: usize, n: u32, node: i64, mask: u32): u32 {
  const roles = <usize>load<u32>(s + S_ROLES);
  const found = roles ? findNode(s, node) : -1;
  if (found < 0) return 0;
  const ordinal = <u32>found;
  const end = cell<u32>(rows, n);
  let at = rows;
  for (let from = rows; from < end; from += 4) {
    const row = load<u32>(from);
    store<u32>(at, row);
    let low = firstIncidence(s, row);
    let length = rowSize(s, row);
    while (length > 1) {
      const half = length >> 1;
      low += select<u32>(half, 0, memberOrdinal(s, low + half) <= ordinal);
      length -= half;
    }
    at += bytesOf<u32>(u32(memberOrdinal(s, low) == ordinal && (<u32>get<u16>(roles, low) & mask) != 0));
  }
  return <u32>((at - rows) >> 2);
}
