// Divides texts into words as they are written, and numbers the distinct ones, so that each is
// folded and stemmed once for all its occurrences (README.md, "Words of texts").
//
// A text is cut at ASCII white space. A piece of ASCII is divided by the short form of UAX 29 that
// src/text/words.ts has too; any other piece is taken as it is, and its words are found later.
//
// Distinct words are in a table with open addressing and linear probing, at most half full. A slot
// is u64: 0, or the upper half of the hash and, below it, the number of the word + 1. The hash is
// keyed, so nobody can choose words that share their slots. A word is kept as the place where it
// first occurs, so the texts must stay where they are.

import { sipHash } from '../keys/siphash';
import { alloc, free } from '../memory/alloc';
import { bytesOf, element, get, put } from '../memory/cells';
import { OUT_OF_MEMORY, setPointer } from '../status';
import { NONE } from './layout';

/**
 * Offsets in the state: u64 slots, their number - 1; {u32 address, u32 bytes} of each word, for how
 * many there is space, their number; u32 of each position, the same.
 */
const W_SLOTS: usize = 0;
const W_MASK: usize = 4;
const W_WORDS: usize = 8;
const W_WORD_SPACE: usize = 12;
const W_WORD_COUNT: usize = 16;
const W_STREAM: usize = 20;
const W_STREAM_SPACE: usize = 24;
const W_STREAM_COUNT: usize = 28;
const STATE_BYTES: u32 = 32;
const WORD_BYTES: usize = 8;

const FIRST_WORDS: u32 = 1024;
const FIRST_POSITIONS: u32 = 4096;
/** Distinguishes these hashes from those of keys. */
const TWEAK: u32 = 0x776f7264;

/**
 * Kinds of ASCII characters: 0 none of these, 1 letter, 2 digit, 3 `_`; 4 `'` and `.`, which join
 * letters and digits; 5 `:`, letters; 6 `,` and `;`, digits. Those up to 3 always join each other
 * (WB5, WB8 to WB13b).
 */
// biome-ignore format: 16 characters a line
const kinds: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 6, 0, 4, 0,
  2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 5, 6, 0, 0, 0, 0,
  0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 3,
  0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0,
]);
const LETTER: u8 = 1;
const UNDERSCORE: u8 = 3;
const MID_BOTH: u8 = 4;
const MID_LETTERS: u8 = 5;
const MID_DIGITS: u8 = 6;

/** Makes a state without words; its address is `hg_result_pointer`. */
export function makeWords(): i32 {
  const state = alloc(STATE_BYTES);
  if (!state) return OUT_OF_MEMORY;
  memory.fill(state, 0, STATE_BYTES);
  setPointer(<u32>state);
  return 0;
}

/** Frees a state and its arrays. */
export function freeWords(state: usize): void {
  free(load<u32>(state + W_SLOTS));
  free(load<u32>(state + W_WORDS));
  free(load<u32>(state + W_STREAM));
  free(state);
}

/** Appends the words of a text to the stream. After OUT_OF_MEMORY, only `freeWords` is allowed. */
export function addText(state: usize, text: usize, bytes: u32): i32 {
  const end = text + bytes;
  for (let at = text; at < end; at++) {
    const start = at;
    let bits: u8 = 0;
    for (; at < end; at++) {
      const byte = load<u8>(at);
      if (byte == 0x20 || <u8>(byte - 0x09) < 5) break;
      bits |= byte;
    }
    if (start == at) continue;
    if (!(bits < 0x80 ? addAscii(state, start, at) : addWord(state, start, <u32>(at - start)))) return OUT_OF_MEMORY;
  }
  return 0;
}

/** Appends a position without a word. */
export function addGap(state: usize): i32 {
  return push(state, NONE) ? 0 : OUT_OF_MEMORY;
}

/** Appends the words of ASCII characters, none of which is white space. */
function addAscii(state: usize, from: usize, end: usize): bool {
  for (let at = from; at < end; at++) {
    let kind = load<u8>(kinds + load<u8>(at));
    if (!kind || kind > UNDERSCORE) continue;
    const first = at;
    let counts = kind != UNDERSCORE;
    for (at++; at < end; at++) {
      const next = load<u8>(kinds + load<u8>(at));
      if (!next) break;
      if (next <= UNDERSCORE) {
        kind = next;
        if (next != UNDERSCORE) counts = true;
        continue;
      }
      // WB6, WB7, WB11, WB12: punctuation joins what is on both of its sides.
      if (next != MID_BOTH && next != (kind == LETTER ? MID_LETTERS : MID_DIGITS)) break;
      if (kind == UNDERSCORE || at + 1 == end || load<u8>(kinds + load<u8>(at + 1)) != kind) break;
    }
    if (counts && !addWord(state, first, <u32>(at - first))) return false;
  }
  return true;
}

