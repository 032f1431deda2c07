// A cursor over an ascending list of documents with frequencies: the postings of a term, or a list
// that a query has made for a phrase or a prefix.
//
// The documents of a list are in blocks of 128. A cursor unpacks the documents of one block; it
// reads a frequency, or positions, only if asked. To get to a document it passes whole blocks by
// their entries without unpacking them. Ahead of it runs a second, shallow position, which only
// looks at the entries: it gives the bound of the scores in the block that may contain a document.

import { alloc } from '../memory/alloc';
import { bytesOf, cell, element, get } from '../memory/cells';
import { E_DOCUMENTS, E_POSITION, E_POSTINGS, E_ROW, ENTRY_BYTES, nextEntry, WALK_BYTES, walkTo } from './dictionary';
import {
  BLOCK_DOCUMENTS,
  bitsAt,
  frequencyWidth,
  lengthAt,
  MOST_STORED,
  NONE,
  packedBytes,
  positionWidth,
  rowWidth,
  SKIP_BYTES,
  X_FREQUENCY,
  X_LAST,
  X_LENGTH,
  X_OFFSET,
  X_WIDTHS,
} from './layout';
import { unpackBytes, unpackRows } from './unpack';

/** The document of the cursor, or NONE after the last one. */
export const C_ROW: usize = 0;
/** Index of the document in its block, and how many the block has. */
export const C_AT: usize = 4;
export const C_COUNT: usize = 8;
/** Address of the documents of the block, u16 each. */
export const C_ROWS: usize = 12;
export const C_BLOCK: usize = 16;
export const C_BLOCKS: usize = 20;
/** Number of documents of the list. */
export const C_DOCUMENTS: usize = 24;
/** Address of the entries of the blocks; 0: there is one block and no entry. */
export const C_SKIPS: usize = 28;
/** Address of the blocks; of a list that a query has made, of its documents. */
const C_DATA: usize = 32;
const C_FREQUENCIES: usize = 36;
const C_FREQUENCY_WIDTH: usize = 40;
export const C_POSITIONS: usize = 44;
export const C_POSITION_WIDTH: usize = 48;
/** Widths of the only block. */
const C_WIDTHS: usize = 52;
/** Address of the frequencies less 1 (u32) of a list that a query has made; 0: postings. */
const C_MADE: usize = 56;
/** The only position of a term without postings. */
const C_POSITION: usize = 60;
/** The shallow block, its last document, and the bound of its scores, which top.ts fills. */
export const C_SHALLOW: usize = 64;
export const C_SHALLOW_LAST: usize = 68;
export const C_BOUND: usize = 72;
/** Number + 1 of the block whose frequencies are unpacked, 0: none; then these, u8 less 1 each. */
const C_UNPACKED: usize = 80;
const C_BUFFER: usize = 88;
const C_BYTES: usize = 344;
export const CURSOR_BYTES: usize = 472;

const walk: usize = memory.data(WALK_BYTES, 16);
const entry: usize = memory.data(ENTRY_BYTES, 16);

/** Opens a list without documents. */
export function openEmpty(c: usize): void {
  memory.fill(c, 0, C_BUFFER);
  store<u32>(c + C_ROW, NONE);
}

/** Opens the postings of a term, before its first document. Cost: up to 16 entries. */
export function openTerm(c: usize, base: usize, ordinal: u32): void {
  walkTo(base, ordinal, walk);
  openNext(c, walk);
}

/** Opens the postings of the next term of a walk, and moves the walk. */
export function openNext(c: usize, at: usize): void {
  nextEntry(at, entry);
  const documents = load<u32>(entry + E_DOCUMENTS);
  const postings = <usize>load<u32>(entry + E_POSTINGS);
  const blocks = (documents + BLOCK_DOCUMENTS - 1) / BLOCK_DOCUMENTS;
  memory.fill(c, 0, C_BUFFER);
  store<u32>(c + C_BLOCKS, blocks);
  store<u32>(c + C_DOCUMENTS, documents);
  if (blocks > 1) {
    store<u32>(c + C_SKIPS, <u32>postings);
    store<u32>(c + C_DATA, <u32>element(postings, blocks, SKIP_BYTES));
  } else if (postings) {
    store<u32>(c + C_WIDTHS, <u32>load<u16>(postings));
    store<u32>(c + C_DATA, <u32>(postings + 2));
  } else {
    // The only document takes the place of an unpacked block, and is never unpacked.
    store<u16>(c + C_BUFFER, <u16>load<u32>(entry + E_ROW));
    store<u32>(c + C_POSITION, load<u32>(entry + E_POSITION));
  }
  rewind(c);
}

