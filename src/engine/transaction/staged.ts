// Types of a transaction's answers, and the targets of its operations.

import type { RowPlace } from '../table/live-rows.ts';
import type { DeleteOutcome, DeleteResult, InsertOutcome, InsertResult, RowKey } from '../types.ts';

/** A row made by an earlier operation of the same transaction; `staged` is its index. */
export interface OwnRow extends RowKey {
  readonly staged: number;
}

/** The row that an operation replaces or deletes: one of the snapshot, or one of its own. */
export type StagedTarget = RowPlace | OwnRow;

export function isOwn(target: StagedTarget): target is OwnRow {
  return 'staged' in target;
}

/** Outcome of deleting one row by its id, without its LSN. */
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
  /**
   * One result per staged operation, in order; an update answers like an insert. Computed on
   * access; not available after `changeRow`.
   */
  readonly results: (InsertResult | DeleteResult | RowDeleteResult)[];
}

/** Outcome of a commit, without LSNs. */
export interface CommitOutcome {
  readonly results: (InsertOutcome | DeleteOutcome | RowDeleteOutcome)[];
}
