// Computes the figures of a database from its tables: the status of the write-ahead log, the health
// statistics, and the values for the metrics.

import { finish, inSlices, type Steps } from '../schedule/steps.ts';
import type { Compactor } from './compaction/compactor.ts';
import { NodeCounter, type NodeCounterOptions, type NodeTotal } from './table/node-count.ts';
import type { Table } from './table/table.ts';
import type { EngineFigures, EngineHealth, WalStatus } from './types.ts';

/** Values that are not computed from the tables. */
export interface StoreFigures {
  dir: string;
  lastLsn: number;
  logBytes: number;
  residentBytes: number;
  chargedBytes: number;
  pinnedBytes: number;
  durability: 'fsync' | 'async';
  logFailed: string | null;
  /** Epoch milliseconds. */
  answersDamagedUntil: number | null;
}

export interface FiguresOptions extends NodeCounterOptions {
  primary: () => Table;
  compactor: () => Pick<Compactor, 'finished' | 'queued' | 'running'>;
  store: () => StoreFigures;
  /** Memory of the keys of nodes. */
  nodeKeyBytes: () => number;
}

/**
 * Computes each kind of figures without a pause or in slices of a few milliseconds. Slices are
 * needed if there are thousands of tables, or large tables.
 */
export class Figures {
  readonly #options: FiguresOptions;
  readonly #nodes: NodeCounter;

  constructor(options: FiguresOptions) {
    this.#options = options;
    const { tables } = options;
    this.#nodes = new NodeCounter({ ...options, tables: () => tables().filter(({ isOfNodes }) => !isOfNodes) });
  }

  wal(): WalStatus {
    return finish(this.#walSteps());
  }

  gatherWal(): Promise<WalStatus> {
    return inSlices(this.#walSteps(), this.#options);
  }

  /**
   * Returns the health statistics. For a large database they contain the last node count, and a new
   * count may start in the background.
   */
  health(): EngineHealth {
    return finish(this.#healthSteps(this.#nodes.now()));
  }

  /**
   * Resolves with the health statistics. Waits at most `nodesWaitMs` milliseconds for a count of
   * the nodes.
   */
  async gatherHealth(nodesWaitMs: number): Promise<EngineHealth> {
    const nodes = await this.#nodes.within(nodesWaitMs);
    return inSlices(this.#healthSteps(nodes), this.#options);
  }

  /** Returns figures that are cheap to read at any time; nothing is counted. */
  figures(): EngineFigures {
    return finish(this.#figureSteps());
  }

  gatherFigures(): Promise<EngineFigures> {
    return inSlices(this.#figureSteps(), this.#options);
  }

  /** Stops all background counting. */
  close(): void {
    this.#nodes.close();
  }

  #walSteps(): Steps<WalStatus> {
    const { tables, primary, store } = this.#options;
    return walStatus(tables(), primary(), store());
  }

  #healthSteps(nodes: NodeTotal): Steps<EngineHealth> {
    const { tables, primary, store } = this.#options;
    return engineHealth(tables(), primary(), nodes, store());
  }

  #figureSteps(): Steps<EngineFigures> {
    const { tables, compactor, store } = this.#options;
    return engineFigures(tables(), compactor(), store(), this.#options.nodeKeyBytes());
  }
}

/** Number of tables processed per step. */
const STEP_TABLES = 64;

/**
 * Computes the pending operations per table and in total. The `threshold` outside of `tables` is
 * the threshold of the primary table.
 */
function* walStatus(tables: readonly Table[], primary: Table, store: StoreFigures): Steps<WalStatus> {
  const items: WalStatus['tables'] = {};
  let pending = 0;
  for (const [index, table] of tables.entries()) {
    items[table.name] = { pending: table.pending, threshold: table.definition.compactThreshold };
    pending += table.pending;
    if (index % STEP_TABLES === STEP_TABLES - 1) yield;
  }
  return {
    pending,
    threshold: primary.definition.compactThreshold,
    size_bytes: store.logBytes,
    last_lsn: store.lastLsn,
    tables: items,
  };
}

/**
 * Computes sums over all tables. Corrupt tables are listed with their reason; their rows, buckets
 * and segments are not counted.
 */
function* engineHealth(
  tables: readonly Table[],
  primary: Table,
  nodes: NodeTotal,
  store: StoreFigures,
): Steps<EngineHealth> {
  const corrupt: Record<string, string> = {};
  let [records, buckets, pending, segments, memtableBytes] = [0, 0, 0, 0, 0];
  for (const [index, table] of tables.entries()) {
    pending += table.pending;
    memtableBytes += table.memtableBytes;
    if (table.corrupt !== null) corrupt[table.name] = table.corrupt.message;
    else {
      if (!table.isOfNodes) records += table.rowCount;
      buckets += table.version.totalBuckets;
      segments += table.version.segments.length;
    }
    if (index % STEP_TABLES === STEP_TABLES - 1) yield;
  }
  return {
    db_dir: store.dir,
    total_records: records,
    bucket_count: buckets,
    bucket_seconds: primary.bucketSeconds,
    node_count: nodes.count,
    node_count_exact: nodes.exact,
    wal_pending: pending,
    tables: tables.length,
    segments,
    resident_bytes: store.residentBytes,
    charged_bytes: store.chargedBytes,
    pinned_bytes: store.pinnedBytes,
    memtable_bytes: memtableBytes,
    last_lsn: store.lastLsn,
    durability: store.durability,
    corrupt_tables: corrupt,
    log_failed: store.logFailed,
    answers_damaged_until: store.answersDamagedUntil === null ? null : Math.ceil(store.answersDamagedUntil / 1000),
  };
}

/**
 * Computes the values for the metrics. Unlike the health statistics, they need no expensive
 * counting.
 */
function* engineFigures(
  tables: readonly Table[],
  { finished, queued, running }: Pick<Compactor, 'finished' | 'queued' | 'running'>,
  store: StoreFigures,
  nodeKeyBytes: number,
): Steps<EngineFigures> {
  let nodes = 0;
  let [records, corruptTables, indexes, segments, memtableBytes, walPending, snapshotsOpen] = [0, 0, 0, 0, 0, 0, 0];
  for (const [index, table] of tables.entries()) {
    if (table.isOfNodes) nodes += table.rowCount;
    else records += table.rowCount;
    corruptTables += table.corrupt === null ? 0 : 1;
    indexes += table.definition.indexes.length;
    segments += table.version.segments.length;
    memtableBytes += table.memtableBytes;
    walPending += table.pending;
    snapshotsOpen += table.openSnapshots;
    if (index % STEP_TABLES === STEP_TABLES - 1) yield;
  }
  return {
    ...{ nodes, nodeKeyBytes },
    ...{ records, tables: tables.length, corruptTables, indexes, segments, residentBytes: store.residentBytes },
    ...{
      chargedBytes: store.chargedBytes,
      pinnedBytes: store.pinnedBytes,
      memtableBytes,
      walPending,
      walBytes: store.logBytes,
      snapshotsOpen,
    },
    ...{ compactions: finished, compactionsRunning: running, compactionsQueued: queued },
    durability: store.durability,
    logFailed: store.logFailed !== null,
  };
}
