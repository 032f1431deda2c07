// Defines the interface of the target of an import: a data directory or a running server.

import type { ColumnType } from '../../../engine/index.ts';
import { END_COLUMN } from '../../../model/columns.ts';
import type { LineBatch, NamedNode } from '../line-batches.ts';

/** The running import as its target sees it. */
export interface Intake {
  /** True with `--on-error stop`: neither the first bad line nor any line after it is imported. */
  readonly stopAtFirst: boolean;
  /** True when no more lines are wanted; batches that are not in flight yet are skipped. */
  readonly closed: boolean;
  /**
   * Records a bad line. Must be called once for every bad line, before the promise of its batch
   * resolves.
   */
  reject(batch: LineBatch, index: number, reason: string): void;
  hasRejected(batch: LineBatch): boolean;
}

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** True for the built-in column of the ends, in tables with intervals. */
  readonly isEnd?: boolean | undefined;
}

export interface ImportTarget {
  /** The name as the database spells it. */
  readonly tableName: string;
  /** Number of rows in the table when the target was opened. */
  readonly rowsBefore: number;
  /** Number of batches that may be in flight at once. */
  readonly window: number;
  /** A directory or URL, for messages and to distinguish targets. */
  readonly place: string;
  /**
   * Returns the columns of the table without those that every table has: `end_ts` if it has
   * intervals, then the columns that users added.
   */
  columns(): readonly TableColumn[];
  /** Returns the roles of the table. */
  roles(): readonly string[];
  addColumn(column: TableColumn): Promise<void>;
  /** Returns the numbers of nodes by name, from the table of nodes. */
  openNodes(): Promise<Map<string, number>>;
  /** Resolves when the nodes are durable. Creates the table of nodes when it is missing. */
  addNodes(nodes: readonly NamedNode[]): Promise<void>;
  /**
   * Writes the good lines of a batch as one commit, or as several if they are too large for one
   * request to a server. Resolves with their number when they are durable, or with undefined when
   * not all were sent because no more lines are wanted. Batches take effect in the order given,
   * except over several connections to a server. A batch that was already committed under this
   * `key` is not written again.
   */
  insert(batch: LineBatch, intake: Intake, key: string | undefined): Promise<number | undefined>;
  compact(): Promise<void>;
  close(): Promise<void>;
}

export interface TargetTable {
  /** Undefined: the primary table. */
  name: string | undefined;
  /** Create the table when it is missing. */
  create: boolean;
  bucketSeconds: number | undefined;
  /** The roles of a table that is created. */
  roles: readonly string[];
  /** Create the table with intervals. */
  intervals: boolean;
}

const END: TableColumn = { name: END_COLUMN, type: 'INTEGER', isEnd: true };

/** Returns the columns of a table for `ImportTarget.columns`. */
export function columnsOfItem({
  columns,
  intervals,
}: {
  readonly columns: readonly TableColumn[];
  readonly intervals: boolean;
}): readonly TableColumn[] {
  return intervals === true ? [END, ...columns] : columns;
}

/**
 * Suffix of the table that stores the names of a table's nodes: one edge per node, with the node as
 * its only member.
 */
export const NODES_SUFFIX = '_nodes';
/** Column with the name of a node, the same as in tables that were copied from virtual graphs. */
export const NAME_COLUMN = 'vertex';