/**
 * Allocates a list with space for `n` documents: u32[n] frequencies less 1, the entries of its
 * blocks, and u16[n] documents. Returns 0 if out of memory.
 */
export function makeList(n: u32): usize {
  const blocks = (n + BLOCK_DOCUMENTS - 1) / BLOCK_DOCUMENTS;
  return alloc(<u32>(bytesOf<u32>(n) + element(0, blocks, SKIP_BYTES) + bytesOf<u16>(n)));
}

/** Returns the address of the documents of a list with space for `n`. */
export function rowsOfList(list: usize, n: u32): usize {
  return element(cell<u32>(list, n), (n + BLOCK_DOCUMENTS - 1) / BLOCK_DOCUMENTS, SKIP_BYTES);
}

/**
 * Opens a list with space for `capacity` documents, of which `n` are filled, and describes its
 * blocks. `lengths` and `width`: the lengths of the block's documents.
 */
export function openList(c: usize, list: usize, n: u32, capacity: u32, lengths: usize, width: u32): void {
  const rows = rowsOfList(list, capacity);
  const skips = cell<u32>(list, capacity);
  const blocks = (n + BLOCK_DOCUMENTS - 1) / BLOCK_DOCUMENTS;
  for (let b: u32 = 0; b < blocks; b++) {
    const first = b * BLOCK_DOCUMENTS;
    const end = min(n, first + BLOCK_DOCUMENTS);
    const skip = element(skips, b, SKIP_BYTES);
    let most: u32 = 0;
    let least: u32 = MOST_STORED;
    for (let i = first; i < end; i++) {
      most = max(most, get<u32>(list, i));
      least = min(least, lengthAt(lengths, width, get<u16>(rows, i)));
    }
    store<u32>(skip + X_OFFSET, 0);
    store<u16>(skip + X_LAST, get<u16>(rows, end - 1));
    store<u16>(skip + X_FREQUENCY, <u16>min(most + 1, MOST_STORED));
    store<u16>(skip + X_LENGTH, <u16>least);
    store<u16>(skip + X_WIDTHS, 0);
  }
  memory.fill(c, 0, C_BUFFER);
  store<u32>(c + C_BLOCKS, blocks);
  store<u32>(c + C_DOCUMENTS, n);
  store<u32>(c + C_SKIPS, <u32>skips);
  store<u32>(c + C_DATA, <u32>rows);
  store<u32>(c + C_MADE, <u32>list);
  rewind(c);
}

/** Moves a cursor back to its first document. */
export function rewind(c: usize): void {
  store<u32>(c + C_SHALLOW, 0);
  store<f64>(c + C_BOUND, NaN);
  if (!load<u32>(c + C_BLOCKS)) {
    store<u32>(c + C_ROW, NONE);
    return;
  }
  if (load<u32>(c + C_BLOCK) || !load<u32>(c + C_COUNT)) loadBlock(c, 0);
  else turnTo(c, 0);
  const last = load<u32>(c + C_SKIPS) ? lastOfBlock(c, 0) : lastLoaded(c);
  store<u32>(c + C_SHALLOW_LAST, last);
}

export function skipOf(c: usize, block: u32): usize {
  return element(load<u32>(c + C_SKIPS), block, SKIP_BYTES);
}

function lastOfBlock(c: usize, block: u32): u32 {
  return <u32>load<u16>(skipOf(c, block) + X_LAST);
}

function lastLoaded(c: usize): u32 {
  return <u32>get<u16>(load<u32>(c + C_ROWS), load<u32>(c + C_COUNT) - 1);
}

