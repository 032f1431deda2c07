// The engine's door (README.md): everything above it comes through here.

export { BulkInsert } from './bulk-insert.ts';
export { InlineRunner } from './compaction/merge-files.ts';
export { WorkerRunner } from './compaction/worker-runner.ts';
export { Database, type EngineOptions } from './database.ts';
export { type DatabaseOptions, openDatabase } from './open.ts';
export { Scan } from './scan.ts';
export { Snapshot } from './snapshot.ts';
export { Table } from './table.ts';
export { type CommitResult, Transaction } from './transaction.ts';
export type * from './types.ts';
