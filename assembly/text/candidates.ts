// Finds the documents in a window that may be among the best, list by list.
//
// The loops run over whole lists without a jump that depends on the data: which documents are kept
// cannot be predicted, and a jump that is predicted wrongly takes as long as scoring a document. A
// loop writes each document at the end of the list of those that are kept, and moves this end only
// if the document is kept.
//
// First, the documents of an essential part are compared with the table of needed frequencies
// (needed.ts). Then the other parts are looked at, from the last in the order of the parts to the
// first: the frequencies of the part are spread out by document, so that each candidate finds its
// own at once. Its score so far is known then, and what the parts before may add is a table too.
//
// A part with a column (columns.ts) has its frequencies by document already.

import { alloc } from '../memory/alloc';
import { bytesOf, cell, get, put } from '../memory/cells';
import { groupOf, inColumn } from './columns';
import {
  C_COUNT,
  C_ROW,
  C_ROWS,
  endsBefore,
  firstBlock,
  frequenciesOfBlock,
  isOpen,
  placeInBlock,
  seekAny,
  turnTo,
} from './cursor';
import { classAt, lengthAt, MOST_IN_COLUMN, NONE } from './layout';
import { MANY, SLACK } from './needed';
import {
  cursorOf,
  ordered,
  P_BELOW,
  P_COLUMN,
  P_LIMITS,
  P_NEED,
  P_UNDER,
  P_WEIGHT,
  Q_CLASSES,
  Q_FLOOR,
  Q_LENGTHS,
  Q_NORMS,
  Q_PAIR,
  Q_SCORED,
  Q_WIDTH,
  Q_WORKSPACE,
} from './query';
import { boundOfBlock, limitOf, valueOf, valueWith } from './scores';
import { MOST_UNPACKED } from './unpack';

/** Maximum number of documents in a window, whether or not a part has them. */
const WINDOW: u32 = 2048;
const LEAST_WINDOW: u32 = 128;
/** Maximum number of documents in a window, times the number of parts. */
const MOST_WORK: u32 = 32768;

/**
 * Offsets in the workspace of a search. Candidates, at most WINDOW: u32 each, bits 0 to 15 the
 * document, bits 16 to 23 the class of its length, bits 24 to 31 its frequency less 1 in the
 * part that was collected. Their scores so far, f64 each. Frequencies in a part by document of the
 * window, 0: none, 255: that or more. Candidates of several parts: a bit per document.
 */
const S_CANDIDATES: usize = 0;
const S_SUMS: usize = 4 * <usize>WINDOW;
const S_SPREAD: usize = 12 * <usize>WINDOW;
const S_MARKS: usize = 13 * <usize>WINDOW;
const WORKSPACE_BYTES: u32 = 13 * WINDOW + WINDOW / 8;

/** Makes the workspace of a query, if it has none. Returns false if out of memory. */
export function makeWorkspace(q: usize): bool {
  if (load<u32>(q + Q_WORKSPACE)) return true;
  const space = alloc(WORKSPACE_BYTES);
  if (!space) return false;
  memory.fill(space + S_SPREAD, 0, WORKSPACE_BYTES - S_SPREAD);
  store<u32>(q + Q_WORKSPACE, <u32>space);
  return true;
}

function spaceOf(q: usize, offset: usize): usize {
  return <usize>load<u32>(q + Q_WORKSPACE) + offset;
}

/** Returns how many documents a window has in a search with `n` parts. */
export function windowFor(n: u32): u32 {
  return max(LEAST_WINDOW, min(WINDOW, MOST_WORK / max(n, 1)));
}

/** Returns what a part adds to the score of a document. Moves its cursor, if it has no column. */
export function valueAt(q: usize, part: usize, row: u32): f64 {
  const column = <usize>load<u32>(part + P_COLUMN);
  if (column) {
    const frequency = inColumn(column, row);
    if (!frequency) return 0;
    if (frequency < MOST_IN_COLUMN) return valueWith(q, part, row, frequency);
  }
  const c = cursorOf(part);
  seekAny(c, row);
  return load<u32>(c + C_ROW) == row ? valueOf(q, part) : 0;
}

/** Returns the document of a candidate. */
export function candidateAt(q: usize, index: u32): u32 {
  return get<u32>(spaceOf(q, S_CANDIDATES), index) & 0xffff;
}

/** Returns the score of a candidate after `refine`, at most one part in 10^9 too low. */
export function sumAt(q: usize, index: u32): f64 {
  return get<f64>(spaceOf(q, S_SUMS), index);
}

/** Places in a block of the documents that were chosen, and one more that was not: u8 each. */
const chosen: usize = memory.data(136, 16);

