// The engine's door (README.md): everything above it comes through here.

export type { AlterAction } from './alter.ts';
export type { BackupOptions, BackupResult } from './backup/backups.ts';
export { BulkInsert } from './bulk-insert.ts';
export { InlineRunner } from './compaction/merge-files.ts';
export { WorkerRunner } from './compaction/worker-runner.ts';
export { Database } from './database.ts';
export type { DocumentChange, Documents } from './documents.ts';
export { type EdgePiece, EdgeRead, type EdgeWindow } from './edge-read.ts';
export type { EngineOptions } from './engine-options.ts';
export { type DatabaseOptions, openDatabase } from './open.ts';
export { readEdges } from './read-edges.ts';
export {
  type Attach,
  IdRanges,
  type KeptAnswer,
  type ReplayEntry,
  SMALL_BODY_LENGTH,
  type WrittenIds,
} from './replay-entry.ts';
export type { Replays } from './replays.ts';
export { Scan } from './scan.ts';
export { Snapshot } from './snapshot.ts';
export type { CommitOutcome, CommitResult } from './staged.ts';
export { Table } from './table.ts';
export { Transaction } from './transaction.ts';
export type * from './types.ts';
