// Plans and lays out the sections of a new segment file: first the sizes, then one region for the
// file, then the directory and the checksums.

import { crc32c } from '../codec/crc32c';
import { alloc } from '../memory/alloc';
import { element } from '../memory/cells';
import {
  E_BYTES,
  E_COLUMN,
  E_COUNT,
  E_CRC,
  E_FLAGS,
  E_KIND,
  E_OFFSET,
  E_TYPE,
  E_WIDTH,
  ENTRY_BYTES,
  H_BYTES,
  H_CRC,
  HEADER_BYTES,
} from './layout';

/**
 * Maximum number of sections of a file: nine fixed sections, role masks, plus a column and an order
 * (PSI) for each of 4,000 columns, plus the tree of one column's ends, plus the text block.
 */
export const MAX_SECTIONS: u32 = 8012;

/**
 * Adds an entry to the section plan at `plan` ({u32 count, u32 unused, entries}); returns the
 * address of the entry.
 */
export function planSection(
  plan: usize,
  kind: u32,
  column: u32,
  type: u32,
  width: u32,
  flags: u32,
  bytes: u32,
  count: u32,
): usize {
  const n = load<u32>(plan);
  if (!ASC_NO_ASSERT) assert(n < MAX_SECTIONS, 'a file has no more sections than its plan has room for');
  const entry = element(plan + 8, n, ENTRY_BYTES);
  store<u16>(entry + E_KIND, <u16>kind);
  store<u16>(entry + E_COLUMN, <u16>column);
  store<u8>(entry + E_TYPE, <u8>type);
  store<u8>(entry + E_WIDTH, <u8>width);
  store<u16>(entry + E_FLAGS, <u16>flags);
  store<u32>(entry + E_BYTES, bytes);
  store<u32>(entry + E_CRC, 0);
  store<u32>(entry + E_COUNT, count);
  store<u32>(plan, n + 1);
  return entry;
}

/**
 * Gives every planned section its offset; returns the size of the file in bytes, or 0 if it would
 * reach 2 GiB.
 */
export function layOut(plan: usize): u32 {
  const n = load<u32>(plan);
  let at: u64 = <u64>HEADER_BYTES + <u64>n * <u64>ENTRY_BYTES;
  for (let i: u32 = 0; i < n; i++) {
    at = (at + 7) & ~7;
    const entry = element(plan + 8, i, ENTRY_BYTES);
    store<u32>(entry + E_OFFSET, <u32>at);
    at += <u64>load<u32>(entry + E_BYTES);
    if (at > 0x7fffffff) return 0;
  }
  return <u32>((at + 7) & ~7);
}

/**
 * Allocates a zeroed region for the file and copies the directory into it; returns 0 if out of
 * memory.
 */
export function allocateFile(plan: usize, bytes: u32): usize {
  const file = alloc(bytes);
  if (!file) return 0;
  memory.fill(file, 0, bytes);
  memory.copy(file + HEADER_BYTES, plan + 8, <usize>load<u32>(plan) * ENTRY_BYTES);
  return file;
}

/** Computes the checksums of all sections, then the checksum of the header and the directory. */
export function seal(file: usize, sections: u32): void {
  for (let i: u32 = 0; i < sections; i++) {
    const entry = element(file + HEADER_BYTES, i, ENTRY_BYTES);
    if (!ASC_NO_ASSERT) assert(!(load<u32>(entry + E_OFFSET) & 7), 'a section is aligned to 8 bytes');
    if (!ASC_NO_ASSERT)
      assert(
        !i ||
          load<u32>(entry + E_OFFSET) >=
            load<u32>(entry - ENTRY_BYTES + E_OFFSET) + load<u32>(entry - ENTRY_BYTES + E_BYTES),
        'the offsets of the directory ascend',
      );
    if (!ASC_NO_ASSERT)
      assert(
        load<u32>(entry + E_OFFSET) + load<u32>(entry + E_BYTES) <= load<u32>(file + H_BYTES),
        'a section ends in its file',
      );
    store<u32>(entry + E_CRC, crc32c(file + load<u32>(entry + E_OFFSET), load<u32>(entry + E_BYTES), 0));
  }
  store<u32>(file + H_CRC, headerChecksum(file, sections));
}

export function headerChecksum(file: usize, sections: u32): u32 {
  const head = crc32c(file, <u32>H_CRC, 0);
  return crc32c(file + H_CRC + 4, <u32>HEADER_BYTES - <u32>H_CRC - 4 + sections * <u32>ENTRY_BYTES, head);
}
