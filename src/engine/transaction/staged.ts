// Types for the results of a transaction, and for the rows that its operations change.

import type { RowPlace } from '../table/live-rows.ts';
import type { DeleteOutcome, DeleteResult, InsertOutcome, InsertResult, RowKey } from '../types.ts';

/**
 * A row made by an earlier operation of the same transaction; `staged` is the index of that
 * operation.
 */
export interface OwnRow extends RowKey {
  readonly staged: number;
}

/**
 * The row that an operation replaces or deletes: a row of the snapshot, or one that the transaction
 * has made itself.
 */
export type StagedTarget = RowPlace | OwnRow;

export function isOwn(target: StagedTarget): target is OwnRow {
  return 'staged' in target;
}

/** Outcome of deleting one row by its id, without the LSN of the deletion. */
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
   * One result per operation that was asked for, in order (nodes that edges create have none); an
   * update has a result of the same form as an insert. The results are computed on access. They are
   * not available if `changeRow` was used.
   */
  readonly results: (InsertResult | DeleteResult | RowDeleteResult)[];
  /** Returns one of the results, without its LSN; the list of all of them is not computed. */
  outcomeAt(operation: number): OperationOutcome;
}

export type OperationOutcome = InsertOutcome | DeleteOutcome | RowDeleteOutcome;

/** Outcome of a commit, without LSNs; known before the commit is logged. */
export interface CommitOutcome {
  readonly results: OperationOutcome[];
  /** Returns one of the results; the list of all of them is not computed. */
  outcomeAt(operation: number): OperationOutcome;
}
