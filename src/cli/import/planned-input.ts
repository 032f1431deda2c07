// Defines an input whose conversion into edges has been planned. Every format produces such an
// input.

import type { MemberKind } from '../../model/node-refs.ts';
import type { BatchLimits, LineBatch, Position } from './line-batches.ts';
import type { Members } from './node-keys.ts';
import type { TableColumn } from './targets/target.ts';

/** An input whose beginning has been read. */
export interface LookedInto {
  /** The roles that the input itself names; a table that is created for it gets them. */
  readonly roles?: readonly string[] | undefined;
  /**
   * Plans how the input is stored in a table with these columns and roles; of a node table the
   * first column is the key. `keepsNodes`: the members of the table are nodes of a node table.
   * Throws UsageError for flags that do not fit.
   */
  plan(known: readonly TableColumn[], roles?: readonly string[], keepsNodes?: boolean): PlannedInput;
  /** The nodes with their attributes, in a format that has them beside the edges. */
  readonly nodes?: LookedInto | undefined;
  close(): void;
}

export interface PlannedInput {
  /** Columns that the table needs, without those that every table has. */
  readonly columns: readonly TableColumn[];
  /** Of nodes: the column with the key, which `columns` does not hold. */
  readonly key?: TableColumn | undefined;
  /** True when a table that is created for the input must have intervals. */
  readonly intervals: boolean;
  /** Roles that the table needs. */
  readonly roles: readonly string[];
  /** True when members are names, and not integers. */
  readonly named: boolean;
  /** The kinds of the members, if each member says its kind. */
  readonly kinds?: readonly MemberKind[] | undefined;
  /** Tells a person which column is read as what. */
  readonly notes: readonly string[];
  /** What the user may not have intended, one sentence each. */
  readonly warnings: readonly string[];
  /** Returns some of the first edges or nodes as lines of JSON. */
  firstEdges(): string[];
  /**
   * Reads the batches. The same position always gives the same batches. `members` is needed when
   * nodes have names.
   */
  batches(limits: BatchLimits, from: Position, members: Members | undefined): AsyncIterable<LineBatch>;
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
