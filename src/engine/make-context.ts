// Builds the `EngineContext`, the state that all tables of a database share.

import { type CoreModule, EdgeBatch, FilterRoom, TextSink } from '../core/index.ts';
import type { Mutex } from '../schedule/locks.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import { ChangeHistory } from './changes/change-history.ts';
import type { Committer } from './commit/committer.ts';
import type { EngineContext, EnginePauses, EngineWork } from './context.ts';
import type { EngineOptions } from './engine-options.ts';
import { NodeDirectory } from './nodes/node-directory.ts';
import { MEMTABLE_LIMITS, MemtableRoom } from './table/memtable-room.ts';
import { PinnedVersions } from './table/pinned-versions.ts';
import { Residency } from './table/residency.ts';
import { MemtableTexts } from './texts/memtable-texts.ts';
import { PIECE_BYTES } from './texts/text-pieces.ts';
import { TextsAhead } from './texts/texts-ahead.ts';

/** Commits with fewer operations take about 20 ms at most, so they are not applied in slices. */
const SLICED_OPERATIONS = 4096;

/** Default for the maximum number of segments in memory. */
const RESIDENT_SEGMENTS = 4096;
/** Maximum share of the memory budget that node filters may use; segments need the rest. */
const FILTERS_OF_BUDGET = 1 / 2;
/**
 * Share of the memory budget that memtables held only by readers may use; above it, cursors are
 * ended.
 */
const PINNED_OF_BUDGET = 1 / 4;
/** Share of the memory budget at which the dictionary of the keys of nodes takes no new ones. */
const KEYS_OF_BUDGET = 1 / 2;

/** Maximum share of the memory budget that text blocks over rows of memtables may use. */
const TEXTS_OF_BUDGET = 1 / 4;
/** Default for the rows of a full text block over rows of a memtable. */
const TEXT_PIECE_ROWS = 4096;

export function contextOf(
  options: EngineOptions,
  committer: Committer,
  module: CoreModule,
  scheduler: Scheduler,
  compactions: Mutex,
  afterCommit: (tableId: number) => void,
): EngineContext {
  const { fs, dir, primaryTable, maxMembers, memoryBudgetBytes, now, nowUs, defer } = options;
  const residency = new Residency(fs, module, nowUs, memoryBudgetBytes, options.residentSegments ?? RESIDENT_SEGMENTS);
  const charge = (bytes: number) => residency.charge(bytes);
  const filterRoom = new FilterRoom(module, { limitBytes: memoryBudgetBytes * FILTERS_OF_BUDGET, charge });
  const pinned = new PinnedVersions({ limitBytes: memoryBudgetBytes * PINNED_OF_BUDGET, charge });
  const instantiate = () => residency.instance();
  const pieceRows = options.textPieceRows ?? TEXT_PIECE_ROWS;
  const texts = new MemtableTexts({
    pieceRows,
    limitBytes: memoryBudgetBytes * TEXTS_OF_BUDGET,
    charge,
    instantiate,
  });
  const pauses = pausesOf(scheduler, defer);
  return {
    fs,
    module,
    batch: new EdgeBatch(module.instantiate()),
    sink: new TextSink(),
    committer,
    compactions,
    nodeFilters: options.nodeFilters ?? true,
    residency,
    memtables: new MemtableRoom({ ...MEMTABLE_LIMITS, ...options.memtableLimits }, instantiate, (memtable) =>
      texts.release(memtable),
    ),
    texts,
    textsAhead: new TextsAhead({
      texts,
      pieceRows,
      pieceBytes: PIECE_BYTES,
      pause: pauses.texts,
      failed: ({ name }, error) =>
        options.notice?.('text blocks could not be built before a search', {
          table: name,
          detail: (error as Error).message,
        }),
    }),
    nodes: new NodeDirectory({
      instantiate,
      charge,
      visibleLsn: () => committer.visibleLsn,
      limitBytes: memoryBudgetBytes * KEYS_OF_BUDGET,
    }),
    filterRoom,
    pinned,
    noFilters: noticeOnce(options, filterRoom),
    tablesDir: `${dir}/tables`,
    primaryTable,
    history: new ChangeHistory(),
    maxMembers,
    now,
    nowUs,
    slicedOperations: options.slicedOperations ?? SLICED_OPERATIONS,
    pauses,
    afterCommit,
  };
}

function pausesOf(scheduler: Scheduler, defer: EngineOptions['defer']): EnginePauses {
  const pause = (kind: EngineWork) =>
    defer === undefined ? () => scheduler.pause(kind) : () => new Promise<void>(defer);
  return {
    backup: pause('backup'),
    changes: pause('changes'),
    checkpoint: pause('checkpoint'),
    commit: pause('commit'),
    compaction: pause('compaction'),
    figures: pause('figures'),
    texts: pause('texts'),
  };
}

/** Reports each table without node filters only once, although every compaction tries again. */
function noticeOnce({ notice }: EngineOptions, room: FilterRoom): EngineContext['noFilters'] {
  const known = new WeakSet<object>();
  return (table) => {
    if (known.has(table)) return;
    known.add(table);
    notice?.('there is no memory for the node filters of a table; lookups by node look into all of its segments', {
      table: table.name,
      filterBytes: room.usedBytes,
      filterLimitBytes: room.limitBytes,
    });
  };
}
