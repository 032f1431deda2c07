// What a transaction has staged: operations in the order they came, and what each one answers.

import type { RowPlace } from './live-rows.ts';
import type { Table } from './table.ts';
import type { DeleteOutcome, DeleteResult, EdgeRow, InsertOutcome, InsertResult, RowKey } from './types.ts';

export interface StagedInsert {
  kind: 'insert';
  table: Table;
  record: Uint8Array;
  row: EdgeRow;
}

/** By time and members: takes what is live at commit. */
export interface StagedDelete {
  kind: 'delete';
  table: Table;
  record: Uint8Array;
  eventTs: number;
  members: number[];
}

export interface StagedUpdate {
  kind: 'updateRow';
  table: Table;
  target: StagedTarget;
  record: Uint8Array;
  row: EdgeRow;
}

export interface StagedRowDelete {
  kind: 'deleteRow';
  table: Table;
  target: StagedTarget;
}

export type Staged = StagedInsert | StagedDelete | StagedUpdate | StagedRowDelete;

/** A row that goes: one of the snapshot, or one that an earlier operation, at that place, made. */
export type StagedTarget = RowPlace | { staged: number; key: RowKey };

/** What the removal of one row by its id answers, but for its LSN. */
export interface RowDeleteOutcome {
  matched: 1;
  id: number;
  event_ts: number;
}

export interface RowDeleteResult extends RowDeleteOutcome {
  lsn: number;
}

export interface CommitResult {
  lsn: number;
  /** In the order staged; an update answers as an insert. Made when asked for. */
  readonly results: (InsertResult | DeleteResult | RowDeleteResult)[];
}

/** What a commit answers, but for LSNs. */
export interface CommitOutcome {
  results: (InsertOutcome | DeleteOutcome | RowDeleteOutcome)[];
}
