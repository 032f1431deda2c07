// Builds a text block (FORMAT.md section 3) from the words of documents.
//
// All words are placed in the order of their terms by a counting sort, which is a radix sort with
// the term as its only digit: a first pass counts the words of each term, and a second one places
// (document, position) at the next place of its term. The sort is stable and its input is in the
// order of documents and positions, so each term's list ascends by both. The lists are then walked
// twice: once to measure the sizes of the parts, after which the block is allocated, and once to
// write them.
//
// Example: the documents `b a b` and `b` give the lists a: (0, 1) and b: (0, 0) (0, 2) (1, 0).

import { HG_MAX_SEGMENT_ROWS } from '../limits';
import { alloc, free } from '../memory/alloc';
import { after, bytesOf, cell, element, get, put } from '../memory/cells';
import { storePacked } from '../segment/layout';
import { BAD_ARGUMENT, OUT_OF_MEMORY, setPointer } from '../status';
import {
  BLOCK_DOCUMENTS,
  badAt,
  GROUP_BYTES,
  GROUP_TERMS,
  MOST_STORED,
  MOST_TERM_BYTES,
  MOST_WORDS,
  NONE,
  packedBytes,
  putBits,
  putVarint,
  SKIP_BYTES,
  T_BYTES,
  T_DICTIONARY,
  T_DIRECTORY,
  T_DOCUMENTS,
  T_POSTINGS,
  T_TAG,
  T_TERMS,
  T_VERSION,
  T_WIDTH,
  T_WITH_WORDS,
  T_WORDS,
  TEXT_HEADER_BYTES,
  TEXT_MAGIC,
  TEXT_VERSION,
  varintBytes,
  widthOf,
  X_FREQUENCY,
  X_LAST,
  X_LENGTH,
  X_OFFSET,
  X_WIDTHS,
} from './layout';

/**
 * Offsets in the description of a build: the arguments, then the addresses of the arrays of work:
 * u32 ends of the terms' lists (one more entry in front), u32 lengths, u32 bytes of postings,
 * u32 documents of each term, u64 words as (document, position).
 */
const B_DOCUMENTS: usize = 0;
const B_OFFSETS: usize = 4;
const B_STREAM: usize = 8;
const B_TERMS: usize = 12;
const B_TERM_OFFSETS: usize = 16;
const B_TERM_BYTES: usize = 20;
const B_TAG: usize = 24;
const B_STARTS: usize = 28;
const B_LENGTHS: usize = 32;
const B_SIZES: usize = 36;
const B_COUNTS: usize = 40;
const B_WORDS: usize = 44;
const B_TOTAL: usize = 48;
const B_WITH_WORDS: usize = 52;
const B_LONGEST: usize = 56;
const build: usize = memory.data(64, 16);

/** What `survey` finds about a block of postings. */
const F_NEXT: usize = 0;
const F_DOCUMENTS: usize = 4;
const F_LAST: usize = 8;
const F_FREQUENCY: usize = 12;
const F_LENGTH: usize = 16;
const F_WIDTHS: usize = 20;
const F_BYTES: usize = 24;
const facts: usize = memory.data(32, 16);

function field(at: usize): u32 {
  return load<u32>(build + at);
}

function documentOf(word: u64): u32 {
  return <u32>(word >> 32);
}

/** Returns BAD_ARGUMENT with the index of the first offset or term that is out of order, or 0. */
function checkInput(): i32 {
  const documents = field(B_DOCUMENTS);
  const offsets = <usize>field(B_OFFSETS);
  if (documents > HG_MAX_SEGMENT_ROWS || load<u32>(offsets)) return badAt(0);
  for (let d: u32 = 0; d < documents; d++)
    if (after<u32>(offsets, d) < get<u32>(offsets, d) || after<u32>(offsets, d) > MOST_WORDS) return badAt(d);
  const terms = field(B_TERMS);
  if (terms > get<u32>(offsets, documents)) return badAt(terms);
  const termOffsets = <usize>field(B_TERM_OFFSETS);
  for (let t: u32 = 0; t < terms; t++) {
    const size = after<u32>(termOffsets, t) - get<u32>(termOffsets, t);
    if (!size || size > MOST_TERM_BYTES || (t && sharedWithBefore(t) == NONE)) return badAt(t);
  }
  return 0;
}