/** Appends the number of a word, which it gets if it is new. */
function addWord(state: usize, word: usize, bytes: u32): bool {
  if (load<u32>(state + W_WORD_COUNT) == load<u32>(state + W_WORD_SPACE) && !growWords(state)) return false;
  const hash = sipHash(word, bytes, TWEAK);
  const upper = hash & 0xffffffff00000000;
  const slots = <usize>load<u32>(state + W_SLOTS);
  const words = <usize>load<u32>(state + W_WORDS);
  const mask = load<u32>(state + W_MASK);
  let place = <u32>hash & mask;
  while (true) {
    const slot = get<u64>(slots, place);
    if (!slot) {
      const count = load<u32>(state + W_WORD_COUNT);
      const entry = element(words, count, WORD_BYTES);
      store<u32>(entry, <u32>word);
      store<u32>(entry, bytes, 4);
      put<u64>(slots, place, upper | (count + 1));
      store<u32>(state + W_WORD_COUNT, count + 1);
      return push(state, count);
    }
    if ((slot & 0xffffffff00000000) == upper) {
      const number = <u32>slot - 1;
      const entry = element(words, number, WORD_BYTES);
      if (load<u32>(entry, 4) == bytes && !memory.compare(load<u32>(entry), word, bytes)) return push(state, number);
    }
    place = (place + 1) & mask;
  }
}

function push(state: usize, number: u32): bool {
  const count = load<u32>(state + W_STREAM_COUNT);
  if (count == load<u32>(state + W_STREAM_SPACE) && !growStream(state, count)) return false;
  put<u32>(load<u32>(state + W_STREAM), count, number);
  store<u32>(state + W_STREAM_COUNT, count + 1);
  return true;
}

function growStream(state: usize, count: u32): bool {
  const space = count ? 2 * count : FIRST_POSITIONS;
  const stream = alloc(<u32>bytesOf<u32>(space));
  if (!stream) return false;
  const old = <usize>load<u32>(state + W_STREAM);
  memory.copy(stream, old, bytesOf<u32>(count));
  free(old);
  store<u32>(state + W_STREAM, <u32>stream);
  store<u32>(state + W_STREAM_SPACE, space);
  return true;
}

/** Doubles the space for words, and puts them into new slots. */
function growWords(state: usize): bool {
  const count = load<u32>(state + W_WORD_COUNT);
  const space = count ? 2 * count : FIRST_WORDS;
  const slotBytes = <u32>bytesOf<u64>(2 * space);
  const words = alloc(space * <u32>WORD_BYTES);
  const slots = words ? alloc(slotBytes) : 0;
  if (!slots) {
    free(words);
    return false;
  }
  const old = <usize>load<u32>(state + W_WORDS);
  memory.copy(words, old, <usize>count * WORD_BYTES);
  free(old);
  free(load<u32>(state + W_SLOTS));
  memory.fill(slots, 0, slotBytes);
  const mask = 2 * space - 1;
  for (let number: u32 = 0; number < count; number++) {
    const entry = element(words, number, WORD_BYTES);
    const hash = sipHash(load<u32>(entry), load<u32>(entry, 4), TWEAK);
    let place = <u32>hash & mask;
    while (get<u64>(slots, place)) place = (place + 1) & mask;
    put<u64>(slots, place, (hash & 0xffffffff00000000) | (number + 1));
  }
  store<u32>(state + W_SLOTS, <u32>slots);
  store<u32>(state + W_MASK, mask);
  store<u32>(state + W_WORDS, <u32>words);
  store<u32>(state + W_WORD_SPACE, space);
  return true;
}

/** Returns a field of a state; the numbers are in README.md. */
export function wordsField(state: usize, field: u32): u32 {
  if (field == 0) return load<u32>(state + W_STREAM_COUNT);
  if (field == 1) return load<u32>(state + W_STREAM);
  if (field == 2) return load<u32>(state + W_WORD_COUNT);
  return field == 3 ? load<u32>(state + W_WORDS) : 0;
}
