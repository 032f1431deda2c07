// Makes what all tables of a database share.

import { type CoreModule, EdgeBatch, TextSink } from '../core/index.ts';
import type { Committer } from './committer.ts';
import type { EngineContext } from './context.ts';
import type { EngineOptions } from './engine-options.ts';
import type { Mutex } from './mutex.ts';
import { Residency } from './residency.ts';

/** Fewer operations take some 20 ms at most. */
const SLICED_OPERATIONS = 4096;

export function contextOf(
  options: EngineOptions,
  committer: Committer,
  module: CoreModule,
  compactions: Mutex,
  afterCommit: (tableId: number) => void,
): EngineContext {
  const { fs, dir, primaryTable, maxMembers, memoryBudgetBytes, now, nowUs } = options;
  return {
    fs,
    module,
    batch: new EdgeBatch(module.instantiate()),
    sink: new TextSink(),
    committer,
    compactions,
    nodeFilters: options.nodeFilters ?? true,
    residency: new Residency(fs, module, memoryBudgetBytes),
    tablesDir: `${dir}/tables`,
    primaryTable,
    maxMembers,
    now,
    nowUs,
    slicedOperations: options.slicedOperations ?? SLICED_OPERATIONS,
    pause: () => new Promise((resolve) => void (options.defer ?? setImmediate)(resolve)),
    afterCommit,
  };
}
