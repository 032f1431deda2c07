// What every table of a database shares: the core, the disk, the committer, the clock, the limits.

import type { CoreModule, EdgeBatch, FilterRoom, TextSink } from '../core/index.ts';
import type { Mutex } from '../schedule/locks.ts';
import type { Fs } from '../storage/index.ts';
import type { Committer } from './commit/committer.ts';
import type { MemtableRoom } from './table/memtable-room.ts';
import type { PinnedVersions } from './table/pinned-versions.ts';
import type { Residency } from './table/residency.ts';

export interface EngineContext {
  readonly fs: Fs;
  readonly module: CoreModule;
  /** Encodes single edges; calls do not overlap. */
  readonly batch: EdgeBatch;
  readonly sink: TextSink;
  readonly committer: Committer;
  /** Held while a compaction runs: no segment or memtable goes or comes otherwise. Whoever takes it and writes alone takes it first. */
  readonly compactions: Mutex;
  readonly residency: Residency;
  readonly memtables: MemtableRoom;
  /** Whether the node filters of segments are held in memory. */
  readonly nodeFilters: boolean;
  /** What readers keep in memory of versions that are not current. */
  readonly pinned: PinnedVersions;
  /** Memory for the node filters of all tables. */
  readonly filterRoom: FilterRoom;
  /** Called when a table goes on without node filters, since there is no memory for them. */
  readonly noFilters: (table: { readonly name: string }) => void;
  /** Directory of all tables' segments. */
  readonly tablesDir: string;
  readonly primaryTable: string;
  /** Insert guard: distinct members an edge. */
  readonly maxMembers: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  /** Commits of so many operations or more are made in slices (large-commit.ts). */
  readonly slicedOperations: number;
  /** Resolves when others have had a turn of the event loop. */
  readonly pause: () => Promise<void>;
  /** Called after a commit of a table, when its writes are in the log. */
  readonly afterCommit: (tableId: number) => void;
}
