// Makes the list of the documents that contain a phrase: words at consecutive positions.
//
// Cursors over the words meet at each document that contains all of them. There, each word has an
// iterator over its positions. For a position p of the first word, the iterator of word i moves to
// its first position that is not below p + i. If that is p + i for all words, the phrase occurs at
// p. If it is a later position x, the phrase cannot begin before x - i, and the first word's
// iterator moves there.

import { alloc } from '../memory/alloc';
import { element, get, put } from '../memory/cells';
import {
  C_AT,
  C_BLOCK,
  C_COUNT,
  C_DOCUMENTS,
  C_POSITION_WIDTH,
  C_POSITIONS,
  C_ROW,
  CURSOR_BYTES,
  frequencyAt,
  makeList,
  next,
  openList,
  openTerm,
  rowsOfList,
  seek,
} from './cursor';
import { bitsAt, NONE } from './layout';
import {
  cursorOf,
  dropWork,
  P_COUNT,
  P_FIRST,
  P_LIST,
  PREPARE_MORE,
  PREPARE_NO_MEMORY,
  Q_BASE,
  Q_LENGTHS,
  Q_WIDTH,
  Q_WORK,
  Q_WORK_AT,
  Q_WORK_FOUND,
} from './query';

/**
 * A word of the phrase: a cursor, the iterator over the positions in its document (index of the
 * next position in its block, positions left, the position), the block whose sums are known, and
 * for each document of this block how many positions come before its own.
 */
const N_INDEX: usize = CURSOR_BYTES;
const N_LEFT: usize = CURSOR_BYTES + 4;
const N_POSITION: usize = CURSOR_BYTES + 8;
const N_BLOCK: usize = CURSOR_BYTES + 12;
const N_STARTS: usize = CURSOR_BYTES + 16;
const WORD_BYTES: usize = CURSOR_BYTES + 16 + 512;

/** Begins with the first position of the word in its document. */
function firstPosition(word: usize): void {
  if (load<u32>(word + N_BLOCK) != load<u32>(word + C_BLOCK)) {
    const n = load<u32>(word + C_COUNT);
    let sum: u32 = 0;
    for (let i: u32 = 0; i < n; i++) {
      put<u32>(word + N_STARTS, i, sum);
      sum += frequencyAt(word, i);
    }
    store<u32>(word + N_BLOCK, load<u32>(word + C_BLOCK));
  }
  const at = load<u32>(word + C_AT);
  store<u32>(word + N_INDEX, get<u32>(word + N_STARTS, at));
  store<u32>(word + N_LEFT, frequencyAt(word, at));
  store<u32>(word + N_POSITION, NONE);
  nextPosition(word);
}

/** Moves to the next position. Returns false if there is none. */
function nextPosition(word: usize): bool {
  const left = load<u32>(word + N_LEFT);
  if (!left) return false;
  const index = load<u32>(word + N_INDEX);
  const gap = bitsAt(load<u32>(word + C_POSITIONS), index, load<u32>(word + C_POSITION_WIDTH));
  store<u32>(word + N_POSITION, load<u32>(word + N_POSITION) + gap + 1);
  store<u32>(word + N_INDEX, index + 1);
  store<u32>(word + N_LEFT, left - 1);
  return true;
}

/** Moves to the first position that is not below `least`. Returns false if there is none. */
function positionFrom(word: usize, least: u32): bool {
  while (load<u32>(word + N_POSITION) < least) if (!nextPosition(word)) return false;
  return true;
}

/** Returns how often the phrase occurs in the document of the cursors of its `n` words. */
function occurrences(words: usize, n: u32): u32 {
  for (let i: u32 = 0; i < n; i++) firstPosition(element(words, i, WORD_BYTES));
  let count: u32 = 0;
  let i: u32 = 1;
  while (true) {
    const start = load<u32>(words + N_POSITION);
    for (i = 1; i < n; i++) {
      const word = element(words, i, WORD_BYTES);
      if (!positionFrom(word, start + i)) return count;
      const position = load<u32>(word + N_POSITION);
      if (position == start + i) continue;
      if (!positionFrom(words, position - i)) return count;
      break;
    }
    if (i < n) continue;
    count++;
    if (!nextPosition(words)) return count;
  }
}

