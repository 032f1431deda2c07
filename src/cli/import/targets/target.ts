// Defines the interface of the target of an import: a data directory or a running server.

import type { ColumnType } from '../../../engine/index.ts';
import { END_COLUMN } from '../../../model/columns.ts';
import type { MemberKind } from '../../../model/node-refs.ts';
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

/** What a run writes batches to: a table of edges, or a node table. */
export interface BatchTarget {
  /** The name as the database spells it. */
  readonly tableName: string;
  /** Number of batches that may be in flight at once. */
  readonly window: number;
  /** A directory or URL, for messages and to distinguish targets. */
  readonly place: string;
  /**
   * Returns the columns of the table without those that every table has: `end_ts` if it has
   * intervals, then the columns that users added. The key of a node table is not among them.
   */
  columns(): readonly TableColumn[];
  addColumn(column: TableColumn): Promise<void>;
  /** Adds nodes to the companion table; resolves when they are durable. */
  addNodes?(nodes: readonly NamedNode[]): Promise<void>;
  /**
   * Writes the good lines of a batch as one commit, or as several if they are too large for one
   * request to a server. Resolves with their number when they are durable, or with undefined when
   * not all were sent because no more lines are wanted. Batches take effect in the order given,
   * except over several connections to a server. A batch that was already committed under this
   * `key` is not written again.
   */
  insert(batch: LineBatch, intake: Intake, key: string | undefined): Promise<number | undefined>;
  compact(): Promise<void>;
}

export interface ImportTarget extends BatchTarget {
  /** Number of rows in the table when the target was opened. */
  readonly rowsBefore: number;
  /** The kinds of nodes that may be members; undefined if members are plain numbers. */
  readonly kinds: readonly MemberKind[] | undefined;
  /** Returns the roles of the table. */
  roles(): readonly string[];
  /**
   * Returns the numbers of nodes by name, from the companion table of a table of numbers; undefined
   * if there is none.
   */
  openNodes(): Promise<Map<string, number> | undefined>;
  addNodes(nodes: readonly NamedNode[]): Promise<void>;
}

/** A node table; `insert` replaces the nodes that exist. */
export interface NodesTarget extends BatchTarget {
  readonly key: TableColumn;
  /** Number of nodes in the table when the target was opened. */
  readonly rowsBefore: number;
  /** What this import wrote. */
  readonly counts: { readonly inserted: number; readonly replaced: number };
}

/** An open data directory, or a server. */
export interface ImportPlace {
  readonly place: string;
  /** Resolves with the names of all tables. */
  tableNames(): Promise<TableNames>;
  openTable(wanted: TargetTable): Promise<ImportTarget>;
  /** Opens a node table; `create` makes it when it is missing. */
  openNodeTable(wanted: NewNodeTable, create: boolean): Promise<NodesTarget>;
  close(): Promise<void>;
}

export interface TableNames {
  readonly edges: readonly string[];
  readonly nodes: readonly string[];
}

/** A node table that an import creates when it is missing. */
export interface NewNodeTable {
  readonly name: string;
  readonly key: { readonly name: string; readonly type: 'TEXT' | 'INTEGER' };
}

export interface TargetTable {
  /** Undefined: the primary table. */
  name: string | undefined;
  /** Create the table when it is missing. */
  create: boolean;
  bucketSeconds: number | undefined;
  /** The node tables of the table when it is created; none: its members are numbers. */
  nodes?: readonly NewNodeTable[] | undefined;
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
 * Suffix of the companion of a table of numbers, which stores the names of its nodes: one edge per
 * node, with the node as its only member. Named tables have node tables instead.
 */
export const NODES_SUFFIX = '_nodes';
/** Column with the name of a node, the same as in tables that were copied from virtual graphs. */
export const NAME_COLUMN = 'vertex';
