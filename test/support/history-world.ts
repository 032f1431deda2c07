// State shared by the parts of a random history: the machine, its model, and how commits are
// followed.

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
  db(): Database;
  /** Name of a random table. */
  name(): string;
  note(line: string): void;
  saw(what: string): void;
  /** Whether the engine refuses writes because the disk failed. */
  refuses(): boolean;
  /** Assigns LSNs to a commit that was just submitted, and follows its promise. */
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
  /** Settles what is in flight, then compacts. */
  compact(): Promise<void>;
  /**
   * Makes one catalog change in the database and in the model; returns false if the disk failed:
   * then the next recovery shows whether it happened.
   */
  define(ddl: ModelDdl, change: () => Promise<unknown>): Promise<boolean>;
  /**
   * Forgets the deleted edges of a table whose columns change; they are kept for inserting them
   * again.
   */
  forgetDeleted(name: string): void;
}

export function tableOf(world: HistoryWorld, name: string): { table: Table; model: NaiveTable } {
  return { table: world.db().table(name), model: world.models.get(name)! };
}

/** Expects the call to be refused with `code`. */
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
