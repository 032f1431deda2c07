// Plain values that callers of the engine pass (definitions, edges, scan requests) and the results
// that they get back.

import type { ColumnPlan, CoreMemtable, KeyForm, RowPlan } from '../core/index.ts';
import type { ColumnType, PropertyValue } from '../model/column-types.ts';
import type { ColumnDefinition } from '../model/columns.ts';
import type { EdgeInput } from '../model/edge.ts';
import type { OptionFields, TableOptions } from '../model/options.ts';
import type { RoleLists } from '../model/roles.ts';
import type { ShapeFields, ShapeInput } from '../model/shape.ts';
import type { Language, SearchPart } from '../text/index.ts';
import type { SegmentFile } from './table/segment-file.ts';

export type { ColumnDefinition, ColumnType, EdgeInput, PropertyValue };

/** Input to create a table; omitted options have their default values (model/options.ts). */
export interface TableInput extends Partial<TableOptions>, ShapeInput {
  name: string;
  memberTables?: string[];
  columns?: ColumnDefinition[];
}

/** The form of a table that is returned to clients. */
export interface TableItem extends OptionFields, ShapeFields {
  name: string;
  member_tables: string[];
  row_count: number;
  /** `default` is present if the column has one and the caller asked for defaults. */
  columns: { name: string; type: ColumnType; default?: Exclude<PropertyValue, null> }[];
  created_at: number;
  primary: boolean;
}

/**
 * An edge as stored: the members are ascending and distinct, and every column of the table is
 * present.
 */
export interface EdgeRow {
  id: number;
  event_ts: number;
  members: number[];
  /** Of a table with roles: the members of each role, ascending. */
  roles?: RoleLists;
  [column: string]: number | number[] | PropertyValue | RoleLists | undefined;
}

/** Outcome of a bulk insert, without its LSN. */
export interface BulkOutcome {
  inserted: number;
  firstId: number;
  lastId: number;
}

export interface BulkInsertResult extends BulkOutcome {
  /** LSN of the commit. Reads at this LSN or a later one see the rows. */
  lsn: number;
}

/** Outcome of an insert, without its LSN. */
export interface InsertOutcome {
  row: EdgeRow;
}

export interface InsertResult extends InsertOutcome {
  lsn: number;
}

/** Outcome of a delete, without its LSN. */
export interface DeleteOutcome {
  matched: number;
  event_ts: number;
  /** Ascending and distinct. */
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
  /**
   * The corrupt tables that were skipped when all tables were compacted, with the reason. Absent if
   * there are none.
   */
  corrupt_tables?: Record<string, string>;
}

export interface WalStatus {
  pending: number;
  threshold: number;
  size_bytes: number;
  last_lsn: number;
  tables: Record<string, { pending: number; threshold: number }>;
}

/**
 * Health statistics, without the fields that only the server can add (status, version, uptime).
 * Sums are over all tables; `bucket_seconds` is that of the primary table.
 */
export interface EngineHealth {
  db_dir: string;
  total_records: number;
  bucket_count: number;
  bucket_seconds: number;
  node_count: number;
  /**
   * False if the nodes of some table were not counted in its current state. `node_count` then
   * includes the last count of that table or, before its first count, a lower bound.
   */
  node_count_exact: boolean;
  wal_pending: number;
  tables: number;
  segments: number;
  resident_bytes: number;
  /**
   * Other memory charged to the budget: node filters, memory pinned by cursors, node counts in
   * progress.
   */
  charged_bytes: number;
  /** Part of `charged_bytes`: memtables kept only for open cursors and transactions. */
  pinned_bytes: number;
  memtable_bytes: number;
  last_lsn: number;
  durability: 'fsync' | 'async';
  /**
   * Tables that refuse reads and writes because one of their files is corrupt. Maps the name to the
   * reason, with file and offset.
   */
  corrupt_tables: Record<string, string>;
  log_failed: string | null;
  /**
   * Epoch second until which requests with an unknown Idempotency-Key are refused, because a file
   * of stored answers was damaged; null if no file was damaged.
   */
  answers_damaged_until: number | null;
}

/** Figures for gauges and counters, which are cheap to compute. Sums are over all tables. */
export interface EngineFigures {
  /** Live edges. */
  records: number;
  tables: number;
  /** Live nodes of node tables. */
  nodes: number;
  /** Part of `chargedBytes`: the keys of nodes. */
  nodeKeyBytes: number;
  /** Number of tables that refuse reads and writes because one of their files is corrupt. */
  corruptTables: number;
  indexes: number;
  segments: number;
  /** Total size in bytes of the segments that are in memory. */
  residentBytes: number;
  /** The same as `charged_bytes` in the health statistics. */
  chargedBytes: number;
  /** Part of `chargedBytes`: memtables kept only for open cursors and transactions. */
  pinnedBytes: number;
  memtableBytes: number;
  /** Number of operations in the log that are not in a segment yet. */
  walPending: number;
  walBytes: number;
  snapshotsOpen: number;
  /**
   * Number of table compactions that succeeded since the start, requested or automatic, including
   * those that built an index. A compaction of all tables counts once for each table that needed
   * it.
   */
  compactions: number;
  compactionsRunning: number;
  compactionsQueued: number;
  durability: 'fsync' | 'async';
  /** Whether the log has failed, so that writes are refused. */
  logFailed: boolean;
}

/** A secondary index on a numeric column (PSI), in the form that is returned to clients. */
export interface IndexItem {
  table: string;
  column: string;
  /** Epoch seconds. */
  created_at: number;
}

