// Sorts the nodes of one kind by their keys, in steps and without an object per node: texts by code
// point, integers by value. Nodes with equal keys (one was deleted, another created) are in the
// order of their numbers.
//
// The keys are copied from the dictionary into chunks of 1 MB as UTF-8, whose order by bytes is the
// order by code point. A node is an index from 0; `heads` holds the first six bytes of its key as a
// number (of an integer, its value), so that most comparisons read nothing else. While it sorts, a
// node takes 20 bytes, and its key two bytes more than its size.

import type { KeyDictionary } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { MOST_KEY_BYTES } from '../../model/node-refs.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { NodeKind } from './node-directory.ts';

/** Memory that the caller charges to a budget. */
export interface SortMemory {
  /** Takes bytes, or gives them back if negative. Throws `overloaded`. */
  take(bytes: number): void;
}

const CHUNK_BITS = 20;
const CHUNK_BYTES = 2 ** CHUNK_BITS;
const CHUNK_MASK = CHUNK_BYTES - 1;
/** Offsets of keys are u32. */
const MOST_CHUNKS = 2 ** (32 - CHUNK_BITS);
const SIZE_BYTES = 2;
const HEAD_BYTES = 6;
/** Numbers whose states are looked at, keys copied, and rows merged in one step. */
const NUMBERS_A_STEP = 16_384;
const KEYS_A_STEP = 2048;
const MERGED_A_STEP = 8192;
/** Length of the runs that are sorted natively: about a millisecond each. */
const RUN = 1024;
/** Bytes that a node takes: number, offset and head, and twice an index. */
const BYTES_OF_NODE = 20;
const DIGITS = new TextDecoder();

/** Returns the numbers of all live and dead nodes of a kind, sorted by key and then by number. */
export function* sortedByKey(keys: KeyDictionary, kind: NodeKind, memory: SortMemory): Steps<Uint32Array> {
  const sort = new KeySort(keys, kind, memory);
  try {
    return yield* sort.run();
  } finally {
    sort.close();
  }
}

class KeySort {
  readonly #keys: KeyDictionary;
  readonly #kind: NodeKind;
  readonly #memory: SortMemory;
  #takenBytes = 0;
  #numbers = new Uint32Array(0);
  #offsets = new Uint32Array(0);
  #heads = new Float64Array(0);
  readonly #chunks: Uint8Array[] = [];
  /** Offset in the last chunk at which the next key begins. */
  #end = CHUNK_BYTES;

  constructor(keys: KeyDictionary, kind: NodeKind, memory: SortMemory) {
    this.#keys = keys;
    this.#kind = kind;
    this.#memory = memory;
  }

  close(): void {
    this.#memory.take(-this.#takenBytes);
    this.#takenBytes = 0;
  }

  *run(): Steps<Uint32Array> {
    yield* this.#findNumbers();
    yield* this.#copyKeys();
    const order = yield* this.#sort();
    const numbers = new Uint32Array(order.length);
    for (let from = 0; from < order.length; from += NUMBERS_A_STEP) {
      const to = Math.min(order.length, from + NUMBERS_A_STEP);
      numbersAt(this.#numbers, order, numbers, from, to);
      yield undefined;
    }
    return numbers;
  }

  #take(bytes: number): void {
    this.#memory.take(bytes);
    this.#takenBytes += bytes;
  }

