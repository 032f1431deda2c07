// What the service uses of the engine's door (src/engine/README.md), as interfaces, so that tests can put a fake behind the routes.

import type {
  BulkInsertResult,
  CompactionResult,
  DeleteResult,
  EdgeInput,
  EngineHealth,
  InsertResult,
  QueryPlan,
  RowKey,
  ScanRequest,
  TableInput,
  TableItem,
  WalStatus,
} from '../engine/types.ts';

export interface Snapshot {
  readonly lsn: number;
  release(): void;
}

export interface Scan {
  /** The next slice of row text, null at the end. Synchronous, bounded to a few ms. */
  next(): Uint8Array | null;
  readonly rows: number;
  readonly lastKey: RowKey | undefined;
  /** After null: the limit ended the scan and at least one more row exists. */
  readonly hasMore: boolean;
  plan(): QueryPlan;
  close(): void;
}

export interface BulkInsert {
  add(edge: EdgeInput): void;
  readonly count: number;
  commit(): Promise<BulkInsertResult>;
}

export interface Table {
  readonly name: string;
  readonly bucketSeconds: number;
  item(): TableItem;
  insert(edge: EdgeInput): Promise<InsertResult>;
  delete(eventTs: number, members: readonly number[]): Promise<DeleteResult>;
  scan(request: ScanRequest, snapshot?: Snapshot): Scan;
  bulk(): BulkInsert;
}

export interface Transaction {
  insert(table: Table, edge: EdgeInput): void;
  delete(table: Table, eventTs: number, members: readonly number[]): void;
  commit(): Promise<{ lsn: number; results: (InsertResult | DeleteResult)[] }>;
  rollback(): void;
}

export interface Database {
  readonly primaryTable: string;
  readonly dir: string;
  readonly lastLsn: number;
  table(name?: string): Table;
  tables(): Table[];
  createTable(input: TableInput): Promise<Table>;
  dropTable(name: string): Promise<void>;
  begin(): Transaction;
  compact(options: { table?: string; ttlSeconds?: number }): Promise<CompactionResult>;
  setCompactThreshold(threshold: number, table?: string): Promise<void>;
  snapshot(table: Table): Snapshot;
  wal(): WalStatus;
  health(): EngineHealth;
  close(): Promise<void>;
}
