// Limits the memory of running statements, with a budget for each statement and a budget for all of
// them together. Estimates the size of values in bytes.

import { getHeapStatistics } from 'node:v8';
import type { Value } from '../binder/bound.ts';
import type { Vector } from './values/vector.ts';

/** Maximum number of bytes that one statement may hold, however large the heap is. */
const MOST_OF_ONE = 512 * 2 ** 20;
/**
 * The shares of the heap that one statement and all statements together may use. The rest is for
 * short-lived garbage and everything else.
 */
const SHARE_OF_ONE = 0.2;
const SHARE_OF_ALL = 0.35;

export interface MemoryLimits {
  /** Bytes that one statement may hold. */
  readonly statementBytes: number;
  /** Bytes that all running statements may hold together. */
  readonly totalBytes: number;
}

/** Returns limits that fit the heap of this process. */
export function heapLimits(): MemoryLimits {
  const heap = getHeapStatistics().heap_size_limit;
  return {
    statementBytes: Math.floor(Math.min(MOST_OF_ONE, SHARE_OF_ONE * heap)),
    totalBytes: Math.floor(SHARE_OF_ALL * heap),
  };
}

/** Counts the bytes that all running statements hold. */
export class MemoryPool {
  readonly limits: MemoryLimits;
  #usedBytes = 0;

  constructor(limits: MemoryLimits) {
    this.limits = limits;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /**
   * Takes bytes, or gives them back if `bytes` is negative. Returns false and takes nothing if not
   * enough bytes are left.
   */
  take(bytes: number): boolean {
    const used = this.#usedBytes + bytes;
    if (bytes > 0 && used > this.limits.totalBytes) return false;
    this.#usedBytes = used;
    if (used < 0) throw new Error(`statements gave back ${-used} bytes that they did not hold`);
    return true;
  }
}

const SLOT_BYTES = 8;
const NUMBER_BYTES = 16;
const LIST_BYTES = 32;
const OBJECT_BYTES = 64;
/**
 * Size in bytes of a string header and of the rope (concatenated string) from which the string may
 * result.
 */
const TEXT_BYTES = 48;

export function textBytes(text: string): number {
  return TEXT_BYTES + 2 * text.length;
}

/**
 * Returns the estimated size in bytes of a value and everything to which it refers. The time is
 * linear in this size.
 */
export function valueBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES;
  let bytes = Array.isArray(value) ? LIST_BYTES : OBJECT_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += SLOT_BYTES + valueBytes(item);
  else for (const name in value) bytes += SLOT_BYTES + valueBytes((value as Readonly<Record<string, Value>>)[name]);
  return bytes;
}

/**
 * Counts the bytes of held values. An array of texts or a constant list to which several vectors
 * refer counts once.
 */
export class HeldBytes {
  readonly #seen = new WeakSet<object>();

  /** Returns the size in bytes of a vector's texts, or 0 if the same array was counted before. */
  ofTexts(texts: readonly string[]): number {
    if (this.#seen.has(texts)) return 0;
    this.#seen.add(texts);
    let bytes = 0;
    for (const text of texts) bytes += SLOT_BYTES + textBytes(text);
    return bytes;
  }

  /** Returns the size in bytes of a vector that is kept. */
  ofVector(vector: Vector, count: number): number {
    switch (vector.kind) {
      case 'number':
        return count * 9;
      case 'boolean':
        return count * 2;
      case 'text':
        return count * 5 + this.ofTexts(vector.texts);
      case 'constant':
        return this.#ofConstant(vector.value);
      case 'value': {
        let bytes = LIST_BYTES;
        let last: Value = null;
        for (const value of vector.values) {
          bytes += SLOT_BYTES;
          if (value === last) continue;
          bytes += valueBytes(value);
          last = value;
        }
        return bytes;
      }
    }
  }

  #ofConstant(value: Value): number {
    if (typeof value !== 'object' || value === null) return valueBytes(value);
    if (this.#seen.has(value)) return 0;
    this.#seen.add(value);
    return valueBytes(value);
  }
}

/** Returns the length of the longest text. The result is cached for each array of texts. */
export function longestText(texts: readonly string[]): number {
  let longest = LONGEST.get(texts);
  if (longest === undefined) {
    longest = 0;
    for (let i = 0, end = texts.length; i < end; i++) if (texts[i]!.length > longest) longest = texts[i]!.length;
    LONGEST.set(texts, longest);
  }
  return longest;
}

const LONGEST = new WeakMap<readonly string[], number>();
