// The mutable state of a table besides its version, and the invariants of every change to it.

import { assert } from '../../assert.ts';
import type { CoreMemtable, FilterDirectory } from '../../core/index.ts';
import type { HedgerowError } from '../../errors.ts';
import type { HeldEntry } from '../checkpoint/checkpoint.ts';
import type { RowKey } from '../types.ts';
import type { SegmentFile } from './segment-file.ts';
import type { SegmentEntry } from './segments-on-disk.ts';

/** A row that died while a compaction was reading the segment or memtable that contained it. */
export interface LateDeath extends RowKey {
  lsn: number;
}

/** The segments and memtables that a compaction reads, and the rows that died in them since. */
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
  /** Logged operations of this table that are in no segment, and how many of them are deletes. */
  readonly pending: number;
  readonly pendingTombstones: number;
  /**
   * After a failed compaction: no automatic one until this many operations are pending, because
   * each attempt leaves a memtable.
   */
  readonly retryPending: number;
  /** Why the table refuses reads and writes: one of its files is corrupt; with file and offset. */
  readonly corrupt: HedgerowError | null;
  /**
   * The manifest's segments if not all of them could be opened: every later manifest keeps them,
   * for a repair.
   */
  readonly unopened: readonly SegmentEntry[] | undefined;
  /**
   * Files of operations copied out of the log while the table was corrupt (held-operations.ts),
   * oldest first.
   */
  readonly held: readonly HeldEntry[];
  readonly dropped: boolean;
  /**
   * Set after a compaction that lacked the memory to do so: marks late deaths in the new segments.
   * Throws `overloaded` while memory is short; it is then tried again.
   */
  readonly unmarked: { mark: () => void; rows: number } | undefined;
  /**
   * LSN of the catalog change that last changed its name or columns, or dropped it; 0 if that was
   * before the start.
   */
  readonly shapeLsn: number;
  /** Number of snapshots not released yet. */
  readonly openSnapshots: number;
  /**
   * Node filters of the current version's segments; undefined if there are too few segments to need
   * them, or no filters are kept.
   */
  readonly filters: FilterDirectory | undefined;
  readonly compacting: RunningCompaction | undefined;
}

/** State that changes with every row or read has methods of its own. */
export type TableChange = Partial<Omit<TableState, 'openSnapshots'>>;

/** Fields that never decrease during the life of a table. */
const GROWING = ['appliedLsn', 'nextSegment', 'expirations', 'shapeLsn'] as const;

/** Asserts the invariants of a change. `headLsn`: newest LSN assigned. */
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
