// The mutable state of a table besides its version, and the invariants that every change of this
// state must keep.

import { assert } from '../../assert.ts';
import type { CoreMemtable, FilterDirectory } from '../../core/index.ts';
import type { HedgerowError } from '../../errors.ts';
import type { HeldEntry } from '../checkpoint/checkpoint.ts';
import type { RowKey } from '../types.ts';
import type { SegmentFile } from './segment-file.ts';
import type { SegmentEntry } from './segments-on-disk.ts';

/** A row that was deleted or replaced while a compaction was reading its segment or memtable. */
export interface LateDeath extends RowKey {
  lsn: number;
}

/**
 * The segments and memtables that a compaction reads, and the rows in them that were deleted or
 * replaced since it began.
 */
export interface RunningCompaction {
  readonly segments: ReadonlySet<SegmentFile>;
  readonly memtables: ReadonlySet<CoreMemtable>;
  readonly late: LateDeath[];
}

export interface TableState {
  /** Id of the next row. */
  readonly nextId: number;
  /** Operations up to this LSN are in segments. */
  readonly appliedLsn: number;
  /** Number of the next segment file. */
  readonly nextSegment: number;
  /** Number of compactions that dropped live rows (TTL). */
  readonly expirations: number;
  /**
   * All rows before this time (epoch seconds) were dropped, but the log may not say so yet
   * (catalog/expiration.ts); undefined if there is nothing to record.
   */
  readonly unlogged: number | undefined;
  /**
   * Number of logged operations of this table that are in no segment, and how many of them are not
   * inserts (an update counts as one deletion and one insert).
   */
  readonly pending: number;
  readonly pendingTombstones: number;
  /**
   * After a failed compaction, no automatic one begins until this many operations are pending,
   * because each attempt leaves a memtable.
   */
  readonly retryPending: number;
  /**
   * The error, with file and offset, if one of the table's files is corrupt. The table then refuses
   * reads and writes with this error.
   */
  readonly corrupt: HedgerowError | null;
  /**
   * The segments that the manifest lists, if not all of them could be opened. Every later manifest
   * lists them unchanged, so that the table can be repaired.
   */
  readonly unopened: readonly SegmentEntry[] | undefined;
  /**
   * Files with operations that were copied out of the log while the table was corrupt
   * (held-operations.ts), oldest first.
   */
  readonly held: readonly HeldEntry[];
  readonly dropped: boolean;
  /**
   * Set if a compaction had too little memory to mark late deaths in its new segments: `rows` is
   * the number of these deaths. `mark` marks them; it throws `overloaded` while there is too little
   * memory, and is then called again before the next use of the table.
   */
  readonly unmarked: { mark: () => void; rows: number } | undefined;
  /**
   * LSN of the last catalog change that changed the table's name or columns, or dropped the table;
   * 0 if that was before the start.
   */
  readonly shapeLsn: number;
  /** Number of snapshots not released yet. */
  readonly openSnapshots: number;
  /**
   * Node filters for the segments of the current version. Undefined if there are too few segments
   * to need them, or if filters are not kept in memory or do not fit.
   */
  readonly filters: FilterDirectory | undefined;
  readonly compacting: RunningCompaction | undefined;
}

/** A change of the state. Fields that change with every row or read have methods of their own. */
export type TableChange = Partial<Omit<TableState, 'openSnapshots'>>;

/** Fields that never decrease during the life of a table. */
const GROWING = ['appliedLsn', 'nextSegment', 'expirations', 'shapeLsn'] as const;

/** Asserts that a change keeps the invariants. `headLsn` is the newest LSN assigned. */
export function assertChange(table: TableState, change: TableChange, headLsn: number): void {
  for (const name of GROWING) {
    const to = change[name];
    if (to !== undefined) assert(to >= table[name], `${name} of a table decreases`);
  }
  const { appliedLsn = 0, pending = table.pending, pendingTombstones = table.pendingTombstones } = change;
  assert(appliedLsn <= headLsn, 'segments are said to reach an LSN that was never given out');
  assert(pendingTombstones >= 0, 'a table has lost count of its pending deletes');
  assert(pending >= pendingTombstones, 'a table has lost count of its pending operations');
  assert(!table.dropped || change.dropped !== false, 'a dropped table comes back');
  if (change.compacting !== undefined) assert(table.compacting === undefined, 'a table is compacted twice at once');
}