/** Moves a cursor to the first document of a block. Cost: 1 step per document of the block. */
export function loadBlock(c: usize, block: u32): void {
  if (!ASC_NO_ASSERT) assert(block < load<u32>(c + C_BLOCKS), 'a cursor loads a block of its list');
  const before = block * BLOCK_DOCUMENTS;
  const n = min(load<u32>(c + C_DOCUMENTS) - before, BLOCK_DOCUMENTS);
  const data = <usize>load<u32>(c + C_DATA);
  const made = <usize>load<u32>(c + C_MADE);
  store<u32>(c + C_BLOCK, block);
  store<u32>(c + C_AT, 0);
  store<u32>(c + C_COUNT, n);
  if (made) {
    store<u32>(c + C_ROWS, <u32>cell<u16>(data, before));
    store<u32>(c + C_FREQUENCIES, <u32>cell<u32>(made, before));
    store<u32>(c + C_FREQUENCY_WIDTH, 32);
  } else if (data) {
    const skip = load<u32>(c + C_SKIPS) ? skipOf(c, block) : 0;
    const widths = skip ? <u32>load<u16>(skip + X_WIDTHS) : load<u32>(c + C_WIDTHS);
    const rows = data + (skip ? load<u32>(skip + X_OFFSET) : 0);
    const frequencies = rows + packedBytes(n, rowWidth(widths));
    store<u32>(c + C_ROWS, <u32>(c + C_BUFFER));
    store<u32>(c + C_FREQUENCIES, <u32>frequencies);
    store<u32>(c + C_FREQUENCY_WIDTH, frequencyWidth(widths));
    store<u32>(c + C_POSITIONS, <u32>(frequencies + packedBytes(n, frequencyWidth(widths))));
    store<u32>(c + C_POSITION_WIDTH, positionWidth(widths));
    unpackRows(rows, n, rowWidth(widths), block ? lastOfBlock(c, block - 1) : NONE, c + C_BUFFER);
  } else {
    store<u32>(c + C_ROWS, <u32>(c + C_BUFFER));
    store<u32>(c + C_FREQUENCIES, <u32>(c + C_BUFFER));
    store<u32>(c + C_POSITIONS, <u32>(c + C_POSITION));
    store<u32>(c + C_POSITION_WIDTH, 32);
  }
  store<u32>(c + C_ROW, <u32>load<u16>(load<u32>(c + C_ROWS)));
}

/** Returns the frequency of the cursor's document. */
export function frequency(c: usize): u32 {
  return bitsAt(load<u32>(c + C_FREQUENCIES), load<u32>(c + C_AT), load<u32>(c + C_FREQUENCY_WIDTH)) + 1;
}

/** Returns the frequency of document `at` of the loaded block. */
export function frequencyAt(c: usize, at: u32): u32 {
  return bitsAt(load<u32>(c + C_FREQUENCIES), at, load<u32>(c + C_FREQUENCY_WIDTH)) + 1;
}

/**
 * Returns the address of the frequencies of the loaded block: u8 each, less 1, at most
 * MOST_UNPACKED. Unpacks them once for each block.
 */
export function frequenciesOfBlock(c: usize): usize {
  const block = load<u32>(c + C_BLOCK) + 1;
  if (load<u32>(c + C_UNPACKED) != block) {
    unpackBytes(load<u32>(c + C_FREQUENCIES), load<u32>(c + C_COUNT), load<u32>(c + C_FREQUENCY_WIDTH), c + C_BYTES);
    store<u32>(c + C_UNPACKED, block);
  }
  return c + C_BYTES;
}

/** Returns the index in the loaded block of its first document that is not below `row`. */
export function placeInBlock(c: usize, row: u32): u32 {
  return searchBlock(load<u32>(c + C_ROWS), 0, load<u32>(c + C_COUNT), row);
}

/** Returns the block of a list that may contain `row`, to which the shallow position moves. */
export function firstBlock(c: usize, row: u32): u32 {
  seekShallow(c, row);
  return load<u32>(c + C_SHALLOW);
}

/** Returns whether a block of a list may begin at or before `end`. */
export function isOpen(c: usize, block: u32, end: u32): bool {
  return block < load<u32>(c + C_BLOCKS) && (!block || lastOfBlock(c, block - 1) < end);
}

