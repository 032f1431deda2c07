// The plain values that cross the engine's door: what a caller gives (definitions, edges, scans) and what it gets back.

export type ColumnType = 'INTEGER' | 'REAL' | 'TEXT' | 'BOOLEAN';
export type PropertyValue = number | string | boolean | null;

export interface ColumnDefinition {
  name: string;
  type: ColumnType;
  default?: PropertyValue;
}

/** What a caller gives to create a table; omitted fields take the defaults of the specification, section 2.2. */
export interface TableInput {
  name: string;
  memberTables?: string[];
  bucketSeconds?: number;
  compactThreshold?: number;
  columns?: ColumnDefinition[];
}

/** The wire form of a table (contract section 3). */
export interface TableItem {
  name: string;
  member_tables: string[];
  bucket_seconds: number;
  compact_threshold: number;
  row_count: number;
  columns: { name: string; type: ColumnType }[];
  created_at: number;
  primary: boolean;
}

/** One edge as a caller gives it: `event_ts` in seconds, members in any order, repeats allowed. Undefined or null properties are null. */
export interface EdgeInput {
  event_ts: number;
  members: readonly number[];
  /** Built-in columns (`weight`, `mean_dist_m`, `formation`) and user columns by name. */
  properties?: Readonly<Record<string, PropertyValue | undefined>> | undefined;
}

/** An edge as it was stored: members ascending without repeats, every column of the table present. */
export interface EdgeRow {
  id: number;
  event_ts: number;
  members: number[];
  [column: string]: number | number[] | PropertyValue;
}

export interface BulkInsertResult {
  inserted: number;
  firstId: number;
  lastId: number;
  /** The LSN of the commit: a read at this LSN or later sees it. */
  lsn: number;
}

export interface InsertResult {
  row: EdgeRow;
  lsn: number;
}

export interface DeleteResult {
  matched: number;
  event_ts: number;
  /** Ascending, without repeats. */
  members: number[];
  lsn: number;
}

export interface CompactionResult {
  tables: string[];
  wal_pending_before: number;
  wal_pending_after: number;
  buckets_dropped: number;
  edges_dropped: number;
  tombstones_reconciled: number;
  elapsed_ms: number;
}

export interface WalStatus {
  pending: number;
  threshold: number;
  size_bytes: number;
  last_lsn: number;
  tables: Record<string, { pending: number; threshold: number }>;
}

/** Specification 2.6, without what only the server knows (status, version, uptime). Sums are over all tables, bucket_seconds is the primary table's. */
export interface EngineHealth {
  db_dir: string;
  total_records: number;
  bucket_count: number;
  bucket_seconds: number;
  node_count: number;
  wal_pending: number;
  tables: number;
  segments: number;
  resident_bytes: number;
  memtable_bytes: number;
  last_lsn: number;
  durability: 'fsync' | 'async';
  /** Tables that refuse reads and writes because a file of theirs is corrupt: name -> reason with file and offset. */
  corrupt_tables: Record<string, string>;
  log_failed: string | null;
}

export interface QueryPlan {
  strategy: 'TPI_BUCKET_PUSHDOWN' | 'FMI_LOOKUP' | 'FMI_INTERSECT' | 'PSI_RANGE' | 'FULL_SCAN';
  buckets_scanned: number;
  total_buckets: number;
  speedup_factor: number;
  elapsed_us: number;
}

/** A place in (event_ts, id) order. */
export interface RowKey {
  eventTs: number;
  id: number;
}

/** Which live rows of a table, in (event_ts, id) order. Bounds are inclusive; every node of `nodes` must be a member. */
export interface ScanRequest {
  startTs?: number | undefined;
  endTs?: number | undefined;
  nodes?: readonly number[] | undefined;
  /** At most so many rows; undefined = all. */
  limit?: number | undefined;
  /** Only rows strictly after this key (a cursor). */
  after?: RowKey | undefined;
  /** `json`: rows separated by commas, no brackets. `ndjson`: every row ends with a newline. */
  format: 'json' | 'ndjson';
}
