// The figures of the engine that the gauges and the log histograms show. The engine's own objects
// satisfy these types.

/** Figures of the whole database. Read at each scrape, so gathering them must be cheap. */
export interface DatabaseFigures {
  records: number;
  tables: number;
  /** Nodes of node tables. */
  nodes: number;
  /** The part of `chargedBytes` that belongs to the keys of nodes. */
  nodeKeyBytes: number;
  /** Tables that refuse requests because one of their files is corrupt. */
  corruptTables: number;
  /** Secondary indexes (PSI). */
  indexes: number;
  segments: number;
  /** Total size in bytes of the segments that are in memory. */
  residentBytes: number;
  /**
   * Other memory that counts against the budget: node filters, state pinned by cursors, node counts
   * in progress.
   */
  chargedBytes: number;
  /**
   * The part of `chargedBytes` that belongs to memtables held only by open cursors and
   * transactions.
   */
  pinnedBytes: number;
  memtableBytes: number;
  /** Operations in the log that no segment contains yet. */
  walPending: number;
  walBytes: number;
  snapshotsOpen: number;
  /** Successful compactions since startup. */
  compactions: number;
  compactionsRunning: number;
  compactionsQueued: number;
  durability: 'fsync' | 'async';
  /** True if the log accepts no more writes. */
  logFailed: boolean;
}

export interface FiguresSource {
  /** Gathers the figures in steps, between which other work runs. */
  gatherFigures(): Promise<DatabaseFigures>;
}

/** One group of frames written to the log. */
export interface LogGroup {
  readonly operations: number;
  readonly bytes: number;
  /** From the start of the write to the end of the sync. */
  readonly elapsedUs: number;
}