/**
 * Makes the candidates those documents of a part in [row, end] that may be among the best. Blocks
 * that cannot have any are not unpacked; of a column, only `groups` are read (groups.ts). Returns
 * how many there are. Cost: 2 ns per document.
 */
export function collect(q: usize, part: usize, row: u32, end: u32, groups: u64): u32 {
  if (ASC_FEATURE_SIMD) {
    if (load<u32>(part + P_COLUMN)) return collectColumn(q, part, row, end, groups);
  }
  const c = cursorOf(part);
  const candidates = spaceOf(q, S_CANDIDATES);
  let n: u32 = 0;
  const width = load<u32>(q + Q_WIDTH);
  const lengths = <usize>load<u32>(q + Q_LENGTHS);
  const least = load<f64>(q + Q_FLOOR) * SLACK - load<f64>(part + P_BELOW);
  for (let b = firstBlock(c, row); isOpen(c, b, end); b++) {
    if (boundOfBlock(q, part, b) < least) continue;
    turnTo(c, b);
    const rows = <usize>load<u32>(c + C_ROWS);
    const first = <u32>get<u16>(rows, 0) < row ? placeInBlock(c, row) : 0;
    const to = endsBefore(c, b, end) ? load<u32>(c + C_COUNT) : placeInBlock(c, end + 1);
    const from = frequenciesOfBlock(c);
    const kept =
      width == 1 ? chooseShort(part, lengths, rows, from, first, to) : chooseLong(q, part, rows, from, first, to);
    for (let i: u32 = 0; i < kept; i++) {
      const at = <u32>get<u8>(chosen, i);
      const d = <u32>get<u16>(rows, at);
      const length = classAt(lengths, width, d);
      put<u32>(candidates, n++, d | (length << 16) | ((<u32>get<u8>(from, at)) << 24));
    }
  }
  return n;
}

/**
 * As `collect`, from the column of the part. Cost: 0.2 ns per document of the groups.
 */
function collectColumn(q: usize, part: usize, row: u32, end: u32, groups: u64): u32 {
  const column = <usize>load<u32>(part + P_COLUMN);
  const limits = v128.load(part + P_LIMITS);
  const lower = i8x16.splat(15);
  let n: u32 = 0;
  for (; groups; groups &= groups - 1) {
    const group = (row & ~31) + ((<u32>ctz(groups)) << 5);
    const both = v128.load(groupOf(column, group));
    const first = v128.and(both, lower);
    const second = v128.and(i16x8.shr_u(both, 4), lower);
    const lengths = classesFrom(q, group);
    const bits =
      bitsOf(first, i8x16.swizzle(limits, first), lengths, 0) |
      bitsOf(second, i8x16.swizzle(limits, second), lengths, 16);
    n = addBits(q, n, within(bits, group, row, end), group, column);
  }
  return n;
}

/**
 * As `collect` for the last part in the order, of which a candidate must be, but looks at the part
 * before it at the same time. Both have columns. Cost: 0.2 ns per document of the groups.
 */
export function collectPair(q: usize, row: u32, end: u32, groups: u64): u32 {
  const n = load<u32>(q + Q_SCORED);
  const last = <usize>load<u32>(ordered(q, n - 1) + P_COLUMN);
  const other = <usize>load<u32>(ordered(q, n - 2) + P_COLUMN);
  const limits = v128.load(q + Q_PAIR);
  const lower = i8x16.splat(15);
  const many = i8x16.splat(<i8>MANY);
  let found: u32 = 0;
  for (; groups; groups &= groups - 1) {
    const group = (row & ~31) + ((<u32>ctz(groups)) << 5);
    const a = v128.load(groupOf(last, group));
    const b = v128.load(groupOf(other, group));
    const first = i8x16.min_u(v128.and(a, lower), many);
    const second = i8x16.min_u(v128.and(i16x8.shr_u(a, 4), lower), many);
    const firstPair = v128.or(i16x8.shl(first, 2), i8x16.min_u(v128.and(b, lower), many));
    const secondPair = v128.or(i16x8.shl(second, 2), i8x16.min_u(v128.and(i16x8.shr_u(b, 4), lower), many));
    const lengths = classesFrom(q, group);
    const bits =
      bitsOf(first, i8x16.swizzle(limits, firstPair), lengths, 0) |
      bitsOf(second, i8x16.swizzle(limits, secondPair), lengths, 16);
    found = addBits(q, found, within(bits, group, row, end), group, last);
  }
  return found;
}

/** Returns the address of the classes of the lengths of the documents from `row` on. */
function classesFrom(q: usize, row: u32): usize {
  return <usize>load<u32>(q + Q_CLASSES) + row;
}

