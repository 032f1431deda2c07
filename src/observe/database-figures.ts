// What the gauges and the log histograms need to know about the engine; the engine's own values
// have this shape.

/** Figures of the whole database. Read at each scrape, so gathering them must be cheap. */
export interface DatabaseFigures {
  records: number;
  tables: number;
  /** Tables that refuse requests because one of their files is corrupt. */
  corruptTables: number;
  /** Secondary indexes (PSI). */
  indexes: number;
  segments: number;
  /** Bytes of the segments in memory. */
  residentBytes: number;
  /** Other memory within the budget: node filters, state pinned by cursors, running counts. */
  chargedBytes: number;
  /** Part of it: memtables held only by open cursors and transactions. */
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
  /** The log accepts no more writes. */
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