/** Returns how many bytes term t shares with the term before it, or NONE if it is not above it. */
function sharedWithBefore(t: u32): u32 {
  const offsets = <usize>field(B_TERM_OFFSETS);
  const bytes = <usize>field(B_TERM_BYTES);
  const middle = get<u32>(offsets, t);
  const before = bytes + get<u32>(offsets, t - 1);
  const here = bytes + middle;
  const most = min(middle - get<u32>(offsets, t - 1), after<u32>(offsets, t) - middle);
  let shared: u32 = 0;
  while (shared < most && load<u8>(before + shared) == load<u8>(here + shared)) shared++;
  if (shared == after<u32>(offsets, t) - middle) return NONE;
  return shared < most && load<u8>(before + shared) > load<u8>(here + shared) ? NONE : shared;
}

/** Counts the words of terms and documents. Returns BAD_ARGUMENT for a term that does not exist. */
function countWords(): i32 {
  const documents = field(B_DOCUMENTS);
  const terms = field(B_TERMS);
  const offsets = <usize>field(B_OFFSETS);
  const stream = <usize>field(B_STREAM);
  const starts = <usize>field(B_STARTS);
  let total: u32 = 0;
  let longest: u32 = 0;
  let withWords: u32 = 0;
  for (let d: u32 = 0; d < documents; d++) {
    let length: u32 = 0;
    const end = after<u32>(offsets, d);
    for (let i = get<u32>(offsets, d); i < end; i++) {
      const term = get<u32>(stream, i);
      if (term == NONE) continue;
      if (term >= terms) return badAt(i);
      length++;
      put<u32>(starts, term + 1, get<u32>(starts, term + 1) + 1);
    }
    put<u32>(<usize>field(B_LENGTHS), d, length);
    total += length;
    longest = max(longest, length);
    withWords += u32(length > 0);
  }
  for (let t: u32 = 0; t < terms; t++) if (!after<u32>(starts, t)) return badAt(t);
  store<u32>(build + B_TOTAL, total);
  store<u32>(build + B_LONGEST, longest);
  store<u32>(build + B_WITH_WORDS, withWords);
  return 0;
}

/**
 * Places the words in the order of their terms. Then starts[t] is where the list of term t ends.
 */
function placeWords(): void {
  const documents = field(B_DOCUMENTS);
  const terms = field(B_TERMS);
  const offsets = <usize>field(B_OFFSETS);
  const stream = <usize>field(B_STREAM);
  const starts = <usize>field(B_STARTS);
  const words = <usize>field(B_WORDS);
  for (let t: u32 = 0; t < terms; t++) put<u32>(starts, t + 1, after<u32>(starts, t) + get<u32>(starts, t));
  if (!ASC_NO_ASSERT) assert(get<u32>(starts, terms) == field(B_TOTAL), 'the lists of the terms have all words');
  for (let d: u32 = 0; d < documents; d++) {
    const first = get<u32>(offsets, d);
    const end = after<u32>(offsets, d);
    for (let i = first; i < end; i++) {
      const term = get<u32>(stream, i);
      if (term == NONE) continue;
      const at = get<u32>(starts, term);
      put<u32>(starts, term, at + 1);
      put<u64>(words, at, ((<u64>d) << 32) | <u64>(i - first));
    }
  }
}

/**
 * Describes in `facts` the block of postings that begins with word `from` of a list that ends
 * before word `end`. `before`: the last document of the block before, or NONE.
 */
