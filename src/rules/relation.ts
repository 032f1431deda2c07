// The facts of one predicate as columns of numbers that stand for constants (interner.ts). Each
// fact is stored once, with its confidence and its derivation.
//
// Invariants: Rows are never moved or removed. Each premise of a row has a higher confidence than
// the row, or the same confidence and a lower depth. So no fact rests on itself.

import type { Steps } from '../schedule/steps.ts';

/**
 * Pairs of constants are looked up in a table of all possible pairs if this table has at most this
 * many entries (64 MB), and at most four times as many as a hash table would have.
 */
const MOST_PAIRS = 2 ** 24;
/** Up to this many rows, arrays grow at once; beyond that, `makeRoom` lets them grow in steps. */
const FEW_ROWS = 16_384;
/** Number of rows that one step of growing handles. This takes a fraction of a millisecond. */
const STEP_ROWS = 20_000;
/** The value in `rules` for a fact that was given. */
export const GIVEN = -1;

export class Relation {
  readonly pred: string;
  readonly arity: number;
  /** Number of premises stored for each row. */
  readonly width: number;
  count = 0;
  columns: Int32Array[];
  confidences: Float64Array;
  /**
   * Number of rule applications on the longest path from given facts to each fact, as of the fact's
   * last derivation; 0 for given facts. A premise that gets a better confidence later may become
   * deeper.
   */
  depths: Int32Array;
  /** Number of the rule in its set, or `GIVEN` for given facts. */
  rules: Int32Array;
  /** `width` premises for each row, in the order of the rule's positive atoms. */
  premises: Int32Array;
  readonly #constants: number;
  /**
   * Row + 1 in the slot that the tuple's hash, or the pair itself, determines; 0: the slot is free.
   */
  #slots: Int32Array;
  #mask: number;
  #isPairTable = false;
  readonly #distinct: { at: number; count: number }[];

  /**
   * `constants` is the number of all constants. `width` is the maximum number of positive atoms in
   * a rule that derives the predicate.
   */
  constructor(pred: string, arity: number, constants: number, width: number) {
    this.pred = pred;
    this.arity = arity;
    this.width = width;
    this.#constants = constants;
    const room = 16;
    this.columns = Array.from({ length: arity }, () => new Int32Array(room));
    this.confidences = new Float64Array(room);
    this.depths = new Int32Array(room);
    this.rules = new Int32Array(room);
    this.premises = new Int32Array(room * width);
    this.#slots = new Int32Array(64);
    this.#mask = 63;
    this.#distinct = Array.from({ length: arity }, () => ({ at: -1, count: 1 }));
  }

  /** Returns the row of a tuple, or -1 if there is none. */
  find(tuple: Int32Array): number {
    return this.#slots[this.#slotOf(tuple)]! - 1;
  }

  /**
   * Returns the row of a tuple, which is added if it is new. A new row is then `count - 1`, and the
   * caller must set its confidence, depth, rule and premises.
   */
  put(tuple: Int32Array): number {
    const slot = this.#slotOf(tuple);
    const found = this.#slots[slot]! - 1;
    if (found >= 0) return found;
    const row = this.count++;
    if (row === this.confidences.length) atOnce(this.#grow());
    for (let column = 0; column < this.arity; column++) this.columns[column]![row] = tuple[column]!;
    this.#slots[slot] = row + 1;
    if (this.#isCrowdedBy(this.count)) atOnce(this.#rehash());
    return row;
  }

  /** Returns the slot of a tuple, or the free slot where it belongs. */
  #slotOf(tuple: Int32Array): number {
    if (this.#isPairTable) return tuple[0]! * this.#constants + tuple[1]!;
    const { arity } = this;
    const slots = this.#slots;
    let slot = hashOf(tuple, arity) & this.#mask;
    for (; ; slot = (slot + 1) & this.#mask) {
      const row = slots[slot]! - 1;
      if (row < 0) return slot;
      let column = 0;
      while (column < arity && this.columns[column]![row] === tuple[column]) column++;
      if (column === arity) return slot;
    }
  }

  /**
   * Returns whether adding `rows` rows would block for long because arrays must grow. In this case,
   * the caller calls `makeRoom` first.
   */
  needsRoom(rows: number): boolean {
    const count = this.count + rows;
    return this.count >= FEW_ROWS && (count > this.confidences.length || this.#isCrowdedBy(count));
  }

  *makeRoom(rows: number): Steps<void> {
    const count = this.count + rows;
    while (count > this.confidences.length) yield* this.#grow();
    while (this.#isCrowdedBy(count)) yield* this.#rehash();
  }

  #isCrowdedBy(count: number): boolean {
    return !this.#isPairTable && count * 2 > this.#slots.length;
  }

  /** Copies one array per step. */
  *#grow(): Steps<void> {
    const room = this.confidences.length * 2;
    const columns: Int32Array[] = [];
    for (const column of this.columns) {
      columns.push(grown(column, room));
      yield;
    }
    const confidences = new Float64Array(room);
    confidences.set(this.confidences);
    yield;
    const depths = grown(this.depths, room);
    yield;
    const rules = grown(this.rules, room);
    yield;
    this.premises = grown(this.premises, room * this.width);
    this.columns = columns;
    this.confidences = confidences;
    this.depths = depths;
    this.rules = rules;
  }

  *#rehash(): Steps<void> {
    const length = this.#slots.length * 4;
    const pairs = this.#constants * this.#constants;
    const isPairTable = this.arity === 2 && pairs <= MOST_PAIRS && pairs <= length * 4;
    const slots = new Int32Array(isPairTable ? pairs : length);
    const mask = length - 1;
    const tuple = new Int32Array(this.arity);
    for (let row = 0; row < this.count; row++) {
      for (let column = 0; column < this.arity; column++) tuple[column] = this.columns[column]![row]!;
      let slot = isPairTable ? tuple[0]! * this.#constants + tuple[1]! : hashOf(tuple, this.arity) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = row + 1;
      if (row % STEP_ROWS === STEP_ROWS - 1) yield;
    }
    this.#slots = slots;
    this.#mask = mask;
    this.#isPairTable = isPairTable;
  }

  /**
   * Returns the number of different values in a column, at least 1. The number may be out of date,
   * but the relation had about half as many rows or more when it was counted.
   */
  distinct(column: number): number {
    const known = this.#distinct[column]!;
    if (known.at >= 0 && this.count < known.at * 2 + 16) return known.count;
    const seen = new Uint8Array(this.#constants);
    const values = this.columns[column]!;
    let count = 0;
    for (let row = 0; row < this.count; row++) {
      count += 1 - seen[values[row]!]!;
      seen[values[row]!] = 1;
    }
    known.at = this.count;
    known.count = Math.max(1, count);
    return known.count;
  }
}

function atOnce(steps: Steps<void>): void {
  while (steps.next().done !== true);
}

function hashOf(tuple: Int32Array, arity: number): number {
  let hash = 0;
  for (let column = 0; column < arity; column++) {
    hash = Math.imul(hash ^ tuple[column]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

export function grown(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(length);
  longer.set(array);
  return longer;
}
