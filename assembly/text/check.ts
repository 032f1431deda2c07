// Checks the bytes of a text block before they are used: every offset, order, width and count.
//
// After the header and the lengths, the terms are checked one after another, each with its
// postings. A sum of frequencies per document is compared with the lengths at the end. A check can
// be done in steps, between two terms; the sums and the bytes of the last term are kept in a region
// that is freed when the check ends.

import { HG_MAX_SEGMENT_ROWS } from '../limits';
import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, element, get, put } from '../memory/cells';
import { BYTES_A_UNIT, K_AT, K_HEADS, K_LEFT, K_VALUES, MORE, spend } from '../segment/check-state';
import { CORRUPT, failAt, OUT_OF_MEMORY, UNSUPPORTED } from '../status';
import {
  BLOCK_DOCUMENTS,
  bitsAt,
  frequencyWidth,
  GROUP_BYTES,
  GROUP_TERMS,
  hasVarint,
  lengthAt,
  MOST_STORED,
  MOST_TERM_BYTES,
  MOST_WORDS,
  NONE,
  packedBytes,
  positionWidth,
  rowWidth,
  SKIP_BYTES,
  T_BYTES,
  T_DICTIONARY,
  T_DIRECTORY,
  T_DOCUMENTS,
  T_POSTINGS,
  T_TERMS,
  T_UNUSED,
  T_VERSION,
  T_WIDTH,
  T_WITH_WORDS,
  T_WORDS,
  TEXT_HEADER_BYTES,
  TEXT_MAGIC,
  TEXT_VERSION,
  takeVarint,
  X_FREQUENCY,
  X_LAST,
  X_LENGTH,
  X_OFFSET,
  X_WIDTHS,
} from './layout';

/** Fields of the state: address of the next term, of its postings, bytes of the term before it. */
const V_AT: usize = K_VALUES;
const V_POSTINGS: usize = K_VALUES + 4;
const V_SIZE: usize = K_VALUES + 8;

/** What `checkPostingBlock` finds: last document, greatest frequency, least length. */
const F_LAST: usize = 0;
const F_FREQUENCY: usize = 4;
const F_LENGTH: usize = 8;
const facts: usize = memory.data(16, 16);

const BAD: u32 = 0xffffffff;

/** Checks the header, the gap and the lengths. Cost: 1 step per document. */
function checkHead(base: usize, bytes: u32): i32 {
  if (bytes < <u32>TEXT_HEADER_BYTES) return failAt(CORRUPT, bytes);
  if (load<u32>(base) != TEXT_MAGIC) return failAt(CORRUPT, 0);
  if (load<u32>(base + T_VERSION) != TEXT_VERSION) return failAt(UNSUPPORTED, <u32>T_VERSION);
  if (load<u32>(base + T_BYTES) != bytes) return failAt(CORRUPT, <u32>T_BYTES);
  const documents = load<u32>(base + T_DOCUMENTS);
  const width = load<u32>(base + T_WIDTH);
  const terms = load<u32>(base + T_TERMS);
  if (documents > HG_MAX_SEGMENT_ROWS) return failAt(CORRUPT, <u32>T_DOCUMENTS);
  if (width != 1 && width != 2 && width != 4) return failAt(CORRUPT, <u32>T_WIDTH);
  if (load<u64>(base + T_WORDS) > <u64>MOST_WORDS) return failAt(CORRUPT, <u32>T_WORDS);
  if (terms > MOST_WORDS) return failAt(CORRUPT, <u32>T_TERMS);
  for (let at = T_UNUSED; at < TEXT_HEADER_BYTES; at += 4) if (load<u32>(base + at)) return failAt(CORRUPT, <u32>at);
  const lengthsEnd = <u32>TEXT_HEADER_BYTES + documents * width;
  const directory = (lengthsEnd + 7) & ~7;
  const groups = (terms + GROUP_TERMS - 1) / GROUP_TERMS;
  if (load<u32>(base + T_DIRECTORY) != directory) return failAt(CORRUPT, <u32>T_DIRECTORY);
  if (load<u32>(base + T_DICTIONARY) != directory + groups * <u32>GROUP_BYTES)
    return failAt(CORRUPT, <u32>T_DICTIONARY);
  const postings = load<u32>(base + T_POSTINGS);
  if (postings < load<u32>(base + T_DICTIONARY) || postings > bytes) return failAt(CORRUPT, <u32>T_POSTINGS);
  for (let at = lengthsEnd; at < directory; at++) if (load<u8>(base + at)) return failAt(CORRUPT, at);
  return checkLengths(base, documents, width);
}