function survey(from: u32, end: u32, before: u32): void {
  const words = <usize>field(B_WORDS);
  const lengths = <usize>field(B_LENGTHS);
  let last = before;
  let at = from;
  let documents: u32 = 0;
  let mostRow: u32 = 0;
  let mostFrequency: u32 = 0;
  let mostPosition: u32 = 0;
  let leastLength: u32 = NONE;
  while (at < end && documents < BLOCK_DOCUMENTS) {
    const row = documentOf(get<u64>(words, at));
    mostRow = max(mostRow, row - last - 1);
    last = row;
    documents++;
    leastLength = min(leastLength, get<u32>(lengths, row));
    const first = at;
    let previous: u32 = NONE;
    for (; at < end && documentOf(get<u64>(words, at)) == row; at++) {
      const position = <u32>get<u64>(words, at);
      mostPosition = max(mostPosition, position - previous - 1);
      previous = position;
    }
    mostFrequency = max(mostFrequency, at - first);
  }
  const rowBits = widthOf(mostRow);
  const frequencyBits = widthOf(mostFrequency - 1);
  const positionBits = widthOf(mostPosition);
  if (!ASC_NO_ASSERT) assert(rowBits <= 16 && frequencyBits <= 27 && positionBits <= 27, 'widths have their bounds');
  store<u32>(facts + F_NEXT, at);
  store<u32>(facts + F_DOCUMENTS, documents);
  store<u32>(facts + F_LAST, last);
  store<u32>(facts + F_FREQUENCY, min(mostFrequency, MOST_STORED));
  store<u32>(facts + F_LENGTH, min(leastLength, MOST_STORED));
  store<u32>(facts + F_WIDTHS, rowBits | (frequencyBits << 5) | (positionBits << 10));
  store<u32>(
    facts + F_BYTES,
    packedBytes(documents, rowBits) + packedBytes(documents, frequencyBits) + packedBytes(at - from, positionBits),
  );
}

/** Returns where the list of term t begins, after `placeWords`. */
function listStart(t: u32): u32 {
  return t ? get<u32>(<usize>field(B_STARTS), t - 1) : 0;
}

/** Measures the postings of all terms. Returns their size in bytes. */
function measurePostings(): u64 {
  const terms = field(B_TERMS);
  let total: u64 = 0;
  for (let t: u32 = 0; t < terms; t++) {
    const end = get<u32>(<usize>field(B_STARTS), t);
    let at = listStart(t);
    let size: u32 = 2;
    let documents: u32 = 1;
    if (end - at == 1) size = 0;
    else {
      let blocks: u32 = 0;
      let before: u32 = NONE;
      documents = 0;
      for (; at < end; at = load<u32>(facts + F_NEXT)) {
        survey(at, end, before);
        before = load<u32>(facts + F_LAST);
        documents += load<u32>(facts + F_DOCUMENTS);
        size += load<u32>(facts + F_BYTES);
        blocks++;
      }
      if (blocks > 1) size += blocks * <u32>SKIP_BYTES - 2;
    }
    put<u32>(<usize>field(B_SIZES), t, size);
    put<u32>(<usize>field(B_COUNTS), t, documents);
    total += <u64>size;
  }
  return total;
}

/** Writes the dictionary at `out`, or only measures it if `out` is 0. Returns its size in bytes. */
function writeDictionary(out: usize, directory: usize): u64 {
  const terms = field(B_TERMS);
  const offsets = <usize>field(B_TERM_OFFSETS);
  let at: u64 = 0;
  let postings: u32 = 0;
  for (let t: u32 = 0; t < terms; t++) {
    const shared: u32 = t % GROUP_TERMS ? sharedWithBefore(t) : 0;
    const rest = after<u32>(offsets, t) - get<u32>(offsets, t) - shared;
    const size = get<u32>(<usize>field(B_SIZES), t);
    const count = get<u32>(<usize>field(B_COUNTS), t);
    const word = get<u64>(<usize>field(B_WORDS), listStart(t));
    if (out) {
      if (!(t % GROUP_TERMS)) {
        const group = element(directory, t / GROUP_TERMS, GROUP_BYTES);
        store<u32>(group, <u32>at);
        store<u32>(group + 4, postings);
      }
      let to = putVarint(putVarint(out + <usize>at, shared), rest);
      memory.copy(to, <usize>field(B_TERM_BYTES) + get<u32>(offsets, t) + shared, rest);
      to = putVarint(to + rest, size ? count : 0);
      if (size) putVarint(to, size);
      else {
        store<u16>(to, <u16>documentOf(word));
        putVarint(to + 2, <u32>word);
      }
    }
    const tail = size ? varintBytes(count) + varintBytes(size) : 3 + varintBytes(<u32>word);
    at += <u64>(varintBytes(shared) + varintBytes(rest) + rest + tail);
    postings += size;
  }
  return at;
}

