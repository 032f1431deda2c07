// What an import writes to: a data directory or a running server, both behind these few calls.

import type { LineBatch } from './line-batches.ts';

/** What the import tells a target while it runs, and the target tells the import. */
export interface Intake {
  /** `--on-error stop`: nothing is taken from the first bad line on. */
  readonly stopAtFirst: boolean;
  /** No more lines are wanted: batches that are not under way yet are left out. */
  readonly closed: boolean;
  /** Called once for every bad line, before the promise of its batch resolves. */
  reject(batch: LineBatch, index: number, reason: string): void;
}

export interface ImportTarget {
  /** As the database spells it. */
  readonly tableName: string;
  /** Rows of the table when the target was opened. */
  readonly rowsBefore: number;
  /** Batches to hand over before waiting for the first of them. */
  readonly window: number;
  /** Writes the good lines of a batch as one commit. Resolves with their number when they are durable. Batches take effect in the order given. */
  insert(batch: LineBatch, intake: Intake): Promise<number>;
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
