// What a commit of a random history of named tables must do.

import type { NaiveNode, NamedState } from '../model/named-state.ts';

/** A writer that holds numbers of nodes which do not exist yet. */
export interface Holder {
  readonly held: Set<NaiveNode>;
}

/** What a commit must do. */
export interface CommitPlan {
  /** The codes with which the commit may be refused; empty if it must succeed. */
  readonly codes: readonly string[];
  /** Whether the commit may also succeed although there are codes. */
  readonly isEither?: boolean;
  /** Number of operations of its frame. With a history of changes there may be more. */
  readonly operations: number;
  /** Nodes that the frame creates. */
  readonly born: readonly NaiveNode[];
  /** Nodes that the frame deletes. */
  readonly died?: readonly NaiveNode[];
  /** Returns the state after the commit. */
  readonly next: (state: NamedState) => NamedState;
}

export type Outcome<T> = { value: T } | { error: unknown };

export function settledOf<T>(promise: Promise<T>): Promise<Outcome<T>> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}
