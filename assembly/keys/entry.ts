// An entry of the dictionary: one node, with its number, state, kind and key. The entry of a number
// is found through pages of 65,536 addresses.

import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, get, put } from '../memory/cells';

/*
 * u32 number, u32 state, u32 address of the next entry of the bucket (table.ts), u16 kind, u16 size
 * of the key in bytes, then the key, padded to a multiple of 4 bytes. A key of an INTEGER kind is
 * its decimal text.
 */
export const E_NUMBER: usize = 0;
export const E_STATE: usize = 4;
export const E_NEXT: usize = 8;
/** Kind and size as one u32. */
export const E_SHAPE: usize = 12;
export const E_KEY: usize = 16;

/** A node row with this number is applied. */
export const LIVE: u32 = 0x80000000;
/** The node was deleted: its key belongs to nobody, but can still be read. */
export const DEAD: u32 = 0x40000000;
/**
 * The key is a text without a quote and a backslash, which JSON text escapes: its JSON text is the
 * key between two quotes.
 */
export const QUOTED: u32 = 0x20000000;
/** The text that is read (json/edge-keys.ts) has a hold already. */
export const HELD_BY_TEXT: u32 = 0x10000000;
/** The number of holds. */
export const HOLDS: u32 = 0x0fffffff;

const PAGE_BITS: u32 = 16;
const PAGE_CELLS: u32 = 1 << PAGE_BITS;
const FIRST_PAGES: u32 = 64;
/**
 * In place of an entry: the number was given out and taken back, and no node has ever had it.
 */
export const TAKEN_BACK: u32 = 1;

/** u32 address of each page, or 0; how many there is space for. */
let pages: usize = 0;
let pageCount: u32 = 0;

/** Forgets all pages, after the allocator has forgotten all regions. */
export function forgetPages(): void {
  pages = 0;
  pageCount = 0;
}

export function entryBytes(keyBytes: u32): u32 {
  return (<u32>E_KEY + keyBytes + 3) & ~3;
}

export function shapeOf(kind: u32, keyBytes: u32): u32 {
  return kind | (keyBytes << 16);
}

export function kindOf(entry: usize): u32 {
  return load<u32>(entry + E_SHAPE) & 0xffff;
}

export function keyBytesOf(entry: usize): u32 {
  return load<u32>(entry + E_SHAPE) >> 16;
}

/** Returns the content of a number's cell: an entry, TAKEN_BACK, or 0. */
export function cellOf(number: u32): u32 {
  const page = number >> PAGE_BITS;
  if (page >= pageCount) return 0;
  const cells = <usize>get<u32>(pages, page);
  return cells ? get<u32>(cells, number & (PAGE_CELLS - 1)) : 0;
}

/** Returns the entry of a number, or 0. */
export function entryOf(number: u32): usize {
  const found = cellOf(number);
  return found == TAKEN_BACK ? 0 : <usize>found;
}

/** Writes a number's cell; its page exists. */
export function setCell(number: u32, value: u32): void {
  if (!ASC_NO_ASSERT) assert(number >> PAGE_BITS < pageCount, 'the page of a number exists');
  put<u32>(get<u32>(pages, number >> PAGE_BITS), number & (PAGE_CELLS - 1), value);
}

/** Ensures that the page of a number exists; returns false if out of memory. */
export function makePage(number: u32): bool {
  const page = number >> PAGE_BITS;
  if (page >= pageCount && !growPages(page + 1)) return false;
  if (get<u32>(pages, page)) return true;
  const cells = alloc(bytesOf<u32>(PAGE_CELLS));
  if (!cells) return false;
  memory.fill(cells, 0, bytesOf<u32>(PAGE_CELLS));
  put<u32>(pages, page, <u32>cells);
  return true;
}

function growPages(least: u32): bool {
  const count = max(max(FIRST_PAGES, least), pageCount * 2);
  const next = alloc(<u32>bytesOf<u32>(count));
  if (!next) return false;
  const used = bytesOf<u32>(pageCount);
  if (pages) memory.copy(next, pages, used);
  memory.fill(next + used, 0, bytesOf<u32>(count) - used);
  free(pages);
  pages = next;
  pageCount = count;
  return true;
}

/** Ensures that the pages of the numbers [first, last] exist; returns false if out of memory. */
export function makePages(first: u32, last: u32): bool {
  for (let page = first >> PAGE_BITS; page <= last >> PAGE_BITS; page++) {
    if (!makePage(page << PAGE_BITS)) return false;
  }
  return true;
}

/** Returns whether n bytes are equal; 8 more bytes after each are readable. */
export function isSame(a: usize, b: usize, n: u32): bool {
  let i: u32 = 0;
  for (; i + 8 <= n; i += 8) if (load<u64>(a + i) != load<u64>(b + i)) return false;
  const left = n - i;
  return !left || !((load<u64>(a + i) ^ load<u64>(b + i)) << (64 - left * 8));
}
