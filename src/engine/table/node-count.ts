// Counts the distinct nodes of all tables (segments and log, including nodes of deleted edges until
// compaction), in slices, and caches the counts.
//
// Small counts are done at once. The rest is counted in the background, table by table, in slices
// of a few milliseconds. Until that finishes, a table contributes its last count, or before the
// first count the size of its largest dictionary, and the answer is marked as not exact. Only one
// pass runs at a time, and the next one begins only after nine times the cost of the last has
// passed, so that counting takes at most a tenth of the time.

import { assert } from '../../assert.ts';
import { finish, inSlices, type Steps } from '../../schedule/steps.ts';
import type { Table } from './table.ts';
import { leastNodes, nodesToCount, TableNodes } from './table-nodes.ts';
import type { Version } from './version.ts';

export interface NodeTotal {
  count: number;
  /** Whether every table was counted in its present state. */
  exact: boolean;
}

export interface NodeCounterOptions {
  nowUs: () => number;
  schedule: (callback: () => void, delayMs: number) => void;
  pause: () => Promise<void>;
  tables: () => readonly Table[];
  /** Adds bytes to the memory budget; negative: removes them. */
  charge: (bytes: number) => void;
}

interface Counted {
  /** Identity of the counted state: each of these changes when rows are added or removed. */
  segments: Version['segments'];
  appliedLsn: number;
  pending: number;
  count: number;
}

/**
 * Node ids that one call may examine directly, over all tables; each table costs as much as
 * TABLE_IDS ids. Takes under 10 ms.
 */
const AT_ONCE_IDS = 50_000;
const TABLE_IDS = 1000;
/** Tables visited per step. */
const STEP_TABLES = 64;
const SLICE_US = 4000;
/**
 * For this long, slices follow one another with one event loop turn in between; later ones rest
 * three times as long as they work.
 */
const HURRY_US = 100_000;
const REST_MS = 12;
/** A pass waits until this multiple of the last pass's cost has elapsed. */
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

  /** The present result, after counting what is cheap. Starts a background count of the rest. */
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
      return undefined; // a file cannot be read; reads of its rows will report that
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
   * Rows that arrive meanwhile are not included: the count is stored for the state it began with.
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
      // A file cannot be read; reads of its rows will report that. The last count is kept.
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

  /** Called between two steps: yields to other work once the slice has lasted long enough. */
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