/**
 * Returns the bits of those of 16 documents that have a word (`frequencies`) and are not longer
 * than they may be (`longest`), from bit `shift` on.
 */
function bitsOf(frequencies: v128, longest: v128, lengths: usize, shift: u32): u32 {
  const fits = i8x16.le_u(v128.load(lengths + <usize>shift), longest);
  return (<u32>i8x16.bitmask(v128.and(fits, i8x16.ne(frequencies, i8x16.splat(0))))) << shift;
}

/** Returns the bits of those of 32 documents from `group` on that are in [row, end]. */
function within(bits: u32, group: u32, row: u32, end: u32): u32 {
  if (group < row) bits &= u32.MAX_VALUE << (row - group);
  return end - group < 31 ? bits & (((<u32>2) << (end - group)) - 1) : bits;
}

/** Adds to `n` candidates the documents from `row` on whose bits are set. Returns their number. */
function addBits(q: usize, n: u32, bits: u32, row: u32, column: usize): u32 {
  for (; bits; bits &= bits - 1) {
    const d = row + <u32>ctz(bits);
    const length = <u32>load<u8>(classesFrom(q, d));
    put<u32>(spaceOf(q, S_CANDIDATES), n++, d | (length << 16) | ((storedOf(inColumn(column, d)) - 1) << 24));
  }
  return n;
}

/** Returns a frequency of a column as it is spread out: 255 is that or more. */
function storedOf(frequency: u32): u32 {
  return frequency == MOST_IN_COLUMN ? MOST_UNPACKED + 1 : frequency;
}

/** Chooses places of documents of a block, if lengths are bytes. Returns how many. */
function chooseShort(part: usize, lengths: usize, rows: usize, from: usize, at: u32, to: u32): u32 {
  const needed = part + P_NEED;
  let kept: u32 = 0;
  for (; at + 4 <= to; at += 4) {
    const four = load<u64>(cell<u16>(rows, at));
    const frequencies = load<u32>(from + at);
    put<u8>(chosen, kept, <u8>at);
    kept += u32((frequencies & 255) >= <u32>get<u8>(needed, load<u8>(lengths + <usize>(four & 0xffff))));
    put<u8>(chosen, kept, <u8>(at + 1));
    kept += u32(((frequencies >> 8) & 255) >= <u32>get<u8>(needed, load<u8>(lengths + <usize>((four >> 16) & 0xffff))));
    put<u8>(chosen, kept, <u8>(at + 2));
    kept += u32(
      ((frequencies >> 16) & 255) >= <u32>get<u8>(needed, load<u8>(lengths + <usize>((four >> 32) & 0xffff))),
    );
    put<u8>(chosen, kept, <u8>(at + 3));
    kept += u32(frequencies >> 24 >= <u32>get<u8>(needed, load<u8>(lengths + <usize>(four >> 48))));
  }
  for (; at < to; at++) {
    put<u8>(chosen, kept, <u8>at);
    kept += u32(get<u8>(from, at) >= get<u8>(needed, load<u8>(lengths + get<u16>(rows, at))));
  }
  return kept;
}

/** Chooses places of documents of a block, whatever the lengths are. Returns how many. */
function chooseLong(q: usize, part: usize, rows: usize, from: usize, at: u32, to: u32): u32 {
  const width = load<u32>(q + Q_WIDTH);
  const lengths = <usize>load<u32>(q + Q_LENGTHS);
  let kept: u32 = 0;
  for (; at < to; at++) {
    put<u8>(chosen, kept, <u8>at);
    const length = classAt(lengths, width, get<u16>(rows, at));
    kept += u32(get<u8>(from, at) >= get<u8>(part + P_NEED, length));
  }
  return kept;
}

/** Marks the first `n` candidates. `row`: the first document of the window. */
export function mark(q: usize, n: u32, row: u32): void {
  const candidates = spaceOf(q, S_CANDIDATES);
  const marks = spaceOf(q, S_MARKS);
  for (let i: u32 = 0; i < n; i++) {
    const at = (get<u32>(candidates, i) & 0xffff) - row;
    const word = cell<u64>(marks, at >> 6);
    store<u64>(word, load<u64>(word) | ((<u64>1) << (<u64>(at & 63))));
  }
}

/**
 * Makes the marked documents the candidates, ascending and without frequencies, and removes the
 * marks. Returns how many there are.
 */
