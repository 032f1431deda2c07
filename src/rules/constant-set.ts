// A set of constants, to each of which a number can be assigned as its code. It consists of many
// small maps, because one map of millions of entries blocks the thread for a tenth of a second
// whenever it grows.

import type { Constant } from './rule.ts';

const SHARD_BITS = 6;

export class ConstantSet {
  readonly numbers: number[] = [];
  readonly texts: string[] = [];
  readonly booleans: boolean[] = [];
  readonly #shards = Array.from({ length: 1 << SHARD_BITS }, () => new Map<Constant, number>());

  get size(): number {
    return this.numbers.length + this.texts.length + this.booleans.length;
  }

  add(value: Constant): void {
    const shard = this.#shards[shardOf(value)]!;
    if (shard.has(value)) return;
    shard.set(value, -1);
    if (typeof value === 'number') this.numbers.push(value);
    else if (typeof value === 'string') this.texts.push(value);
    else this.booleans.push(value);
  }

  /** Assigns a number to a constant that is in the set. */
  setNumber(value: Constant, number: number): void {
    this.#shards[shardOf(value)]!.set(value, number);
  }

  /** Returns the number assigned to a constant, or -1 if there is none. */
  numberOf(value: Constant): number {
    return this.#shards[shardOf(value)]!.get(value) ?? -1;
  }
}

function shardOf(value: Constant): number {
  if (typeof value === 'number') return mixed(value | 0);
  if (typeof value === 'boolean') return 0;
  const { length } = value;
  if (length === 0) return 0;
  const last = value.charCodeAt(length - 1);
  return mixed((last * 31 + value.charCodeAt(length >> 1)) * 31 + value.charCodeAt(Math.max(0, length - 2)) + length);
}

function mixed(bits: number): number {
  return Math.imul(bits, 0x9e3779b1) >>> (32 - SHARD_BITS);
}