/** Returns whether a block of a list, the loaded one, ends at or before `end`. */
export function endsBefore(c: usize, block: u32, end: u32): bool {
  return (load<u32>(c + C_SKIPS) ? lastOfBlock(c, block) : lastLoaded(c)) <= end;
}

/** Moves a cursor to the first document of a block. */
export function turnTo(c: usize, block: u32): void {
  if (load<u32>(c + C_BLOCK) != block) loadBlock(c, block);
  store<u32>(c + C_AT, 0);
  store<u32>(c + C_ROW, <u32>load<u16>(load<u32>(c + C_ROWS)));
}

/** Moves a cursor to its first document that is not below `row`, forward or back. */
export function seekAny(c: usize, row: u32): void {
  if (load<u32>(c + C_ROW) > row && load<u32>(c + C_BLOCKS)) {
    let block = load<u32>(c + C_BLOCK);
    while (block && lastOfBlock(c, block - 1) >= row) block--;
    turnTo(c, block);
  }
  seek(c, row);
}

/** Moves a cursor to its next document. */
export function next(c: usize): void {
  const at = load<u32>(c + C_AT) + 1;
  if (at < load<u32>(c + C_COUNT)) {
    store<u32>(c + C_AT, at);
    store<u32>(c + C_ROW, <u32>get<u16>(load<u32>(c + C_ROWS), at));
  } else nextBlock(c);
}

function nextBlock(c: usize): void {
  const block = load<u32>(c + C_BLOCK) + 1;
  if (block < load<u32>(c + C_BLOCKS)) loadBlock(c, block);
  else store<u32>(c + C_ROW, NONE);
}

/** Returns the index in [at, high] of the first document that is not below `row`. */
function searchBlock(rows: usize, at: u32, high: u32, row: u32): u32 {
  while (at < high) {
    const middle = (at + high) >> 1;
    if (<u32>get<u16>(rows, middle) < row) at = middle + 1;
    else high = middle;
  }
  return at;
}

/**
 * Moves a cursor to its first document that is not below `row`, if it is not there yet. Cost: 1
 * step per block that is passed, then log2 128.
 */
export function seek(c: usize, row: u32): void {
  if (load<u32>(c + C_ROW) >= row) return;
  if (lastLoaded(c) < row) {
    let block = load<u32>(c + C_BLOCK) + 1;
    const blocks = load<u32>(c + C_BLOCKS);
    // The shallow position may be ahead, and all blocks before its block end below its document.
    const shallow = load<u32>(c + C_SHALLOW);
    if (shallow > block && lastOfBlock(c, shallow - 1) < row) block = shallow;
    while (block < blocks && lastOfBlock(c, block) < row) block++;
    if (block >= blocks) {
      store<u32>(c + C_ROW, NONE);
      return;
    }
    loadBlock(c, block);
    if (load<u32>(c + C_ROW) >= row) return;
  }
  const rows = <usize>load<u32>(c + C_ROWS);
  // The last document of the block is not below `row`, so the steps end in the block.
  let at = load<u32>(c + C_AT) + 1;
  let steps: u32 = 0;
  while (<u32>get<u16>(rows, at) < row) {
    at++;
    if (++steps < 8) continue;
    at = searchBlock(rows, at, load<u32>(c + C_COUNT) - 1, row);
    break;
  }
  if (!ASC_NO_ASSERT) assert(<u32>get<u16>(rows, at) >= row, 'a block that ends at or above a document has its place');
  store<u32>(c + C_AT, at);
  store<u32>(c + C_ROW, <u32>get<u16>(rows, at));
}

/**
 * Moves the shallow position to the block that may contain `row`. Returns whether there is one; its
 * bound is then NaN if the block is another one than before.
 */
export function seekShallow(c: usize, row: u32): bool {
  const blocks = load<u32>(c + C_BLOCKS);
  let block = load<u32>(c + C_SHALLOW);
  if (block >= blocks) return false;
  if (load<u32>(c + C_SHALLOW_LAST) >= row) return true;
  block++;
  while (block < blocks && lastOfBlock(c, block) < row) block++;
  store<u32>(c + C_SHALLOW, block);
  store<f64>(c + C_BOUND, NaN);
  if (block >= blocks) return false;
  store<u32>(c + C_SHALLOW_LAST, lastOfBlock(c, block));
  return true;
}
