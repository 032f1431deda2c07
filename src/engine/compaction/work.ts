// What crosses between the engine and whoever runs a compaction: plain values and bytes.

import type { BuilderColumn } from '../../core/index.ts';
import type { RowKey } from '../types.ts';

/** Opens the work of one compaction. */
export interface OpenWork {
  /** Directory of the new files. */
  dir: string;
  /** Number of the first new file. */
  firstNumber: number;
  tableId: number;
  bucketSeconds: number;
  columns: BuilderColumn[];
  cutoffTs: number;
  /** Rows of a new file, at most. */
  maxRows: number;
  /**
   * Bytes of the records of a new file, and of a slice of an old one, at most; a larger row is a
   * file or a slice of its own.
   */
  maxBytes: number;
  /**
   * Files and directory need not be durable when the compaction is closed, but only after `flush`:
   * the syncs of many small tables overlap.
   */
  syncLater: boolean;
}

/** An old segment, or its rows with a key in [lower, upper); undefined: no bound. */
export interface SegmentWork {
  path: string;
  bytes: number;
  /** Of its header. */
  checksum: number;
  deadRows: Uint32Array;
  deadLsns: Float64Array;
  lsn: number;
  lower: RowKey | undefined;
  upper: RowKey | undefined;
}

/** One part, in key order: at most one old segment and sorted runs of new records. */
export interface PartWork {
  segment: SegmentWork | undefined;
  runs: Uint8Array[];
  /** The last part of its stretch. */
  last: boolean;
  even: boolean;
}

/** The answer to a part: the new files written and synced since the last answer. */
export interface WorkDone {
  files: { number: number; bytes: number }[];
  rowsIn: number;
  rowsOut: number;
}

/** The calls of the worker thread; those of one compaction come after each other. */
export type CompactionCalls = {
  open: (work: OpenWork) => void;
  part: (work: PartWork) => WorkDone;
  close: (none: undefined) => void;
  flush: (none: undefined) => void;
};

/** Runs parts of one compaction after each other, here or in a worker. */
export interface CompactionRunner {
  open(work: OpenWork): Promise<void>;
  part(work: PartWork): Promise<WorkDone>;
  close(): Promise<void>;
  /**
   * Resolves when all files of compactions with `syncLater` are durable; rejects when one of them
   * is not. A runner without it takes no such work.
   */
  flush?(): Promise<void>;
}
