// What a transaction has staged: operations in the order they came, and what each one answers. There may be a million, so each is one small object.

import type { KeptBytes } from './byte-arena.ts';
import type { RowPlace } from './live-rows.ts';
import type { Table } from './table.ts';
import type { DeleteOutcome, DeleteResult, EdgeRow, InsertOutcome, InsertResult, RowKey } from './types.ts';

/** A new row: its key, and its record as KeptBytes. */
interface NewRow extends RowKey, KeptBytes {
  readonly table: Table;
}

export interface StagedInsert extends NewRow {
  readonly kind: 'insert';
  readonly row: EdgeRow;
}

/** By time and members: takes what is live at commit. */
export interface StagedDelete extends KeptBytes {
  readonly kind: 'delete';
  readonly table: Table;
  readonly eventTs: number;
  readonly members: number[];
}

export interface StagedUpdate extends NewRow {
  readonly kind: 'updateRow';
  readonly target: StagedTarget;
  /** Undefined: nobody wants the answer. */
  readonly row: EdgeRow | undefined;
}

export interface StagedRowDelete {
  readonly kind: 'deleteRow';
  readonly table: Table;
  readonly target: StagedTarget;
}

export type Staged = StagedInsert | StagedDelete | StagedUpdate | StagedRowDelete;

/** One that an earlier operation, at that place, made. */
export interface OwnRow extends RowKey {
  readonly staged: number;
}

/** A row that goes: one of the snapshot, or an own one. */
export type StagedTarget = RowPlace | OwnRow;

export function isOwn(target: StagedTarget): target is OwnRow {
  return 'staged' in target;
}

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
  /** In the order staged; an update answers as an insert. Made when asked for; not to be asked for when rows were changed by `changeRow`. */
  readonly results: (InsertResult | DeleteResult | RowDeleteResult)[];
}

/** What a commit answers, but for LSNs. */
export interface CommitOutcome {
  readonly results: (InsertOutcome | DeleteOutcome | RowDeleteOutcome)[];
}
