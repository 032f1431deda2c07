// Defines an input whose conversion into edges has been planned. Every format produces such an
// input.

import type { BatchLimits, LineBatch, Position } from './line-batches.ts';
import type { NodeNames } from './node-names.ts';
import type { TableColumn } from './targets/target.ts';

/** An input whose beginning has been read. */
export interface LookedInto {
  /** The roles that the input itself names; a table that is created for it gets them. */
  readonly roles?: readonly string[] | undefined;
  /**
   * Plans how the input is stored in a table with these columns and roles. Throws UsageError for
   * flags that do not fit.
   */
  plan(known: readonly TableColumn[], roles: readonly string[]): PlannedInput;
  close(): void;
}

export interface PlannedInput {
  /** Columns that the table needs, without those that every table has. */
  readonly columns: readonly TableColumn[];
  /** True when a table that is created for the input must have intervals. */
  readonly intervals: boolean;
  /** Roles that the table needs. */
  readonly roles: readonly string[];
  /** True when nodes have names, to which numbers are assigned. */
  readonly named: boolean;
  /** Tells a person which column is read as what. */
  readonly notes: readonly string[];
  /** What the user may not have intended, one sentence each. */
  readonly warnings: readonly string[];
  /** Returns some of the first edges as lines of JSON; named nodes are shown by name. */
  firstEdges(): string[];
  /**
   * Reads the batches. The same position always gives the same batches. `names` is needed when
   * nodes have names.
   */
  batches(limits: BatchLimits, from: Position, names: NodeNames | undefined): AsyncIterable<LineBatch>;
}

export const SHOWN_EDGES = 5;

/** Returns lines for the first rows; a bad row is replaced by a message about its fault. */
export function shownEdges<T>(rows: readonly T[], lineOf: (row: T) => string): string[] {
  return rows.slice(0, SHOWN_EDGES).map((row) => {
    try {
      return lineOf(row);
    } catch (error) {
      return `(bad row: ${(error as Error).message})`;
    }
  });
}
