// Runs one rule: nested loops over its conditions in join order, each row found through an index,
// step by step.

import type { Interner } from './interner.ts';
import type { Relation } from './relation.ts';
import type { ChainedIndex, SortedIndex } from './row-index.ts';
import type { CompareOp } from './rule.ts';

/**
 * How a level finds what it tries next: all rows, those of the delta, by an index, the one row with
 * these values, or a test that holds or not.
 */
export const WAY = { scan: 0, delta: 1, sorted: 2, chained: 3, unique: 4, absent: 5, guard: 6 } as const;

/**
 * One condition of a rule, ready to run. Registers hold the constants first, then the variables.
 */
export interface Level {
  readonly way: (typeof WAY)[keyof typeof WAY];
  /** Of atoms. */
  readonly relation: Relation | undefined;
  readonly sorted: SortedIndex | undefined;
  readonly chained: ChainedIndex | undefined;
  /**
   * Registers of the values asked for: of the index's columns, or of the whole tuple, or of the two
   * sides of a guard.
   */
  readonly keys: Int32Array;
  /** Columns whose values go into registers. */
  readonly bindColumns: Int32Array;
  readonly bindRegisters: Int32Array;
  /** Columns that must then equal registers. */
  readonly checkColumns: Int32Array;
  readonly checkRegisters: Int32Array;
  readonly op: CompareOp;
  /** The rows that are new in the round are left out: another run has them as its delta. */
  readonly skipNew: boolean;
}

/**
 * Rows of a round, by relation: those from `from` to before `to` are new in it. Later ones are not
 * seen.
 */
export interface Round {
  from(relation: Relation): number;
  to(relation: Relation): number;
}

/** Takes what a rule gives: the tuple is in `registers`, the rows of level l in `rows[l]`. */
export type Emit = (registers: Int32Array, rows: Int32Array) => void;

export class Join {
  readonly #levels: readonly Level[];
  readonly #registers: Int32Array;
  readonly #interner: Interner;
  readonly #emit: Emit;
  /** Of a level: its current row. */
  readonly #rows: Int32Array;
  /** Of a level: what it tries next; a row, a place in an index or in the delta. */
  readonly #next: Int32Array;
  /** Of a level: where it ends. */
  readonly #ends: Int32Array;
  /** Of a level: rows it sees, and the new ones among them it leaves out. */
  readonly #seen: Int32Array;
  readonly #skipFrom: Int32Array;
  readonly #delta: Int32Array;
  readonly #tuples: Int32Array[];
  #level = 0;
  /** Rows tried since the budget was last looked at. */
  #tried = 0;

  /** `registers` hold the constants of the rule. `delta`: rows of the level that goes by it. */
  constructor(
    levels: readonly Level[],
    registers: Int32Array,
    interner: Interner,
    round: Round,
    delta: Int32Array,
    emit: Emit,
  ) {
    this.#levels = levels;
    this.#registers = registers;
    this.#interner = interner;
    this.#emit = emit;
    this.#delta = delta;
    const depth = levels.length;
    this.#rows = new Int32Array(depth);
    this.#next = new Int32Array(depth);
    this.#ends = new Int32Array(depth);
    this.#seen = new Int32Array(depth);
    this.#skipFrom = new Int32Array(depth);
    this.#tuples = levels.map(({ keys }) => new Int32Array(keys.length));
    for (const [at, { relation, skipNew }] of levels.entries()) {
      if (relation === undefined) continue;
      this.#seen[at] = round.to(relation);
      this.#skipFrom[at] = skipNew ? round.from(relation) : 2 ** 31 - 1;
    }
    this.#open(0);
  }

  /** Tries rows for up to `budget`; what is left of it, 0 or less: there may be more. */
  run(budget: number): number {
    const last = this.#levels.length - 1;
    let level = this.#level;
    let left = budget;
    while (level >= 0) {
      if (left <= 0) {
        this.#level = level;
        return left;
      }
      left -= 4 + this.#tried;
      this.#tried = 0;
      if (level === last) {
        left = this.#drain(level, left);
        if (left > 0) level--;
      } else if (this.#advance(level)) {
        level++;
        this.#open(level);
      } else level--;
    }
    this.#level = -1;
    return Math.max(1, left);
  }

  /**
   * Goes through the last level. What is left of the budget, 0 or less: it is not at its end yet.
   */
  #drain(level: number, budget: number): number {
    let left = budget;
    const { way } = this.#levels[level]!;
    if (way === WAY.sorted) return this.#drainSorted(level, budget);
    while (left > 0) {
      if (!this.#advance(level)) return Math.max(1, left);
      left -= 1 + this.#tried;
      this.#tried = 0;
      this.#emit(this.#registers, this.#rows);
    }
    return 0;
  }

