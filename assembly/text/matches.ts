// Counts and lists the documents that match a query, block by block, with bitmaps: u64 words, one
// bit per document of the block, bits after the last one are 0.

import { bytesOf, cell, get, put } from '../memory/cells';
import { MORE } from '../segment/check-state';
import { C_BLOCKS, C_COUNT, C_DOCUMENTS, C_ROWS, CURSOR_BYTES, loadBlock, openTerm } from './cursor';
import { isAllowed, lengthAt, T_DOCUMENTS, T_WIDTH, T_WITH_WORDS, T_WORDS, TEXT_HEADER_BYTES } from './layout';
import { cursorOf, P_ROLE, partOf, Q_DOCUMENTS, Q_MATCHED, Q_PARTS, ROLE_MUST, ROLE_NOT, ROLE_SHOULD } from './query';

const term: usize = memory.data(CURSOR_BYTES, 16);
/** A bitmap of the documents of one part. */
const found: usize = memory.data(8192, 16);

/** Returns how many documents of a cursor's list are in a bitmap (0: all). The cursor moves. */
export function countAllowed(c: usize, bitmap: usize): u32 {
  if (!bitmap) return load<u32>(c + C_DOCUMENTS);
  let count: u32 = 0;
  const blocks = load<u32>(c + C_BLOCKS);
  for (let b: u32 = 0; b < blocks; b++) {
    loadBlock(c, b);
    const end = cell<u16>(load<u32>(c + C_ROWS), load<u32>(c + C_COUNT));
    for (let at = <usize>load<u32>(c + C_ROWS); at < end; at += 2) count += u32(isAllowed(bitmap, load<u16>(at)));
  }
  return count;
}

/** Returns how many documents in a bitmap (0: all) contain a term. Cost: 1 step per document. */
export function countTerm(base: usize, ordinal: u32, bitmap: usize): u32 {
  openTerm(term, base, ordinal);
  return countAllowed(term, bitmap);
}

/**
 * Writes at `out` (f64[2]) the number of words of the documents in a bitmap (0: all), and how many
 * of these documents have a word. Cost: 1 step per document.
 */
export function totals(base: usize, bitmap: usize, out: usize): void {
  let words = load<u64>(base + T_WORDS);
  let withWords = load<u32>(base + T_WITH_WORDS);
  if (bitmap) {
    words = 0;
    withWords = 0;
    const documents = load<u32>(base + T_DOCUMENTS);
    for (let row: u32 = 0; row < documents; row++) {
      if (!isAllowed(bitmap, row)) continue;
      const length = lengthAt(base + TEXT_HEADER_BYTES, load<u32>(base + T_WIDTH), row);
      words += <u64>length;
      withWords += u32(length > 0);
    }
  }
  store<f64>(out, <f64>words);
  put<f64>(out, 1, <f64>withWords);
}

/** Adds the documents of a cursor's list to a bitmap. */
function mark(c: usize, bitmap: usize): void {
  const blocks = load<u32>(c + C_BLOCKS);
  for (let b: u32 = 0; b < blocks; b++) {
    loadBlock(c, b);
    const end = cell<u16>(load<u32>(c + C_ROWS), load<u32>(c + C_COUNT));
    for (let at = <usize>load<u32>(c + C_ROWS); at < end; at += 2) {
      const row = <u32>load<u16>(at);
      const word = cell<u64>(bitmap, row >> 6);
      store<u64>(word, load<u64>(word) | ((<u64>1) << (<u64>(row & 63))));
    }
  }
}

/** Combines the documents of one part with those found so far at `out`. */
function combine(c: usize, role: u32, out: usize, words: u32): void {
  if (role == ROLE_SHOULD) {
    mark(c, out);
    return;
  }
  memory.fill(found, 0, bytesOf<u64>(words));
  mark(c, found);
  for (let w: u32 = 0; w < words; w++) {
    const here = get<u64>(found, w);
    const kept = get<u64>(out, w);
    put<u64>(out, w, role == ROLE_MUST ? kept & here : kept & ~here);
  }
}

/**
 * Begins with the documents that are allowed, or with none if a should part is to be among them.
 */
function begin(allowed: usize, hasMust: bool, out: usize, documents: u32, words: u32): void {
  if (!hasMust) memory.fill(out, 0, bytesOf<u64>(words));
  else if (allowed) memory.copy(out, allowed, bytesOf<u64>(words));
  else {
    memory.fill(out, 255, bytesOf<u64>(words));
    if (documents & 63) put<u64>(out, words - 1, ((<u64>1) << (<u64>(documents & 63))) - 1);
  }
}

function hasMust(q: usize): bool {
  const parts = load<u32>(q + Q_PARTS);
  for (let i: u32 = 0; i < parts; i++) if (load<u32>(partOf(q, i) + P_ROLE) == ROLE_MUST) return true;
  return false;
}

/**
 * Writes at `out` the bitmap of the documents that match: those in the bitmap `allowed` (0: all)
 * with all must parts, without any not part and, if there is no must part, with at least one should
 * part. The query is prepared. Does at least one part and about `work` units, each a document of a
 * posting list. Returns MORE: call again with the same arguments and unchanged bitmaps; or 0.
 */
export function match(q: usize, allowed: usize, out: usize, work: u32): i32 {
  const documents = load<u32>(q + Q_DOCUMENTS);
  const words = (documents + 63) >> 6;
  const parts = load<u32>(q + Q_PARTS);
  const must = hasMust(q);
  const wanted = must ? ROLE_MUST : ROLE_SHOULD;
  let at = load<u32>(q + Q_MATCHED);
  let left = <i64>work;
  if (!at) begin(allowed, must, out, documents, words);
  // The first pass takes the must or should parts, the second one the not parts.
  for (; at < parts * 2; at++) {
    const second = at >= parts;
    const part = partOf(q, second ? at - parts : at);
    if (at == parts && !must && allowed)
      for (let w: u32 = 0; w < words; w++) put<u64>(out, w, get<u64>(out, w) & get<u64>(allowed, w));
    if (load<u32>(part + P_ROLE) != (second ? ROLE_NOT : wanted)) continue;
    if (left < 0) {
      store<u32>(q + Q_MATCHED, at);
      return MORE;
    }
    combine(cursorOf(part), load<u32>(part + P_ROLE), out, words);
    left -= 64 + <i64>load<u32>(cursorOf(part) + C_DOCUMENTS);
  }
  store<u32>(q + Q_MATCHED, 0);
  return 0;
}

/** Writes the documents of a bitmap at `out` (u32), ascending. Returns how many. */
export function listRows(bitmap: usize, documents: u32, out: usize): u32 {
  const words = (documents + 63) >> 6;
  let n: u32 = 0;
  for (let w: u32 = 0; w < words; w++) {
    for (let bits = get<u64>(bitmap, w); bits; bits &= bits - 1) put<u32>(out, n++, (w << 6) + <u32>ctz(bits));
  }
  return n;
}