export function takeMarked(q: usize, row: u32): u32 {
  const candidates = spaceOf(q, S_CANDIDATES);
  const marks = spaceOf(q, S_MARKS);
  const width = load<u32>(q + Q_WIDTH);
  const lengths = <usize>load<u32>(q + Q_LENGTHS);
  let n: u32 = 0;
  for (let word: u32 = 0; word < WINDOW >> 6; word++) {
    for (let bits = get<u64>(marks, word); bits; bits &= bits - 1) {
      const d = row + (word << 6) + <u32>ctz(bits);
      put<u32>(candidates, n++, d | (classAt(lengths, width, d) << 16));
    }
    put<u64>(marks, word, 0);
  }
  return n;
}

/**
 * Keeps those of the first `n` candidates that may be among the best when the frequencies of all
 * parts are known. `row`, `end`: the window. `known`: whether they were collected from the last
 * part in the order, and only from it. Returns how many are left.
 */
export function refine(q: usize, n: u32, row: u32, end: u32, known: bool): u32 {
  let i = load<u32>(q + Q_SCORED);
  if (known) begin(q, ordered(q, --i), n);
  else memory.fill(spaceOf(q, S_SUMS), 0, bytesOf<f64>(n));
  for (; i && n; i--) n = refineBy(q, ordered(q, i - 1), n, row, end);
  return n;
}

/** Returns what a part adds to a score, at most. `stored`: the frequency, 255: that or more. */
function valueUpTo(limit: f64, stored: u32, norm: f64): f64 {
  const frequency = <f64>(stored + (u32(stored > MOST_UNPACKED) << 24));
  return (limit * frequency) / (frequency + norm);
}

/** Sets the scores of the first `n` candidates to the values of the part that was collected. */
function begin(q: usize, part: usize, n: u32): void {
  const candidates = spaceOf(q, S_CANDIDATES);
  const sums = spaceOf(q, S_SUMS);
  const limit = limitOf(load<f64>(part + P_WEIGHT));
  for (let i: u32 = 0; i < n; i++) {
    const candidate = get<u32>(candidates, i);
    put<f64>(sums, i, valueUpTo(limit, (candidate >> 24) + 1, get<f64>(q + Q_NORMS, (candidate >> 16) & 255)));
  }
}

/** Adds the values of a part to the scores, and keeps those that may still be enough. */
function refineBy(q: usize, part: usize, n: u32, row: u32, end: u32): u32 {
  const c = cursorOf(part);
  const candidates = spaceOf(q, S_CANDIDATES);
  const sums = spaceOf(q, S_SUMS);
  const column = <usize>load<u32>(part + P_COLUMN);
  const base = spaceOf(q, S_SPREAD) - row;
  const limit = limitOf(load<f64>(part + P_WEIGHT));
  const least = load<f64>(q + Q_FLOOR) * SLACK;
  for (let b = column ? NONE : firstBlock(c, row); isOpen(c, b, end); b++) {
    turnTo(c, b);
    const rows = <usize>load<u32>(c + C_ROWS);
    const first = <u32>get<u16>(rows, 0) < row ? placeInBlock(c, row) : 0;
    const to = endsBefore(c, b, end) ? load<u32>(c + C_COUNT) : placeInBlock(c, end + 1);
    spreadOut(base, rows, frequenciesOfBlock(c), first, to);
  }
  let kept: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const candidate = get<u32>(candidates, i);
    const length = (candidate >> 16) & 255;
    const d = candidate & 0xffff;
    const stored = column ? storedOf(inColumn(column, d)) : <u32>load<u8>(base + d);
    const sum = get<f64>(sums, i) + valueUpTo(limit, stored, get<f64>(q + Q_NORMS, length));
    put<u32>(candidates, kept, candidate);
    put<f64>(sums, kept, sum);
    kept += u32(sum + <f64>get<f32>(part + P_UNDER, length) >= least);
  }
  if (!column) memory.fill(base + row, 0, end - row + 1);
  return kept;
}

/** Writes the frequencies at places [at, to) of a block by document. */
function spreadOut(base: usize, rows: usize, from: usize, at: u32, to: u32): void {
  for (; at + 4 <= to; at += 4) {
    const four = load<u64>(cell<u16>(rows, at));
    const frequencies = load<u32>(from + at) + 0x01010101;
    store<u8>(base + <usize>(four & 0xffff), <u8>frequencies);
    store<u8>(base + <usize>((four >> 16) & 0xffff), <u8>(frequencies >> 8));
    store<u8>(base + <usize>((four >> 32) & 0xffff), <u8>(frequencies >> 16));
    store<u8>(base + <usize>(four >> 48), <u8>(frequencies >> 24));
  }
  for (; at < to; at++) store<u8>(base + get<u16>(rows, at), get<u8>(from, at) + 1);
}