/** Writes the block of postings that `survey` has described. Returns its end. */
function writeBlock(out: usize, from: u32, before: u32): usize {
  const words = <usize>field(B_WORDS);
  const widths = load<u32>(facts + F_WIDTHS);
  const documents = load<u32>(facts + F_DOCUMENTS);
  const next = load<u32>(facts + F_NEXT);
  const rowBits = widths & 31;
  const frequencyBits = (widths >> 5) & 31;
  const positionBits = widths >> 10;
  const frequencies = out + packedBytes(documents, rowBits);
  const positions = frequencies + packedBytes(documents, frequencyBits);
  let at = from;
  let last = before;
  for (let i: u32 = 0; i < documents; i++) {
    const row = documentOf(get<u64>(words, at));
    putBits(out, i, rowBits, row - last - 1);
    last = row;
    const first = at;
    let previous: u32 = NONE;
    for (; at < next && documentOf(get<u64>(words, at)) == row; at++) {
      const position = <u32>get<u64>(words, at);
      putBits(positions, at - from, positionBits, position - previous - 1);
      previous = position;
    }
    putBits(frequencies, i, frequencyBits, at - first - 1);
  }
  if (!ASC_NO_ASSERT) assert(at == next, 'a block has the words of its survey');
  return out + load<u32>(facts + F_BYTES);
}

/** Writes the postings of all terms at `out`. Returns their end. */
function writePostings(out: usize): usize {
  const terms = field(B_TERMS);
  for (let t: u32 = 0; t < terms; t++) {
    if (!get<u32>(<usize>field(B_SIZES), t)) continue;
    const end = get<u32>(<usize>field(B_STARTS), t);
    const blocks = (get<u32>(<usize>field(B_COUNTS), t) + BLOCK_DOCUMENTS - 1) / BLOCK_DOCUMENTS;
    const data = blocks > 1 ? element(out, blocks, SKIP_BYTES) : out + 2;
    let entry = out;
    let to = data;
    let before: u32 = NONE;
    for (let at = listStart(t); at < end; at = load<u32>(facts + F_NEXT)) {
      survey(at, end, before);
      if (blocks > 1) {
        store<u32>(entry + X_OFFSET, <u32>(to - data));
        store<u16>(entry + X_LAST, <u16>load<u32>(facts + F_LAST));
        store<u16>(entry + X_FREQUENCY, <u16>load<u32>(facts + F_FREQUENCY));
        store<u16>(entry + X_LENGTH, <u16>load<u32>(facts + F_LENGTH));
        store<u16>(entry + X_WIDTHS, <u16>load<u32>(facts + F_WIDTHS));
        entry += SKIP_BYTES;
      } else store<u16>(out, <u16>load<u32>(facts + F_WIDTHS));
      to = writeBlock(to, at, before);
      before = load<u32>(facts + F_LAST);
    }
    if (!ASC_NO_ASSERT) assert(to - out == get<u32>(<usize>field(B_SIZES), t), 'postings have their measured size');
    out = to;
  }
  return out;
}

