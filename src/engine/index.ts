// The engine's door (README.md): everything above it comes through here.

export type {
  LogBatches,
  LogFrame,
  LogLease,
  LogOpening,
  LogStore,
  OpenLog,
} from '../storage/log-store.ts';
export type { BackupOptions, BackupResult } from './backup/backups.ts';
export type { AlterAction } from './catalog/alter.ts';
export type { DocumentChange, Documents } from './catalog/documents.ts';
export { InlineRunner } from './compaction/merge-files.ts';
export { WorkerRunner } from './compaction/worker-runner.ts';
export { Database } from './database.ts';
export type { EngineOptions } from './engine-options.ts';
export type { Replays } from './idempotency/idempotency-store.ts';
export {
  type Attach,
  IdRanges,
  type KeptAnswer,
  type ReplayEntry,
  SMALL_BODY_LENGTH,
  type WrittenIds,
} from './idempotency/kept-answer.ts';
export { type DatabaseOptions, openDatabase } from './open.ts';
export { type EdgePiece, EdgeRead, type EdgeWindow } from './scan/edge-read.ts';
export { readEdges } from './scan/read-edges.ts';
export { Scan } from './scan/scan.ts';
export { Snapshot } from './table/snapshot.ts';
export { Table } from './table/table.ts';
export type { CommitOutcome, CommitResult } from './transaction/staged.ts';
export { Transaction } from './transaction/transaction.ts';
export type * from './types.ts';
export { BulkInsert } from './write/bulk-insert.ts';
