// Counts the distinct nodes of each table in slices, caches the counts, and adds them up. The nodes
// of deleted edges are included until a compaction removes these edges.
//
// Tables with few nodes are counted immediately. The others are counted in the background, one
// after another, in slices of a few milliseconds. Until a table is counted, its last count is used
// and the result is marked as not exact. If there is no last count, the size of the largest
// dictionary in its segments is used. Only one pass over the tables runs at a time. The next pass
// begins only after a rest of nine times the cost of the last one, so that counting takes at most a
// tenth of the time.

import { assert } from '../../assert.ts';
import { finish, inSlices, type Steps } from '../../schedule/steps.ts';
import type { Table } from './table.ts';
import { leastNodes, nodesToCount, TableNodes } from './table-nodes.ts';
import type { Version } from './version.ts';

export interface NodeTotal {
  count: number;
  /** Whether every table was counted in its current state. */
  exact: boolean;
}

export interface NodeCounterOptions {
  nowUs: () => number;
  schedule: (callback: () => void, delayMs: number) => void;
  pause: () => Promise<void>;
  tables: () => readonly Table[];
  /** Charges bytes to the memory budget; a negative number releases them. */
  charge: (bytes: number) => void;
}

interface Counted {
  /**
   * The next three fields identify the counted state: at least one of them changes when rows are
   * added or removed.
   */
  segments: Version['segments'];
  appliedLsn: number;
  pending: number;
  count: number;
}

/**
 * Maximum number of node ids that one call counts immediately, over all tables; each table costs
 * as much as TABLE_IDS additional ids. Such a call takes less than 10 ms.
 */
const AT_ONCE_IDS = 50_000;
const TABLE_IDS = 1000;
/** Number of tables visited per step. */
const STEP_TABLES = 64;
const SLICE_US = 4000;
/**
 * For this long after the start of a pass, only a `pause` separates two slices. Later, each slice
 * is followed by a rest of REST_MS, three times as long as the slice.
 */
const HURRY_US = 100_000;
const REST_MS = 12;
/** After a pass, the next one begins only when this multiple of its cost has elapsed. */
const REST_OF_COST = 9;

export class NodeCounter {
  readonly #options: NodeCounterOptions;
  readonly #counted = new WeakMap<Table, Counted>();
  #pass: Promise<void> | undefined;
  #passEndedUs = -Infinity;
  #passCostUs = 0;
  #closed = false;

  constructor(options: NodeCounterOptions) {
    this.#options = options;
  }

  /**
   * Counts the tables for which that is cheap and returns the result. Starts to count the others in
   * the background.
   */
  now(): NodeTotal {
    return finish(this.#total());
  }

  /** Like `now`, but in slices; waits at most `waitMs` for an exact result. */
  async within(waitMs: number): Promise<NodeTotal> {
    const first = await inSlices(this.#total(), this.#options);
    if (first.exact || this.#pass === undefined) return first;
    const timeout = new Promise<void>((resolve) => this.#options.schedule(resolve, waitMs));
    await Promise.race([this.#pass, timeout]);
    return inSlices(this.#total(), this.#options);
  }

  *#total(): Steps<NodeTotal> {
    let left = AT_ONCE_IDS;
    let count = 0;
    let exact = true;
    for (const [index, table] of this.#options.tables().entries()) {
      if (index % STEP_TABLES === STEP_TABLES - 1) yield;
      if (table.corrupt !== null || table.dropped) continue;
      const known = this.#counted.get(table);
      if (known !== undefined && isOf(known, table)) {
        count += known.count;
        continue;
      }
      const ids = nodesToCount(table);
      if (ids === 0) {
        count += this.#keep(table, leastNodes(table));
        continue;
      }
      const counted = ids + TABLE_IDS <= left ? this.#countAtOnce(table) : undefined;
      if (counted !== undefined) left -= ids + TABLE_IDS;
      exact &&= counted !== undefined;
      count += counted ?? known?.count ?? leastNodes(table);
    }
    if (!exact) this.#begin();
    return { count, exact };
  }

  /** Stops all background counting. */
  close(): void {
    this.#closed = true;
  }

  #countAtOnce(table: Table): number | undefined {
    const nodes = new TableNodes(table);
    try {
      for (;;) {
        const count = nodes.step();
        if (count !== undefined) return this.#keep(table, count);
      }
    } catch {
      return undefined; // a segment file cannot be read; reads of its rows will report that
    } finally {
      nodes.close();
    }
  }

  #keep(table: Table, count: number): number {
    this.#counted.set(table, stateOf(table, count));
    return count;
  }

  #begin(): void {
    if (this.#pass !== undefined || this.#closed) return;
    if (this.#options.nowUs() - this.#passEndedUs < this.#passCostUs * REST_OF_COST) return;
    this.#pass = this.#countAll().finally(() => {
      this.#pass = undefined;
      this.#passEndedUs = this.#options.nowUs();
    });
  }

  async #countAll(): Promise<void> {
    const rest = new Slices(this.#options);
    for (const table of [...this.#options.tables()]) {
      await rest.between();
      if (this.#closed) return;
      const known = this.#counted.get(table);
      if (table.corrupt !== null || table.dropped || (known !== undefined && isOf(known, table))) continue;
      await this.#countInSlices(table, rest);
    }
    assert(rest.costUs >= 0, 'time goes on while nodes are counted');
    this.#passCostUs = rest.costUs;
  }

  /**
   * Counts the nodes of one table. Rows that arrive meanwhile are not included, so the count is
   * stored for the state of the table at the beginning.
   */
  async #countInSlices(table: Table, rest: Slices): Promise<void> {
    const state = stateOf(table, 0);
    const nodes = new TableNodes(table);
    let charged = 0;
    try {
      for (;;) {
        const count = nodes.step();
        this.#options.charge(nodes.bytes - charged);
        charged = nodes.bytes;
        if (count !== undefined) {
          this.#counted.set(table, { ...state, count });
          return;
        }
        await rest.between();
        if (this.#closed) return;
      }
    } catch {
      // A segment file cannot be read; reads of its rows will report that. The last count is kept.
    } finally {
      this.#options.charge(-charged);
      nodes.close();
    }
  }
}

function stateOf(table: Table, count: number): Counted {
  return { segments: table.version.segments, appliedLsn: table.appliedLsn, pending: table.pending, count };
}

function isOf(known: Counted, table: Table): boolean {
  const { segments } = table.version;
  return known.segments === segments && known.appliedLsn === table.appliedLsn && known.pending === table.pending;
}

/** Paces work in slices of a few milliseconds. */
class Slices {
  readonly #options: NodeCounterOptions;
  readonly #beganUs: number;
  #sliceUs: number;
  costUs = 0;

  constructor(options: NodeCounterOptions) {
    this.#options = options;
    this.#beganUs = options.nowUs();
    this.#sliceUs = this.#beganUs;
  }

  /** Called between two steps: yields to other work if the current slice has lasted long enough. */
  async between(): Promise<void> {
    const { nowUs, schedule, pause } = this.#options;
    const now = nowUs();
    if (now - this.#sliceUs < SLICE_US) return;
    this.costUs += now - this.#sliceUs;
    if (now - this.#beganUs >= HURRY_US) await new Promise<void>((resolve) => schedule(resolve, REST_MS));
    await pause();
    this.#sliceUs = nowUs();
  }
}