/** A text index, in the form that is returned to clients. */
export interface TextIndexItem {
  table: string;
  kind: 'text';
  columns: string[];
  language: Language;
  /** Epoch seconds. */
  created_at: number;
}

/** What a caller gives to create a text index. */
export interface TextIndexInput {
  /** Names of TEXT columns, at least one. */
  columns: readonly string[];
  /** Default: none. */
  language?: Language | undefined;
}

export interface QueryPlan {
  strategy:
    | 'TPI_BUCKET_PUSHDOWN'
    | 'FMI_LOOKUP'
    | 'FMI_INTERSECT'
    | 'PSI_RANGE'
    | 'INTERVAL_STAB'
    | 'TEXT_SEARCH'
    | 'FULL_SCAN';
  buckets_scanned: number;
  total_buckets: number;
  speedup_factor: number;
  elapsed_us: number;
}

/** A position in (event_ts, id) order. */
export interface RowKey {
  eventTs: number;
  id: number;
}

/**
 * Selects rows whose value in a numeric column is between two bounds. Null never matches; an
 * omitted bound is no limit.
 */
export interface RangeCondition {
  /** `id`, `weight`, `mean_dist_m` or a user column of type INTEGER or REAL; case-insensitive. */
  column: string;
  low?: number | undefined;
  high?: number | undefined;
  /** Default true. */
  lowInclusive?: boolean | undefined;
  /** Default true. */
  highInclusive?: boolean | undefined;
}

/** Selects rows that have exactly this text in a TEXT column. Null never matches. */
export interface TextCondition {
  /** The id of the column, which stays the same if the column is renamed. */
  readonly column: number;
  /** Without lone halves of surrogate pairs. */
  readonly text: string;
}

/** Selects rows in whose texts words are found. */
export interface SearchCondition {
  /** Ids of the TEXT columns, in the order in which their words follow each other. */
  readonly columns: readonly number[];
  readonly language: Language;
  readonly parts: readonly SearchPart[];
  /** If present, only these rows of segments are read. */
  readonly candidates?: SearchCandidates | undefined;
}

/** Rows that may be among the best of a search. Other rows need not be read. */
export interface SearchCandidates {
  /** Rows of segments, ascending; the segments without any are left out. */
  readonly segments: ReadonlyMap<SegmentFile, Uint32Array>;
  /** Rows of memtables, ascending. Undefined: all rows of memtables may be among the best. */
  readonly memtables: ReadonlyMap<CoreMemtable, Uint32Array> | undefined;
  /**
   * The scores of all these rows, by id, which are the same as those that their texts give.
   * Undefined: those of rows of memtables are not known.
   */
  readonly scores: ReadonlyMap<number, number> | undefined;
}

/** Rows of a memtable, as text blocks tell them for a search. */
export interface MarkedRows {
  /** Rows that match, ascending by number, dead ones among them. */
  readonly found: Uint32Array;
  /** Stretches of row numbers [from, to) that must be read to know, ascending. */
  readonly unknown: readonly { readonly from: number; readonly to: number }[];
}

/** The statistics from which scores (BM25) are computed, of one snapshot. */
export interface SearchStatistics {
  /** Number of live rows with a word. */
  readonly rows: number;
  /** Average number of words of these rows. */
  readonly averageLength: number;
  /** The weight of each part: its idf, or the sum of those of a phrase's words; 0 for a `not`. */
  readonly weights: Float64Array;
}

/** Selects rows in which a node has a role. */
export interface RoleCondition {
  node: number;
  /** Case-insensitive. */
  role: string;
}

/**
 * Selects live rows of a table, in (event_ts, id) order. The time bounds are inclusive. A row must
 * have every node in `nodes` as a member.
 */
export type ScanRequest = ScanBounds & ScanFormat;

export interface ScanBounds {
  startTs?: number | undefined;
  endTs?: number | undefined;
  /**
   * Only edges that hold at this time, in seconds: `event_ts <= at` and `end_ts` above it or null.
   * The table must have intervals. `startTs` and `endTs` bound the beginning.
   */
  at?: number | undefined;
  /** If present, must contain at least one node. */
  nodes?: readonly number[] | undefined;
  /**
   * Selects only rows that contain at least one of these nodes, each given once. Not together with
   * `nodes`; only for `scan`.
   */
  anyOf?: Float64Array | undefined;
  /** Roles that nodes of `nodes` must have; all must hold. */
  inRoles?: readonly RoleCondition[] | undefined;
  /** Conditions that must all hold. */
  where?: readonly RangeCondition[] | undefined;
  /** Texts of columns; all must hold. */
  texts?: readonly TextCondition[] | undefined;
  /**
   * Returns only rows in which the words are found: by the text blocks of the table's text index,
   * and by reading the rows that no block covers. Only for `scan` and `scanApart`.
   */
  search?: SearchCondition | undefined;
  /** Maximum number of rows. If it is omitted, there is no limit. */
  limit?: number | undefined;
  /** Selects only rows strictly after this key, to resume a cursor. */
  after?: RowKey | undefined;
}

export type ScanFormat =
  /**
   * With `json`, rows are separated by commas, without brackets. With `ndjson`, each row ends with
   * a newline. `rows` selects or renames columns. If it writes members as marks (`markedPlanOf`),
   * `keys` puts the keys of the nodes in their place, unless the caller gives its own sink.
   */
  | { format: 'json' | 'ndjson'; rows?: RowPlan | undefined; keys?: KeyForm | undefined }
  /** Column blocks with the fields that the plan requests (core/column-block.ts). */
  | { format: 'columns'; columns: ColumnPlan };