function checkLengths(base: usize, documents: u32, width: u32): i32 {
  let words: u64 = 0;
  let withWords: u32 = 0;
  for (let d: u32 = 0; d < documents; d++) {
    const length = lengthAt(base + TEXT_HEADER_BYTES, width, d);
    words += <u64>length;
    withWords += u32(length > 0);
  }
  if (words != load<u64>(base + T_WORDS)) return failAt(CORRUPT, <u32>T_WORDS);
  return withWords == load<u32>(base + T_WITH_WORDS) ? 0 : failAt(CORRUPT, <u32>T_WITH_WORDS);
}

/**
 * Checks one block of `n` postings in [at, end), whose first document is above `before`, and adds
 * the frequencies to `sums`. Returns its size in bytes, or BAD.
 */
function checkPostingBlock(base: usize, at: usize, end: usize, n: u32, widths: u32, before: u32, sums: usize): u32 {
  const rowBits = rowWidth(widths);
  const frequencyBits = frequencyWidth(widths);
  const positionBits = positionWidth(widths);
  if (widths > 0x7fff || rowBits > 16 || frequencyBits > 27 || positionBits > 27) return BAD;
  const frequencies = at + packedBytes(n, rowBits);
  const positions = frequencies + packedBytes(n, frequencyBits);
  if (positions > end) return BAD;
  const documents = load<u32>(base + T_DOCUMENTS);
  const width = load<u32>(base + T_WIDTH);
  let row = before;
  let words: u64 = 0;
  let most: u32 = 0;
  let least: u32 = NONE;
  for (let i: u32 = 0; i < n; i++) {
    row += bitsAt(at, i, rowBits) + 1;
    if (row >= documents) return BAD;
    const frequency = bitsAt(frequencies, i, frequencyBits) + 1;
    const length = lengthAt(base + TEXT_HEADER_BYTES, width, row);
    const sum = get<u32>(sums, row) + frequency;
    if (sum > length) return BAD;
    put<u32>(sums, row, sum);
    words += <u64>frequency;
    most = max(most, frequency);
    least = min(least, length);
  }
  if (words > <u64>MOST_WORDS) return BAD;
  const size = <usize>packedBytes(<u32>words, positionBits);
  if (size > end - positions) return BAD;
  let next: u32 = 0;
  // With a width of 0, a document's positions are below its frequency, which is at most its length.
  for (let i: u32 = 0; positionBits && i < n; i++) {
    let position: u32 = NONE;
    const behind = next + bitsAt(frequencies, i, frequencyBits) + 1;
    for (; next < behind; next++) {
      position += bitsAt(positions, next, positionBits) + 1;
      if (position >= MOST_WORDS) return BAD;
    }
  }
  store<u32>(facts + F_LAST, row);
  store<u32>(facts + F_FREQUENCY, min(most, MOST_STORED));
  store<u32>(facts + F_LENGTH, min(least, MOST_STORED));
  return <u32>(positions + size - at);
}

