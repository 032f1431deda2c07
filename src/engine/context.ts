// The state that all tables of a database share: the core module, the file system, the committer,
// the clock and the limits.

import type { CoreModule, EdgeBatch, FilterRoom, TextSink } from '../core/index.ts';
import type { Mutex } from '../schedule/locks.ts';
import type { WorkKind } from '../schedule/scheduler.ts';
import type { Fs } from '../storage/index.ts';
import type { ChangeHistory } from './changes/change-history.ts';
import type { Committer } from './commit/committer.ts';
import type { NodeDirectory } from './nodes/node-directory.ts';
import type { MemtableRoom } from './table/memtable-room.ts';
import type { PinnedVersions } from './table/pinned-versions.ts';
import type { Residency } from './table/residency.ts';
import type { MemtableTexts } from './texts/memtable-texts.ts';
import type { TextsAhead } from './texts/texts-ahead.ts';

/** The kinds of work of the engine that pause. */
export type EngineWork = Extract<
  WorkKind,
  'backup' | 'changes' | 'checkpoint' | 'commit' | 'compaction' | 'figures' | 'texts'
>;
export type EnginePauses = Readonly<Record<EngineWork, () => Promise<void>>>;

export interface EngineContext {
  readonly fs: Fs;
  readonly module: CoreModule;
  /** Encodes single edges; calls must not overlap. */
  readonly batch: EdgeBatch;
  readonly sink: TextSink;
  readonly committer: Committer;
  /**
   * Held during compaction; segments are replaced and memtables removed only while this mutex is
   * held. Lock order: acquire this mutex first, then become the committer's exclusive writer
   * (`Committer.alone`).
   */
  readonly compactions: Mutex;
  readonly residency: Residency;
  readonly memtables: MemtableRoom;
  /** The text blocks over rows of memtables. */
  readonly texts: MemtableTexts;
  /** Builds them after commits. */
  readonly textsAhead: TextsAhead;
  /** The keys and numbers of all nodes of node tables. */
  readonly nodes: NodeDirectory;
  /** Whether node filters of segments are kept in memory. */
  readonly nodeFilters: boolean;
  /** Accounts for the memory of replaced table versions that only readers still hold. */
  readonly pinned: PinnedVersions;
  /** Memory shared by the node filters of all tables. */
  readonly filterRoom: FilterRoom;
  /** Called when a table continues without node filters because there is no memory for them. */
  readonly noFilters: (table: { readonly name: string }) => void;
  /** Directory that holds the segments of all tables. */
  readonly tablesDir: string;
  readonly primaryTable: string;
  /** Whether frames record what readers of changes need, and since when. */
  readonly history: ChangeHistory;
  /** Maximum number of distinct members per edge, enforced on insert. */
  readonly maxMembers: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  /** Commits of at least this many operations are applied in slices (large-commit.ts). */
  readonly slicedOperations: number;
  /**
   * Yield to other work, one function for each kind of work of the engine. They may resolve in the
   * same turn of the event loop (schedule/scheduler.ts).
   */
  readonly pauses: EnginePauses;
  /**
   * Called after each commit that writes to a table or sets its threshold, once it is in the log.
   */
  readonly afterCommit: (tableId: number) => void;
}
