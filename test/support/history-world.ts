// Defines the state and functions that the parts of a random history share: the database, its
// model, and the checks of commits.

import type { Database, Scan, Table } from '../../src/engine/index.ts';
import type { EdgeRow } from '../../src/engine/types.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { NaiveRequest, NaiveTable } from '../model/naive-table.ts';
import type { EdgeSource } from './edge-source.ts';
import type { Random } from './random.ts';

/** A commit that was submitted and may not have been answered yet. */
export interface Inflight {
  what: string;
  lastLsn: number;
  promise: Promise<void>;
}

/** A catalog change in the model. */
export interface ModelDdl {
  redo: (lsn: number) => void;
  undo: () => void;
}

export interface Expected {
  rows: EdgeRow[];
  hasMore: boolean;
}

export interface HistoryWorld {
  readonly random: Random;
  readonly source: EdgeSource;
  readonly models: Map<string, NaiveTable>;
  /** Whether the log keeps changes for readers, so that every deleted row has an LSN of its own. */
  readonly keepsHistory: boolean;
  db(): Database;
  /** Returns the name of a random table. */
  name(): string;
  note(line: string): void;
  saw(what: string): void;
  /** Returns whether the engine refuses all writes because the disk has failed. */
  refuses(): boolean;
  /** Assigns LSNs to a commit that was just submitted, and checks its result when it settles. */
  follow<T>(
    what: string,
    operations: number,
    promise: Promise<T>,
    check: (value: T, firstLsn: number) => void,
    apply: (firstLsn: number) => void,
    refused: boolean,
  ): Inflight;
  maybeWait(inflight: Inflight): Promise<void>;
  wait<T>(promise: Promise<T>): Promise<T>;
  assertFresh(model: NaiveTable, id: number): void;
  request(rows: readonly EdgeRow[]): NaiveRequest;
  format(): 'json' | 'ndjson';
  compare(scan: Scan, expected: Expected, format: 'json' | 'ndjson', what: string): void;
  /** Waits for all pending commits, then compacts. */
  compact(): Promise<void>;
  /**
   * Makes one change of the catalog or of documents, with `lsns` operations (default 1), in the
   * database and in the model. Returns false if the disk failed; in that case the next recovery
   * shows whether the change happened.
   */
  define(ddl: ModelDdl, change: () => Promise<unknown>, lsns?: number): Promise<boolean>;
  /**
   * Forgets the deleted edges of a table whose columns change. Other deleted edges are remembered,
   * so that they can be inserted again.
   */
  forgetDeleted(name: string): void;
}

export function tableOf(world: HistoryWorld, name: string): { table: Table; model: NaiveTable } {
  return { table: world.db().table(name), model: world.models.get(name)! };
}

/** Throws unless the call is refused with `code`. */
export function refusedBy(call: () => unknown, code: string): void {
  try {
    call();
  } catch (error) {
    refused(error, code);
    return;
  }
  throw new Error(`nothing was refused, ${code} was expected`);
}

export function refused(error: unknown, code: string): void {
  if (!(error instanceof HedgerowError) || error.code !== code) throw error;
}