/** Measures, allocates and writes the block. Returns its size, BAD_ARGUMENT or OUT_OF_MEMORY. */
function assemble(): i32 {
  const status = countWords();
  if (status) return status;
  placeWords();
  const documents = field(B_DOCUMENTS);
  const longest = field(B_LONGEST);
  const width: u32 = longest < 256 ? 1 : longest < 65536 ? 2 : 4;
  const groups = (field(B_TERMS) + GROUP_TERMS - 1) / GROUP_TERMS;
  const postingBytes = measurePostings();
  const directory = (<u32>TEXT_HEADER_BYTES + documents * width + 7) & ~7;
  const dictionary = directory + groups * <u32>GROUP_BYTES;
  const postings = <u64>dictionary + writeDictionary(0, 0);
  const bytes = postings + postingBytes;
  if (bytes > 0x7fffffff) return BAD_ARGUMENT;
  const block = alloc(<u32>bytes);
  if (!block) return OUT_OF_MEMORY;
  memory.fill(block, 0, <usize>bytes);
  store<u32>(block, TEXT_MAGIC);
  store<u32>(block + T_VERSION, TEXT_VERSION);
  store<u32>(block + T_BYTES, <u32>bytes);
  store<u32>(block + T_DOCUMENTS, documents);
  store<u32>(block + T_WITH_WORDS, field(B_WITH_WORDS));
  store<u32>(block + T_TERMS, field(B_TERMS));
  store<u64>(block + T_WORDS, <u64>field(B_TOTAL));
  store<u32>(block + T_TAG, field(B_TAG));
  store<u32>(block + T_WIDTH, width);
  store<u32>(block + T_DIRECTORY, directory);
  store<u32>(block + T_DICTIONARY, dictionary);
  store<u32>(block + T_POSTINGS, <u32>postings);
  for (let d: u32 = 0; d < documents; d++)
    storePacked(block + TEXT_HEADER_BYTES, width, d, <u64>get<u32>(<usize>field(B_LENGTHS), d));
  writeDictionary(block + dictionary, block + directory);
  const end = writePostings(block + <usize>postings);
  if (!ASC_NO_ASSERT) assert(end == block + <usize>bytes, 'a block has its measured size');
  setPointer(block);
  return <i32>bytes;
}

/**
 * Builds the text block of `documents` documents. `stream`: u32 ordinal of the term at each
 * position of all documents, or NONE; `offsets`: u32[documents + 1], where each begins. The terms
 * are distinct and ascend by their bytes; `termOffsets`: u32[terms + 1], where each begins in
 * `termBytes`. Each term must occur. `tag` is kept in the header.
 *
 * Returns the size of the block in bytes; `hg_result_pointer` returns its address, and the caller
 * frees it. Returns BAD_ARGUMENT if an argument is not like that (`hg_result_offset`: at which
 * document, position or term), for more than 65,536 documents or 2^27 positions, and for a block of
 * 2 GiB or more. Returns OUT_OF_MEMORY if memory cannot grow. Uses 8 bytes per word, 12 per term
 * and 4 per document while it runs. Cost: about 30 ns per word.
 */
export function buildText(
  documents: u32,
  offsets: usize,
  stream: usize,
  terms: u32,
  termOffsets: usize,
  termBytes: usize,
  tag: u32,
): i32 {
  store<u32>(build + B_DOCUMENTS, documents);
  store<u32>(build + B_OFFSETS, <u32>offsets);
  store<u32>(build + B_STREAM, <u32>stream);
  store<u32>(build + B_TERMS, terms);
  store<u32>(build + B_TERM_OFFSETS, <u32>termOffsets);
  store<u32>(build + B_TERM_BYTES, <u32>termBytes);
  store<u32>(build + B_TAG, tag);
  const status = checkInput();
  if (status) return status;
  const n = get<u32>(offsets, documents);
  const words = alloc(<u32>bytesOf<u64>(n));
  const work = alloc(<u32>bytesOf<u32>(terms * 3 + documents + 1));
  let bytes = OUT_OF_MEMORY;
  if (words && work) {
    memory.fill(work, 0, bytesOf<u32>(terms + 1));
    store<u32>(build + B_WORDS, <u32>words);
    store<u32>(build + B_STARTS, <u32>work);
    store<u32>(build + B_SIZES, <u32>cell<u32>(work, terms + 1));
    store<u32>(build + B_COUNTS, <u32>cell<u32>(work, terms * 2 + 1));
    store<u32>(build + B_LENGTHS, <u32>cell<u32>(work, terms * 3 + 1));
    bytes = assemble();
  }
  free(words);
  free(work);
  return bytes;
}