  *#findNumbers(): Steps<void> {
    const end = this.#keys.next;
    const found: number[][] = [];
    let count = 0;
    for (let from = 1; from < end; from += NUMBERS_A_STEP) {
      const some: number[] = [];
      this.#keys.settled(this.#kind.slot, from, Math.min(end, from + NUMBERS_A_STEP), some);
      if (some.length > 0) found.push(some);
      count += some.length;
      this.#take(BYTES_OF_NODE * some.length);
      yield undefined;
    }
    this.#numbers = new Uint32Array(count);
    let at = 0;
    for (const some of found) {
      this.#numbers.set(some, at);
      at += some.length;
      some.length = 0;
      yield undefined;
    }
  }

  *#copyKeys(): Steps<void> {
    const { length } = this.#numbers;
    const { isInteger } = this.#kind;
    this.#heads = new Float64Array(length);
    if (!isInteger) this.#offsets = new Uint32Array(length);
    for (let from = 0; from < length; from += KEYS_A_STEP) {
      const to = Math.min(length, from + KEYS_A_STEP);
      for (let node = from; node < to; node++) {
        if (isInteger) this.#heads[node] = this.#integerOf(node);
        else this.#copyText(node);
      }
      yield undefined;
    }
  }

  #integerOf(node: number): number {
    const bytes = this.#keys.writeKey(this.#numbers[node]!, SCRATCH, 0);
    return Number(DIGITS.decode(SCRATCH.subarray(0, bytes)));
  }

  #copyText(node: number): void {
    if (this.#end + SIZE_BYTES + MOST_KEY_BYTES > CHUNK_BYTES) this.#addChunk();
    const chunk = this.#chunks.at(-1)!;
    const at = this.#end;
    const size = this.#keys.writeKey(this.#numbers[node]!, chunk, at + SIZE_BYTES);
    chunk[at] = size & 0xff;
    chunk[at + 1] = size >>> 8;
    this.#end = at + SIZE_BYTES + size;
    this.#offsets[node] = (this.#chunks.length - 1) * CHUNK_BYTES + at;
    let head = 0;
    for (let i = 0; i < HEAD_BYTES; i++) head = head * 256 + (i < size ? chunk[at + SIZE_BYTES + i]! : 0);
    this.#heads[node] = head;
  }

  #addChunk(): void {
    if (this.#chunks.length === MOST_CHUNKS)
      throw new HedgerowError('overloaded', `The keys of ${this.#kind.name} take more than 4 GB and cannot be sorted.`);
    this.#take(CHUNK_BYTES);
    this.#chunks.push(new Uint8Array(CHUNK_BYTES));
    this.#end = 0;
  }

  /** Returns the indexes of the nodes in order: sorts runs, and merges them pairwise. */
  *#sort(): Steps<Uint32Array> {
    const { length } = this.#numbers;
    let order = new Uint32Array(length);
    let other = new Uint32Array(length);
    const compare = this.#kind.isInteger ? this.#compareIntegers : this.#compareTexts;
    for (let from = 0; from < length; from += RUN) {
      const run = order.subarray(from, Math.min(length, from + RUN));
      for (let i = 0; i < run.length; i++) run[i] = from + i;
      run.sort(compare);
      yield undefined;
    }
    for (let width = RUN; width < length; width *= 2) {
      for (let from = 0; from < length; from += 2 * width) {
        const middle = Math.min(length, from + width);
        yield* merge(order, other, { from, middle, to: Math.min(length, from + 2 * width) }, compare);
      }
      [order, other] = [other, order];
    }
    return order;
  }

  readonly #compareIntegers = (a: number, b: number): number => {
    const difference = this.#heads[a]! - this.#heads[b]!;
    return difference === 0 ? a - b : difference;
  };

  readonly #compareTexts = (a: number, b: number): number => {
    const difference = this.#heads[a]! - this.#heads[b]!;
    if (difference !== 0) return difference;
    const [atA, atB] = [this.#offsets[a]!, this.#offsets[b]!];
    const [chunkA, chunkB] = [this.#chunks[atA >>> CHUNK_BITS]!, this.#chunks[atB >>> CHUNK_BITS]!];
    const order = compareKeys(chunkA, atA & CHUNK_MASK, chunkB, atB & CHUNK_MASK);
    // The numbers ascend with the indexes.
    return order === 0 ? a - b : order;
  };
}

const SCRATCH = new Uint8Array(MOST_KEY_BYTES);

/** Compares two keys, each with its size before it. Keys hold no zero bytes. */
function compareKeys(a: Uint8Array, atA: number, b: Uint8Array, atB: number): number {
  const [sizeA, sizeB] = [a[atA]! + 256 * a[atA + 1]!, b[atB]! + 256 * b[atB + 1]!];
  const common = Math.min(sizeA, sizeB);
  for (let i = HEAD_BYTES; i < common; i++) {
    const difference = a[atA + SIZE_BYTES + i]! - b[atB + SIZE_BYTES + i]!;
    if (difference !== 0) return difference;
  }
  return sizeA - sizeB;
}

function numbersAt(numbers: Uint32Array, order: Uint32Array, into: Uint32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) into[at] = numbers[order[at]!]!;
}

interface Runs {
  readonly from: number;
  readonly middle: number;
  readonly to: number;
}

/** Merges the runs [from, middle) and [middle, to) of `source` into the same place of `target`. */
function* merge(
  source: Uint32Array,
  target: Uint32Array,
  { from, middle, to }: Runs,
  compare: (a: number, b: number) => number,
): Steps<void> {
  const places = { left: from, right: middle };
  for (let at = from; at < to; at += MERGED_A_STEP) {
    mergeSome(source, target, places, { from: at, middle, to }, Math.min(to, at + MERGED_A_STEP), compare);
    yield undefined;
  }
}

/** A separate function, because V8 does not optimize a loop in a generator while it runs. */
function mergeSome(
  source: Uint32Array,
  target: Uint32Array,
  places: { left: number; right: number },
  { from, middle, to }: Runs,
  end: number,
  compare: (a: number, b: number) => number,
): void {
  let { left, right } = places;
  for (let at = from; at < end; at++) {
    const takesLeft = right >= to || (left < middle && compare(source[left]!, source[right]!) <= 0);
    target[at] = source[takesLeft ? left++ : right++]!;
  }
  places.left = left;
  places.right = right;
}