/** Returns whether the postings of `documents` documents are exactly the bytes [at, end). */
function checkPostings(base: usize, at: usize, end: usize, documents: u32, sums: usize): bool {
  const blocks = (documents + BLOCK_DOCUMENTS - 1) / BLOCK_DOCUMENTS;
  if (blocks == 1) {
    if (end - at < 2) return false;
    const size = checkPostingBlock(base, at + 2, end, documents, <u32>load<u16>(at), NONE, sums);
    return size != BAD && at + 2 + size == end;
  }
  const data = element(at, blocks, SKIP_BYTES);
  if (data > end) return false;
  let block = data;
  let before: u32 = NONE;
  for (let b: u32 = 0; b < blocks; b++) {
    const skip = element(at, b, SKIP_BYTES);
    const n = min(documents - b * BLOCK_DOCUMENTS, BLOCK_DOCUMENTS);
    if (load<u32>(skip + X_OFFSET) != <u32>(block - data)) return false;
    const size = checkPostingBlock(base, block, end, n, <u32>load<u16>(skip + X_WIDTHS), before, sums);
    if (size == BAD) return false;
    before = load<u32>(facts + F_LAST);
    if (<u32>load<u16>(skip + X_LAST) != before) return false;
    if (<u32>load<u16>(skip + X_FREQUENCY) != load<u32>(facts + F_FREQUENCY)) return false;
    if (<u32>load<u16>(skip + X_LENGTH) != load<u32>(facts + F_LENGTH)) return false;
    block += size;
  }
  return block == end;
}

/**
 * Checks the text of term `ordinal`, and puts it together at `term`. `cursor`: address of the
 * entry's address, which moves behind the text.
 */
function checkTerm(ordinal: u32, cursor: usize, end: usize, term: usize, sizeBefore: u32): u32 {
  if (!hasVarint(cursor, end)) return BAD;
  const shared = takeVarint(cursor);
  if (!hasVarint(cursor, end)) return BAD;
  const rest = takeVarint(cursor);
  const at = <usize>load<u32>(cursor);
  if (shared > sizeBefore || rest > MOST_TERM_BYTES || shared + rest > MOST_TERM_BYTES || at + rest > end) return BAD;
  if (!rest) return BAD;
  if (ordinal % GROUP_TERMS == 0) {
    if (shared) return BAD;
    const order = memory.compare(term, at, min(sizeBefore, rest));
    if (ordinal && (order > 0 || (order == 0 && sizeBefore >= rest))) return BAD;
  } else if (shared < sizeBefore && load<u8>(term + shared) >= load<u8>(at)) return BAD;
  memory.copy(term + shared, at, rest);
  store<u32>(cursor, <u32>(at + rest));
  return shared + rest;
}

/** Checks the entry of term `ordinal` and its postings. Returns the documents, or BAD. */
function checkEntry(base: usize, ordinal: u32, state: usize): u32 {
  const documents = load<u32>(base + T_DOCUMENTS);
  const sums = <usize>load<u32>(state + K_HEADS);
  const end = base + load<u32>(base + T_POSTINGS);
  const cursor = state + V_AT;
  if (ordinal % GROUP_TERMS == 0) {
    const group = element(base + load<u32>(base + T_DIRECTORY), ordinal / GROUP_TERMS, GROUP_BYTES);
    const postings = load<u32>(state + V_POSTINGS) - <u32>end;
    const dictionary = <u32>(base + load<u32>(base + T_DICTIONARY));
    if (load<u32>(group) != load<u32>(cursor) - dictionary || load<u32>(group + 4) != postings) return BAD;
  }
  const size = checkTerm(ordinal, cursor, end, cell<u32>(sums, documents), load<u32>(state + V_SIZE));
  if (size == BAD) return BAD;
  store<u32>(state + V_SIZE, size);
  if (!hasVarint(cursor, end)) return BAD;
  const n = takeVarint(cursor);
  if (n > documents) return BAD;
  if (!n) return checkSingle(base, cursor, end, sums) ? 1 : BAD;
  if (!hasVarint(cursor, end)) return BAD;
  const postingBytes = takeVarint(cursor);
  const postings = <usize>load<u32>(state + V_POSTINGS);
  const last = base + load<u32>(base + T_BYTES);
  if (<usize>postingBytes > last - postings) return BAD;
  if (!checkPostings(base, postings, postings + postingBytes, n, sums)) return BAD;
  store<u32>(state + V_POSTINGS, <u32>postings + postingBytes);
  return n;
}

