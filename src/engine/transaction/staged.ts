// What a transaction answers of what it staged, and what it stages against.

import type { RowPlace } from '../table/live-rows.ts';
import type { DeleteOutcome, DeleteResult, InsertOutcome, InsertResult, RowKey } from '../types.ts';

/** A row that an earlier operation, at that place, made. */
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
  /**
   * In the order staged; an update answers as an insert. Made when asked for; not to be asked for
   * when rows were changed by `changeRow`.
   */
  readonly results: (InsertResult | DeleteResult | RowDeleteResult)[];
}

/** What a commit answers, but for LSNs. */
export interface CommitOutcome {
  readonly results: (InsertOutcome | DeleteOutcome | RowDeleteOutcome)[];
}
