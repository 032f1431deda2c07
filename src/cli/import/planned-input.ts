// An input of which it is known how it becomes edges; every format makes these.

import type { BatchLimits, LineBatch, Position } from './line-batches.ts';
import type { NodeNames } from './node-names.ts';
import type { TableColumn } from './targets/target.ts';

/** An input of one format, looked into. */
export interface LookedInto {
  /**
   * What becomes of it in a table with these columns. Throws UsageError for flags that do not fit.
   */
  plan(known: readonly TableColumn[]): PlannedInput;
  close(): void;
}

export interface PlannedInput {
  /** Columns that the table needs; those that every table has are not among them. */
  readonly columns: readonly TableColumn[];
  /** Nodes have names, which get numbers. */
  readonly named: boolean;
  /** For people: what is read from where. */
  readonly notes: readonly string[];
  /** What may not be meant, a sentence each. */
  readonly warnings: readonly string[];
  /** Some of the first edges as lines of JSON, nodes that have names by those. */
  firstEdges(): string[];
  /** Of the same place always the same batches. `names`: when nodes have names. */
  batches(limits: BatchLimits, from: Position, names: NodeNames | undefined): AsyncIterable<LineBatch>;
}

export const SHOWN_EDGES = 5;

/** As many as can be shown of these rows; a fault is shown in place of its row. */
export function shownEdges<T>(rows: readonly T[], lineOf: (row: T) => string): string[] {
  return rows.slice(0, SHOWN_EDGES).map((row) => {
    try {
      return lineOf(row);
    } catch (error) {
      return `(bad row: ${(error as Error).message})`;
    }
  });
}