/** Checks the only document of a term without postings. */
function checkSingle(base: usize, cursor: usize, end: usize, sums: usize): bool {
  const at = <usize>load<u32>(cursor);
  if (at + 2 > end) return false;
  const row = <u32>load<u16>(at);
  store<u32>(cursor, <u32>at + 2);
  if (row >= load<u32>(base + T_DOCUMENTS) || !hasVarint(cursor, end)) return false;
  const sum = get<u32>(sums, row) + 1;
  put<u32>(sums, row, sum);
  return sum <= lengthAt(base + TEXT_HEADER_BYTES, load<u32>(base + T_WIDTH), row) && takeVarint(cursor) < MOST_WORDS;
}

/** Checks what remains when all terms have been checked. */
function checkEnd(base: usize, state: usize): i32 {
  const sums = <usize>load<u32>(state + K_HEADS);
  const postings = load<u32>(base + T_POSTINGS);
  if (<usize>load<u32>(state + V_AT) != base + postings) return failAt(CORRUPT, postings);
  if (<usize>load<u32>(state + V_POSTINGS) != base + load<u32>(base + T_BYTES))
    return failAt(CORRUPT, load<u32>(base + T_BYTES));
  for (let d: u32 = 0; d < load<u32>(base + T_DOCUMENTS); d++) {
    const length = lengthAt(base + TEXT_HEADER_BYTES, load<u32>(base + T_WIDTH), d);
    if (get<u32>(sums, d) != length) return failAt(CORRUPT, <u32>TEXT_HEADER_BYTES + d * load<u32>(base + T_WIDTH));
  }
  return 0;
}

/** Allocates what the check keeps between two calls, and begins with the first term. */
function begin(base: usize, state: usize): i32 {
  const documents = load<u32>(base + T_DOCUMENTS);
  const sums = alloc(<u32>bytesOf<u32>(documents) + MOST_TERM_BYTES);
  if (!sums) return OUT_OF_MEMORY;
  memory.fill(sums, 0, bytesOf<u32>(documents));
  store<u32>(state + K_HEADS, <u32>sums);
  store<u32>(state + V_AT, <u32>(base + load<u32>(base + T_DICTIONARY)));
  store<u32>(state + V_POSTINGS, <u32>(base + load<u32>(base + T_POSTINGS)));
  spend(state, documents);
  return 0;
}

function checkAll(base: usize, bytes: u32, state: usize): i32 {
  if (!load<u32>(state + K_HEADS)) {
    const status = checkHead(base, bytes);
    if (status) return status;
    const begun = begin(base, state);
    if (begun) return begun;
  }
  const terms = load<u32>(base + T_TERMS);
  let ordinal = load<u32>(state + K_AT);
  do {
    if (ordinal == terms) return checkEnd(base, state);
    const at = load<u32>(state + V_AT) - <u32>base;
    const postings = load<u32>(state + V_POSTINGS);
    const documents = checkEntry(base, ordinal, state);
    if (documents == BAD) return failAt(CORRUPT, at);
    ordinal++;
    store<u32>(state + K_AT, ordinal);
    spend(state, 2 + documents + (load<u32>(state + V_POSTINGS) - postings) / BYTES_A_UNIT);
  } while (load<u32>(state + K_LEFT));
  return MORE;
}

/**
 * Checks the text block in [base, base + bytes), of any contents, in steps of about `work` units: a
 * unit is a document of a posting list, half a term, or 16 bytes. `state`: CHECK_STATE_BYTES bytes,
 * 8-byte aligned, 0 at the first call.
 *
 * Returns MORE: call again with the same arguments and unchanged bytes. Otherwise the state is 0
 * again, and the result is 0, CORRUPT with the offset, UNSUPPORTED or OUT_OF_MEMORY. To give up a
 * check, free the region whose address is the u32 at offset 8 of the state. Uses 4 bytes per
 * document. A step does at least one term.
 */
export function checkText(base: usize, bytes: u32, state: usize, work: u32): i32 {
  store<u32>(state + K_LEFT, work);
  const status = checkAll(base, bytes, state);
  if (status == MORE) return MORE;
  free(load<u32>(state + K_HEADS));
  memory.fill(state, 0, 64);
  return status;
}
