// Runs one rule: nested loops over its conditions in join order. The loops stop when a budget of
// rows is used up, and can be continued.
//
// For `path(X, Z) if path(X, Y), edge(Y, Z)` there are two levels. Level 0 visits the rows of
// `path` and puts X and Y into registers. Level 1 finds the rows of `edge` that begin with Y
// through an index and puts Z into a register; then `emit` takes X and Z from the registers. When
// level 1 has no more rows, level 0 moves to its next row.

import type { Interner } from './interner.ts';
import type { Relation } from './relation.ts';
import type { ChainedIndex, SortedIndex } from './row-index.ts';
import type { CompareOp } from './rule.ts';

/**
 * How a level finds its next row: among all rows (scan), in the delta, through an index (sorted or
 * chained), or as the one row with these values (unique). The ways `absent` and `guard` are tests
 * that hold or do not hold.
 */
export const WAY = { scan: 0, delta: 1, sorted: 2, chained: 3, unique: 4, absent: 5, guard: 6 } as const;

/**
 * One condition of a rule, ready to run. The constants are in the first registers, the variables in
 * the others.
 */
export interface Level {
  readonly way: (typeof WAY)[keyof typeof WAY];
  /** Undefined for a guard. */
  readonly relation: Relation | undefined;
  readonly sorted: SortedIndex | undefined;
  readonly chained: ChainedIndex | undefined;
  /**
   * Registers with the values to look for: those of the index's columns, of the whole tuple, or of
   * the two sides of a guard.
   */
  readonly keys: Int32Array;
  /** Columns whose values are copied to `bindRegisters`. */
  readonly bindColumns: Int32Array;
  readonly bindRegisters: Int32Array;
  /** Columns whose values must then be equal to those in `checkRegisters`. */
  readonly checkColumns: Int32Array;
  readonly checkRegisters: Int32Array;
  readonly op: CompareOp;
  /**
   * Whether rows that are new in the round are skipped. They are tried when the rule is applied
   * with this atom as its delta.
   */
  readonly skipNew: boolean;
}

/**
 * The rows of each relation that a round uses: those before `to`. The rows from `from` up to `to`
 * are new in this round.
 */
export interface Round {
  from(relation: Relation): number;
  to(relation: Relation): number;
}

/**
 * Receives a match of the rule. The values are in `registers`, and `rows[l]` is the row of level l.
 */
export type Emit = (registers: Int32Array, rows: Int32Array) => void;

export class Join {
  readonly #levels: readonly Level[];
  readonly #registers: Int32Array;
  readonly #interner: Interner;
  readonly #emit: Emit;
  /** The current row of each level. */
  readonly #rows: Int32Array;
  /** What each level tries next: a row, or a place in an index or in the delta. */
  readonly #next: Int32Array;
  /** The end of what each level tries, exclusive. */
  readonly #ends: Int32Array;
  /**
   * By level: rows from `#seen` on are not used, because they were added during the round. Rows
   * from `#skipFrom` on are new ones that the level skips.
   */
  readonly #seen: Int32Array;
  readonly #skipFrom: Int32Array;
  readonly #delta: Int32Array;
  readonly #tuples: Int32Array[];
  #level = 0;
  /** Rows tried since the budget was last reduced. */
  #tried = 0;

  /**
   * `registers` contains the rule's constants. `delta` contains the rows for the level with the way
   * `delta`.
   */
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

  /**
   * Tries up to about `budget` rows. Returns the rest of the budget; 0 or less means that there may
   * be more rows.
   */
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
   * Runs the last level. Returns the rest of the budget; 0 or less means that the level is not
   * finished.
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

  /** Does the same as `#drain` for a sorted index. This is the innermost loop of most rules. */
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

  /** Moves to the level's next row that matches. Returns false if there is none. */
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

  /** Copies the row's values into registers. Returns false if the row does not match. */
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