/** Returns how many positions the `n` words have in the document of their cursors. */
function positionsOf(words: usize, n: u32): u32 {
  let sum: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const word = element(words, i, WORD_BYTES);
    sum += frequencyAt(word, load<u32>(word + C_AT));
  }
  return sum;
}

/** Allocates and opens the words of a phrase. Returns false if out of memory. */
function openWords(q: usize, part: usize): bool {
  const n = load<u32>(part + P_COUNT);
  const words = alloc(<u32>element(0, n, WORD_BYTES));
  if (!words) return false;
  for (let i: u32 = 0; i < n; i++) {
    const word = element(words, i, WORD_BYTES);
    openTerm(word, load<u32>(q + Q_BASE), get<u32>(load<u32>(part + P_FIRST), i));
    store<u32>(word + N_BLOCK, NONE);
  }
  store<u32>(q + Q_WORK, <u32>words);
  return true;
}

/** Returns the number of documents of the rarest word. */
function fewestDocuments(words: usize, n: u32): u32 {
  let least = NONE;
  for (let i: u32 = 0; i < n; i++) least = min(least, load<u32>(element(words, i, WORD_BYTES) + C_DOCUMENTS));
  return least;
}

/**
 * Moves all cursors to the first document from `row` on that has all words; NONE if there is none.
 */
function meet(words: usize, n: u32, row: u32): u32 {
  let met: u32 = 0;
  for (let i: u32 = 0; met < n; i = i + 1 < n ? i + 1 : 0) {
    const word = element(words, i, WORD_BYTES);
    seek(word, row);
    const here = load<u32>(word + C_ROW);
    if (here == NONE) return NONE;
    met = here == row ? met + 1 : 1;
    row = here;
  }
  return row;
}

/**
 * Prepares a part with a phrase of at least two words. Returns the work that is left, PREPARE_MORE
 * or PREPARE_NO_MEMORY. The work of the query: the words, the next document to look at, the number
 * of documents found.
 */
export function preparePhrase(q: usize, part: usize, work: i32): i32 {
  const n = load<u32>(part + P_COUNT);
  for (let i: u32 = 0; i < n; i++) if (get<u32>(load<u32>(part + P_FIRST), i) == NONE) return max(work - 1, -1);
  if (!load<u32>(q + Q_WORK) && !openWords(q, part)) return PREPARE_NO_MEMORY;
  const words = <usize>load<u32>(q + Q_WORK);
  const capacity = fewestDocuments(words, n);
  let list = <usize>load<u32>(part + P_LIST);
  if (!list) {
    list = makeList(capacity);
    if (!list) return PREPARE_NO_MEMORY;
    store<u32>(part + P_LIST, <u32>list);
  }
  const rows = rowsOfList(list, capacity);
  let found = load<u32>(q + Q_WORK_FOUND);
  let row = load<u32>(q + Q_WORK_AT);
  while (row != NONE) {
    if (work < 0) {
      store<u32>(q + Q_WORK_AT, row);
      store<u32>(q + Q_WORK_FOUND, found);
      return PREPARE_MORE;
    }
    row = meet(words, n, row);
    if (row == NONE) break;
    const count = occurrences(words, n);
    if (count) {
      if (!ASC_NO_ASSERT) assert(found < capacity, 'a phrase has no more documents than its rarest word');
      put<u32>(list, found, count - 1);
      put<u16>(rows, found, <u16>row);
      found++;
    }
    row++;
    // A text of 64 KB may have a word 32,000 times.
    work -= <i32>(n * 4 + positionsOf(words, n) / 2);
  }
  openList(cursorOf(part), list, found, capacity, load<u32>(q + Q_LENGTHS), load<u32>(q + Q_WIDTH));
  dropWork(q);
  return max(work, -1);
}
