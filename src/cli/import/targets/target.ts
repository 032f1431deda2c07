// What an import writes to: a data directory or a running server, through the same few calls.

import type { ColumnType } from '../../../engine/index.ts';
import type { LineBatch, NamedNode } from '../line-batches.ts';

/** What the import tells a target while it runs, and the target tells the import. */
export interface Intake {
  /** `--on-error stop`: nothing is taken from the first bad line on. */
  readonly stopAtFirst: boolean;
  /** No more lines are wanted: batches that are not under way yet are left out. */
  readonly closed: boolean;
  /** Called once for every bad line, before the promise of its batch resolves. */
  reject(batch: LineBatch, index: number, reason: string): void;
  hasRejected(batch: LineBatch): boolean;
}

export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export interface ImportTarget {
  /** As the database spells it. */
  readonly tableName: string;
  /** Rows of the table when the target was opened. */
  readonly rowsBefore: number;
  /** Batches to hand over before waiting for the first of them. */
  readonly window: number;
  /** For people, and to tell two targets apart. */
  readonly place: string;
  /**
   * The columns of the table that its makers added; those that every table has are not among them.
   */
  columns(): readonly TableColumn[];
  addColumn(column: TableColumn): Promise<void>;
  /** Numbers by name, from the table of nodes. */
  openNodes(): Promise<Map<string, number>>;
  /** Durable when it resolves. Makes the table of nodes when it is missing. */
  addNodes(nodes: readonly NamedNode[]): Promise<void>;
  /**
   * Writes the good lines of a batch as one commit. Resolves with their number when they are
   * durable; undefined: not all were sent, because no more lines are wanted. Batches take effect in
   * the order given. A batch that was committed under this `key` before is not written again.
   */
  insert(batch: LineBatch, intake: Intake, key: string | undefined): Promise<number | undefined>;
  compact(): Promise<void>;
  close(): Promise<void>;
}

export interface TargetTable {
  /** Undefined: the primary table. */
  name: string | undefined;
  /** Make the table when it is missing. */
  create: boolean;
  bucketSeconds: number | undefined;
}

/** Where the names of a table's nodes are kept: one edge for each, the node its only member. */
export const NODES_SUFFIX = '_nodes';
/** The name of a node, as in tables that were copied from virtual graphs. */
export const NAME_COLUMN = 'vertex';
