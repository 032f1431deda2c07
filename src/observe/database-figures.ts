// What the gauges and the log histograms need to know of the engine: the engine's own values have this shape.

/** One look at the whole database; taken at each scrape, so it must be cheap. */
export interface DatabaseFigures {
  records: number;
  tables: number;
  /** Tables that refuse because a file of theirs is corrupt. */
  corruptTables: number;
  /** Secondary indexes (PSI). */
  indexes: number;
  segments: number;
  /** Bytes of the segments that are in memory. */
  residentBytes: number;
  /** Other memory within the budget: node filters, what cursors pin, counts that run. */
  chargedBytes: number;
  /** Of these, memtables that only open cursors and transactions hold. */
  pinnedBytes: number;
  memtableBytes: number;
  /** Operations in the log that no segment holds yet. */
  walPending: number;
  walBytes: number;
  snapshotsOpen: number;
  /** Compactions that ended well since the start. */
  compactions: number;
  compactionsRunning: number;
  compactionsQueued: number;
  durability: 'fsync' | 'async';
  /** The log takes no more writes. */
  logFailed: boolean;
}

export interface FiguresSource {
  /** Taken in turns with other work. */
  gatherFigures(): Promise<DatabaseFigures>;
}

/** One group of frames that was written to the log. */
export interface LogGroup {
  readonly operations: number;
  readonly bytes: number;
  /** From the start of the write to the end of the sync. */
  readonly elapsedUs: number;
}
