// Public interface of the engine: other folders import only from this file and from verify/index.ts
// (test/doors.test.ts).

export {
  type AnswerToKeep,
  type Attach,
  type KeptAnswer,
  SMALL_BODY_LENGTH,
  type WrittenIds,
} from '../model/kept-answer.ts';
export type {
  LogBatches,
  LogFollower,
  LogFrame,
  LogHistory,
  LogLease,
  LogOpening,
  LogStore,
  OpenLog,
} from '../storage/index.ts';
export { writeFailure } from './backup/archive-writer.ts';
export type { BackupOptions, BackupResult, BackupStream } from './backup/backups.ts';
export { restoreBackup } from './backup/restore.ts';
export type { AlterAction } from './catalog/alter.ts';
export type { DocumentChange, Documents } from './catalog/documents.ts';
export type { NamedTableInput } from './catalog/named-table.ts';
export type { ChangeReader } from './changes/change-feed.ts';
export type { Change, ChangeForm, ChangeTail } from './changes/change-tail.ts';
export { neededLogLsn } from './checkpoint/needed-log.ts';
export { InlineRunner } from './compaction/merge-files.ts';
export { WorkerRunner } from './compaction/worker-runner.ts';
export { Database } from './database.ts';
export type { EngineOptions } from './engine-options.ts';
export type { FrameApplier } from './follow/frame-applier.ts';
export type { FrameFeed, FrameReader } from './follow/frame-feed.ts';
export type { IdempotencyStore } from './idempotency/idempotency-store.ts';
export { IdRanges } from './idempotency/kept-answer.ts';
export { WideMap } from './idempotency/wide-map.ts';
export type { NodeTableInput, NodeTableItem } from './nodes/definitions.ts';
export { KEY_TYPES, type KeyType } from './nodes/definitions.ts';
export type { KeyOrder } from './nodes/key-orders.ts';
export { nodeNumber } from './nodes/lookup.ts';
export { NO_NODE, type NodeKind } from './nodes/node-directory.ts';
export type { Nodes } from './nodes/nodes.ts';
export { type DatabaseOptions, openDatabase } from './open.ts';
export { LOG_ORIGIN } from './recovery/open-log.ts';
export { type EdgePiece, EdgeRead, type EdgeWindow } from './scan/edge-read.ts';
export { readEdges } from './scan/read-edges.ts';
export { Scan } from './scan/scan.ts';
export { NO_INTERVALS } from './scan/scan-request.ts';
export type { SegmentPart, SegmentScan } from './scan/scan-segments.ts';
export { type ScanOverlay, strategyOf } from './scan/scan-view.ts';
export { markedPlanOf } from './table/row-plan-of.ts';
export { Snapshot, snapshotAt } from './table/snapshot.ts';
export { Table } from './table/table.ts';
export { bestRows } from './texts/best-rows.ts';
export { bytesWithoutBlock } from './texts/memtable-words.ts';
export { searchStatistics } from './texts/search-statistics.ts';
export type { CommitOutcome, CommitResult } from './transaction/staged.ts';
export { Transaction } from './transaction/transaction.ts';
export type * from './types.ts';
export { type VerifyReport, verifyDirectory } from './verify/verify-directory.ts';
export { BulkInsert } from './write/bulk-insert.ts';
