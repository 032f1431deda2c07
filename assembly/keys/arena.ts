// The memory of dictionary entries. Entries are cut from the end of large blocks and never move. A
// freed entry goes to the free list of its size and is used again for an entry of the same size.

import { alloc, free } from '../memory/alloc';
import { cell } from '../memory/cells';

/** Maximum size in bytes of an entry, a multiple of 4. */
export const MAX_ENTRY_BYTES: u32 = 16 + 512;
/** A block has this size less what the allocator adds, so that no size class rounds it up. */
const FIRST_BLOCK_BYTES: u32 = 64 * 1024;
const MOST_BLOCK_BYTES: u32 = 1024 * 1024;
const BLOCK_OVERHEAD: u32 = 32;
/** u32 address of the first free entry of each size / 4; each links to the next one. */
const FREE: usize = memory.data(133 * 4, 4);

/** Where the next entry goes, and the end of the block. */
let top: usize = 0;
let end: usize = 0;
/** The block to use after this one, if one was reserved, and its size. */
let spare: usize = 0;
let spareBytes: u32 = 0;
let blockBytes: u32 = FIRST_BLOCK_BYTES;

/** Forgets all entries, after the allocator has forgotten all regions. */
export function forgetEntries(): void {
  top = end = spare = 0;
  spareBytes = 0;
  blockBytes = FIRST_BLOCK_BYTES;
  memory.fill(FREE, 0, 133 * 4);
}

/** Returns the address of `bytes` bytes (a multiple of 4), or 0 if there is not enough memory. */
export function takeEntry(bytes: u32): usize {
  if (!ASC_NO_ASSERT) assert(!(bytes & 3) && bytes <= MAX_ENTRY_BYTES, 'the size of an entry is padded and bounded');
  const head = cell<u32>(FREE, bytes >> 2);
  const entry = <usize>load<u32>(head);
  if (entry) {
    store<u32>(head, load<u32>(entry));
    return entry;
  }
  if (bytes > end - top && !nextBlock()) return 0;
  const taken = top;
  top += bytes;
  if (!ASC_NO_ASSERT) assert(top <= end, 'an entry is inside of its block');
  return taken;
}

/** Makes the memory of an entry available to another entry of the same size. */
export function giveEntry(entry: usize, bytes: u32): void {
  const head = cell<u32>(FREE, bytes >> 2);
  store<u32>(entry, load<u32>(head));
  store<u32>(head, <u32>entry);
}

function nextBlock(): bool {
  if (!spare && !newSpare(MAX_ENTRY_BYTES)) return false;
  const left = <u32>(end - top);
  if (left >= 4) giveEntry(top, left);
  top = spare;
  end = spare + spareBytes;
  spare = 0;
  return true;
}

/** Replaces the spare block by one of at least `bytes` bytes; returns false if out of memory. */
function newSpare(bytes: u32): bool {
  const size = max(blockBytes - BLOCK_OVERHEAD, bytes);
  const block = alloc(size);
  if (!block) return false;
  free(spare);
  spare = block;
  spareBytes = size & ~3;
  blockBytes = min(blockBytes * 2, MOST_BLOCK_BYTES);
  return true;
}

/**
 * Ensures that entries of a total of `bytes` bytes can be taken; returns false if out of memory.
 * The rest of the current block does not count if it is not enough alone, because the last entry
 * may not fit into it.
 */
export function reserveEntries(bytes: u64): bool {
  if (bytes <= <u64>(end - top) || (spare && bytes <= <u64>spareBytes)) return true;
  return bytes < 0xe0000000 && newSpare(<u32>bytes + 4);
}
