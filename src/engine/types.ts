// The plain values that cross the engine's door: what a caller gives (definitions, edges, scans) and what it gets back.

import type { ColumnPlan, RowPlan } from '../core/index.ts';
import type { ColumnType, PropertyValue } from '../model/column-types.ts';
import type { ColumnDefinition } from '../model/columns.ts';
import type { EdgeInput } from '../model/edge.ts';
import type { OptionFields, TableOptions } from '../model/options.ts';

export type { ColumnDefinition, ColumnType, EdgeInput, PropertyValue };

/** What a caller gives to create a table; omitted fields take the defaults of the specification, section 2.2. */
export interface TableInput extends Partial<TableOptions> {
  name: string;
  memberTables?: string[];
  columns?: ColumnDefinition[];
}

/** The wire form of a table (contract section 3). */
export interface TableItem extends OptionFields {
  name: string;
  member_tables: string[];
  row_count: number;
  /** `default`: where there is one and it was asked for. */
  columns: { name: string; type: ColumnType; default?: Exclude<PropertyValue, null> }[];
  created_at: number;
  primary: boolean;
}

/** An edge as it was stored: members ascending without repeats, every column of the table present. */
export interface EdgeRow {
  id: number;
  event_ts: number;
  members: number[];
  [column: string]: number | number[] | PropertyValue;
}

/** What a bulk insert answers, but for its LSN. */
export interface BulkOutcome {
  inserted: number;
  firstId: number;
  lastId: number;
}

export interface BulkInsertResult extends BulkOutcome {
  /** The LSN of the commit: a read at this LSN or later sees it. */
  lsn: number;
}

/** What an insert answers, but for its LSN. */
export interface InsertOutcome {
  row: EdgeRow;
}

export interface InsertResult extends InsertOutcome {
  lsn: number;
}

/** What a delete answers, but for its LSN. */
export interface DeleteOutcome {
  matched: number;
  event_ts: number;
  /** Ascending, without repeats. */
  members: number[];
}

export interface DeleteResult extends DeleteOutcome {
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
  /** Of all tables: those that were left out, with the reason; absent when there are none. */
  corrupt_tables?: Record<string, string>;
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
  /** False: distinct nodes are still being counted; `node_count` is the last count, or a lower bound where there is none yet. */
  node_count_exact: boolean;
  wal_pending: number;
  tables: number;
  segments: number;
  resident_bytes: number;
  /** Other memory within the budget: node filters, what cursors pin, counts that run. */
  charged_bytes: number;
  /** Of these, memtables that only open cursors and transactions hold. */
  pinned_bytes: number;
  memtable_bytes: number;
  last_lsn: number;
  durability: 'fsync' | 'async';
  /** Tables that refuse reads and writes because a file of theirs is corrupt: name -> reason with file and offset. */
  corrupt_tables: Record<string, string>;
  log_failed: string | null;
  /** Until this epoch second, requests with an Idempotency-Key that is not known are refused: a file of stored answers was damaged. Null: none was. */
  answers_damaged_until: number | null;
}

/** Figures for gauges and counters; cheap to take. Sums over all tables. */
export interface EngineFigures {
  /** Live rows. */
  records: number;
  tables: number;
  /** Tables that refuse because a file of theirs is corrupt. */
  corruptTables: number;
  indexes: number;
  segments: number;
  /** Bytes of the segments that are in memory. */
  residentBytes: number;
  /** Other memory within the budget: node filters, what cursors pin, counts that run. */
  chargedBytes: number;
  /** Of these, memtables that only open cursors and transactions hold. */
  pinnedBytes: number;
  memtableBytes: number;
  /** Operations in the log that are in no segment. */
  walPending: number;
  walBytes: number;
  snapshotsOpen: number;
  /** Compactions of a table that ended well since the start, asked for or not; those that built an index are among them. */
  compactions: number;
  compactionsRunning: number;
  compactionsQueued: number;
  durability: 'fsync' | 'async';
  /** The log takes no more writes. */
  logFailed: boolean;
}

/** A secondary index of a numeric column (PSI), as it is answered. */
export interface IndexItem {
  table: string;
  column: string;
  /** Epoch seconds. */
  created_at: number;
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

/** Rows whose value of a numeric column lies between two bounds. Null lies in none; a bound left out does not bound. */
export interface RangeCondition {
  /** `weight`, `mean_dist_m` or a user column of type INTEGER or REAL; compared without case. */
  column: string;
  low?: number | undefined;
  high?: number | undefined;
  /** Default true. */
  lowInclusive?: boolean | undefined;
  /** Default true. */
  highInclusive?: boolean | undefined;
}

/** Which live rows of a table, in (event_ts, id) order. Bounds are inclusive; every node of `nodes` must be a member. */
export type ScanRequest = ScanBounds & ScanFormat;

export interface ScanBounds {
  startTs?: number | undefined;
  endTs?: number | undefined;
  /** At least one, when given. */
  nodes?: readonly number[] | undefined;
  /** All must hold. */
  where?: readonly RangeCondition[] | undefined;
  /** At most so many rows; undefined = all. */
  limit?: number | undefined;
  /** Only rows strictly after this key (a cursor). */
  after?: RowKey | undefined;
}

export type ScanFormat =
  /** `json`: rows separated by commas, no brackets. `ndjson`: every row ends with a newline. `rows`: other columns than the table's, or under other names. */
  | { format: 'json' | 'ndjson'; rows?: RowPlan | undefined }
  /** Column blocks of what the plan asks for (core/column-block.ts). */
  | { format: 'columns'; columns: ColumnPlan };
