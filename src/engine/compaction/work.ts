// The plain values and bytes that the engine and a compaction runner exchange.

import type { BuilderColumn } from '../../core/index.ts';
import type { Language } from '../../text/index.ts';
import type { RowKey } from '../types.ts';

/** A text index, as the thread that builds its blocks needs it. */
export interface TextWork {
  readonly language: Language;
  /** The TEXT columns in their order, with the text of rows without the column. */
  readonly columns: readonly { readonly id: number; readonly missing: string | null }[];
  /** Tells this index, and the version of the division into words, from others. */
  readonly tag: number;
}

/** The message that starts a compaction. */
export interface OpenWork {
  /** Directory for the new files. */
  dir: string;
  /** Number of the first new file. */
  firstNumber: number;
  tableId: number;
  bucketSeconds: number;
  columns: BuilderColumn[];
  /** The text index whose block each new file gets. */
  text: TextWork | undefined;
  cutoffTs: number;
  /** Maximum rows per new file. */
  maxRows: number;
  /**
   * Maximum total size in bytes of the records per new file, and per slice of an old file. A larger
   * row gets a file or a slice of its own.
   */
  maxBytes: number;
  /**
   * If true, the files and their directory need to be durable only when `flush` resolves, not
   * already when `close` does. The syncs of many small tables then overlap.
   */
  syncLater: boolean;
}

/** The rows of an old segment with keys in [lower, upper). An undefined bound is no limit. */
export interface SegmentWork {
  path: string;
  bytes: number;
  /** The checksum stored in the segment's header. */
  checksum: number;
  deadRows: Uint32Array;
  deadLsns: Float64Array;
  lsn: number;
  lower: RowKey | undefined;
  upper: RowKey | undefined;
}

/** One part of a merge: at most one old segment, and runs of new records in key order. */
export interface PartWork {
  segment: SegmentWork | undefined;
  runs: Uint8Array[];
  /** Whether this is the last part of its stretch. */
  last: boolean;
  /**
   * Whether the last two files of the stretch get equally many rows, where possible. If false, all
   * files but the last one are filled.
   */
  even: boolean;
}

/**
 * Result of a part: the new files written since the previous result. They are synced already,
 * unless `syncLater` is set.
 */
export interface WorkDone {
  files: { number: number; bytes: number }[];
  rowsIn: number;
  rowsOut: number;
}

/** Calls to the worker thread. The calls of one compaction are made one after another. */
export type CompactionCalls = {
  open: (work: OpenWork) => void;
  part: (work: PartWork) => WorkDone;
  close: (none: undefined) => void;
  flush: (none: undefined) => void;
};

/** Runs the parts of a compaction one after another, in this thread or in a worker. */
export interface CompactionRunner {
  open(work: OpenWork): Promise<void>;
  part(work: PartWork): Promise<WorkDone>;
  close(): Promise<void>;
  /**
   * Resolves when all files of compactions with `syncLater` are durable; rejects if one of them is
   * not. A runner without `flush` is never given such work.
   */
  flush?(): Promise<void>;
}
