// What of a table changes besides its version, and what holds of every change of it.

import { assert } from '../../assert.ts';
import type { CoreMemtable, FilterDirectory } from '../../core/index.ts';
import type { HedgerowError } from '../../errors.ts';
import type { HeldEntry } from '../checkpoint/checkpoint.ts';
import type { RowKey } from '../types.ts';
import type { SegmentFile } from './segment-file.ts';
import type { SegmentEntry } from './segments-on-disk.ts';

/** A row that died while a compaction was running on the segment or memtable that contained it. */
export interface LateDeath extends RowKey {
  lsn: number;
}

/** The segments and memtables that a compaction reads, and what has died in them since. */
export interface RunningCompaction {
  readonly segments: ReadonlySet<SegmentFile>;
  readonly memtables: ReadonlySet<CoreMemtable>;
  readonly late: LateDeath[];
}

export interface TableState {
  /** The id of the next row. */
  readonly nextId: number;
  /** Operations up to this LSN are in segments. */
  readonly appliedLsn: number;
  /** The number of the next segment file. */
  readonly nextSegment: number;
  /** How often a compaction dropped live rows (TTL). */
  readonly expirations: number;
  /** Operations of this table in the log that are in no segment, and those of them that delete. */
  readonly pending: number;
  readonly pendingTombstones: number;
  /**
   * After a failed compaction: none in the background before so many operations are pending, since
   * every try leaves a memtable.
   */
  readonly retryPending: number;
  /** Why the table refuses: a corrupt file of it, with file and offset. */
  readonly corrupt: HedgerowError | null;
  /**
   * The manifest's segments when not all of them could be opened: they stay in every later
   * manifest, for a repair.
   */
  readonly unopened: readonly SegmentEntry[] | undefined;
  /**
   * Files of operations that were copied out of the log while the table was corrupt
   * (held-operations.ts), oldest first.
   */
  readonly held: readonly HeldEntry[];
  readonly dropped: boolean;
  /**
   * After a compaction that found no memory for it: marks rows as dead in the new segments. Throws `overloaded` while there is
   * none; then it is tried again.
   */
  readonly unmarked: { mark: () => void; rows: number } | undefined;
  /**
   * LSN of the catalog change that made its name and columns what they are, or dropped it; 0 when
   * that was before the start.
   */
  readonly shapeLsn: number;
  /** Snapshots that were not released yet. */
  readonly openSnapshots: number;
  /** Filters of the current version's segments; undefined while there are too few to need them. */
  readonly filters: FilterDirectory | undefined;
  readonly compacting: RunningCompaction | undefined;
}

/** What changes with every row or read has methods of its own. */
export type TableChange = Partial<Omit<TableState, 'openSnapshots'>>;

/** What never decreases while a table lives. */
const GROWING = ['appliedLsn', 'nextSegment', 'expirations', 'shapeLsn'] as const;

/**
 * Asserts that a change keeps what the engine relies on. `headLsn`: the newest LSN that was given
 * out.
 */
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
