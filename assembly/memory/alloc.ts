// The allocator of the core. A region comes from the free list of its size class or, if this list
// is empty, from a bump pointer. There are 8 size classes per doubling of the size, and no garbage
// collector.

import { cell } from './cells';

/**
 * Number of readable bytes after every region. They have arbitrary contents, and make a wide load
 * at the end of a region safe.
 */
export const SLACK: u32 = 16;

/**
 * No region ends above this address, which is a page below 4 GiB. So neither the bump pointer nor
 * an end address can wrap round to 0.
 */
const LAST_ADDRESS: u64 = 0xffff0000;
const MOST_PAGES: u32 = <u32>((LAST_ADDRESS + 0xffff) >> 16);
const HEADER: usize = 16;
/** State of a block, stored in its header in the debug build only. */
const MARK: usize = 8;
const GIVEN: u32 = 0x4e455649;
const FREED: u32 = 0x45455246;
const HEADS: usize = memory.data(256 * 4, 16);

let top: usize = 0;
let used: u32 = 0;

function sizeClass(size: u32): u32 {
  if (!ASC_NO_ASSERT) assert(size >= 16, 'a block is at least as large as its header');
  const power = 31 - clz(size);
  return power * 8 + ((size >> (power - 3)) & 7);
}

function roundUp(size: u32): u32 {
  const step: u32 = 1 << (31 - clz(size) - 3);
  return (size + step - 1) & ~(step - 1);
}

/**
 * Returns the address of `bytes` bytes (16-byte aligned, not zeroed, followed by SLACK readable
 * bytes), or 0 if there is not enough memory.
 */
export function alloc(bytes: u32): usize {
  if (bytes > 0xe0000000) return 0; // rounding up to a size class must not pass 2^32
  const size = roundUp((bytes < 16 ? 16 : bytes) + SLACK + <u32>HEADER);
  const head = cell<u32>(HEADS, sizeClass(size));
  let block = <usize>load<u32>(head);
  if (block) {
    if (!ASC_NO_ASSERT) assert(load<u32>(block + MARK) == FREED, 'a block in a free list is marked as freed');
    if (!ASC_NO_ASSERT) assert(load<u32>(block) == size, 'a block is in the free list of its size class');
    store<u32>(head, load<u32>(block + 4));
  } else {
    block = bump(size);
    if (!block) return 0;
  }
  if (!ASC_NO_ASSERT) assert(!(block & 15) && block + size <= top, 'a block lies inside of the heap');
  store<u32>(block, size);
  if (!ASC_NO_ASSERT) store<u32>(block + MARK, GIVEN);
  used += size;
  return block + HEADER;
}

function bump(size: u32): usize {
  if (!top) top = (__heap_base + 15) & ~15;
  const end = <u64>top + ((<u64>size + 15) & ~15);
  if (end > LAST_ADDRESS) return 0;
  const have = (<u64>memory.size()) << 16;
  if (end > have) {
    if (!grow(<u32>((end - have + 0xffff) >> 16))) return 0;
  }
  const block = top;
  top = <usize>end;
  return block;
}

/**
 * Grows memory by `pages`, or by a 16th of its size if that is more. Growing page by page would be
 * expensive in the host, which may count the whole memory as newly allocated each time it grows (V8
 * does, and collects garbage because of it). If there is no memory for the larger step, grows by
 * `pages`.
 */
function grow(pages: u32): bool {
  const have = <u32>memory.size();
  const step = min<u32>(have >> 4, have < MOST_PAGES ? MOST_PAGES - have : 0);
  if (step > pages && memory.grow(<i32>step) >= 0) return true;
  return memory.grow(<i32>pages) >= 0;
}

/** Frees a region. Ignores address 0. */
export function free(ptr: usize): void {
  if (!ptr) return;
  const block = ptr - HEADER;
  if (!ASC_NO_ASSERT)
    assert(
      !(ptr & 15) && ptr >= __heap_base + HEADER && ptr < top,
      'a freed address is aligned and inside of the heap',
    );
  if (!ASC_NO_ASSERT) assert(load<u32>(block + MARK) != FREED, 'double free');
  if (!ASC_NO_ASSERT) assert(load<u32>(block + MARK) == GIVEN, 'a freed address was returned by alloc');
  const size = load<u32>(block);
  if (!ASC_NO_ASSERT) assert(roundUp(size) == size, 'the size of a freed block is a rounded size');
  if (!ASC_NO_ASSERT) assert(size <= used, 'no more is freed than is in use');
  if (!ASC_NO_ASSERT) store<u32>(block + MARK, FREED);
  const head = cell<u32>(HEADS, sizeClass(size));
  store<u32>(block + 4, load<u32>(head));
  store<u32>(head, <u32>block);
  used -= size;
}

/** Returns the number of bytes in regions that have not been freed, including overhead. */
export function usedBytes(): u32 {
  return used;
}

/** Forgets every region at once: all addresses and handles become invalid. */
export function reset(): void {
  top = 0;
  used = 0;
  memory.fill(HEADS, 0, 256 * 4);
}