  /** The innermost loop of most rules. */
  #drainSorted(at: number, budget: number): number {
    const level = this.#levels[at]!;
    const { rows } = level.sorted!;
    const end = this.#ends[at]!;
    const stop = Math.min(end, this.#next[at]! + Math.max(1, budget));
    let next = this.#next[at]!;
    const from = next;
    while (next < stop) {
      const row = rows[next++]!;
      if (!this.#take(level, row)) continue;
      this.#rows[at] = row;
      this.#emit(this.#registers, this.#rows);
    }
    this.#next[at] = next;
    return next === end ? Math.max(1, budget - (next - from)) : 0;
  }

  #open(at: number): void {
    const level = this.#levels[at]!;
    switch (level.way) {
      case WAY.scan:
        this.#next[at] = 0;
        this.#ends[at] = this.#seen[at]!;
        break;
      case WAY.delta:
        this.#next[at] = 0;
        this.#ends[at] = this.#delta.length;
        break;
      case WAY.sorted: {
        const value = this.#registers[level.keys[0]!]!;
        this.#next[at] = level.sorted!.offsets[value]!;
        this.#ends[at] = level.sorted!.offsets[value + 1]!;
        break;
      }
      case WAY.chained:
        this.#next[at] = level.chained!.head(this.#registers, level.keys);
        break;
      case WAY.unique:
        this.#next[at] = this.#find(at);
        break;
      case WAY.absent:
        this.#next[at] = this.#find(at) < 0 ? 0 : -1;
        break;
      case WAY.guard: {
        const { keys, op } = level;
        this.#next[at] = this.#interner.holds(this.#registers[keys[0]!]!, op, this.#registers[keys[1]!]!) ? 0 : -1;
        break;
      }
    }
  }

  #find(at: number): number {
    const { keys, relation } = this.#levels[at]!;
    const tuple = this.#tuples[at]!;
    for (let place = 0; place < keys.length; place++) tuple[place] = this.#registers[keys[place]!]!;
    return relation!.find(tuple);
  }

  /** Goes to the level's next row that fits. */
  #advance(at: number): boolean {
    const level = this.#levels[at]!;
    switch (level.way) {
      case WAY.scan:
        for (let row = this.#next[at]!; row < this.#ends[at]!; row++) {
          this.#tried++;
          if (this.#skips(at, row) || !this.#take(level, row)) continue;
          this.#next[at] = row + 1;
          this.#rows[at] = row;
          return true;
        }
        return false;
      case WAY.delta:
        for (let place = this.#next[at]!; place < this.#ends[at]!; place++) {
          const row = this.#delta[place]!;
          this.#tried++;
          if (!this.#take(level, row)) continue;
          this.#next[at] = place + 1;
          this.#rows[at] = row;
          return true;
        }
        return false;
      case WAY.sorted:
        for (let place = this.#next[at]!; place < this.#ends[at]!; place++) {
          const row = level.sorted!.rows[place]!;
          this.#tried++;
          if (!this.#take(level, row)) continue;
          this.#next[at] = place + 1;
          this.#rows[at] = row;
          return true;
        }
        return false;
      case WAY.chained: {
        const { next } = level.chained!;
        for (let row = this.#next[at]!; row >= 0; row = next[row]!) {
          this.#tried++;
          if (this.#skips(at, row) || !this.#take(level, row)) continue;
          this.#next[at] = next[row]!;
          this.#rows[at] = row;
          return true;
        }
        return false;
      }
      case WAY.unique: {
        const row = this.#next[at]!;
        this.#next[at] = -1;
        if (row < 0 || this.#skips(at, row)) return false;
        this.#rows[at] = row;
        return true;
      }
      default: {
        const holds = this.#next[at]! >= 0;
        this.#next[at] = -1;
        return holds;
      }
    }
  }

  #skips(at: number, row: number): boolean {
    return row >= this.#seen[at]! || row >= this.#skipFrom[at]!;
  }

  /** Puts the row's values into registers; false when it does not fit. */
  #take(level: Level, row: number): boolean {
    const registers = this.#registers;
    const columns = level.relation!.columns;
    const { bindColumns, bindRegisters, checkColumns, checkRegisters } = level;
    for (let at = 0; at < bindColumns.length; at++) registers[bindRegisters[at]!] = columns[bindColumns[at]!]![row]!;
    for (let at = 0; at < checkColumns.length; at++) {
      if (columns[checkColumns[at]!]![row] !== registers[checkRegisters[at]!]) return false;
    }
    return true;
  }
}
