// Defines the interface through which statements run on a server or in a data directory.

import type { CheckAnswer, CheckInput } from '../../client/index.ts';
import type { Times } from '../query/formats.ts';

/** A row, with values by the names of the columns. */
export type Row = Readonly<Record<string, unknown>>;

export interface PlanFigures {
  readonly strategy: string;
  readonly buckets_scanned: number;
  readonly total_buckets: number;
}

export interface Ran {
  readonly columns: readonly string[];
  /** Iterating throws the error that stops the statement half way. */
  readonly batches: AsyncIterable<readonly Row[]>;
  /**
   * Returns the plan, which is known after all batches have been read; null when nothing was
   * searched.
   */
  plan(): PlanFigures | null;
}

export type Parameters = Readonly<Record<string, unknown>>;

export interface StatementRunner {
  /**
   * Runs a statement; by default `times` are epoch seconds. Rejects with the error of the
   * statement, or with the signal's reason when the signal is aborted.
   */
  run(statement: string, parameters: Parameters, signal: AbortSignal, times?: Times): Promise<Ran>;
  /** Returns only the rows, as they arrive. */
  rows(statement: string, parameters: Parameters, signal: AbortSignal, times?: Times): AsyncIterable<readonly Row[]>;
  close(): Promise<void>;
}

/** A place that can also check claims. */
export interface Place extends StatementRunner {
  /** Checks whether edges support what a text says about them (POST /v1/rag/check). */
  check(input: CheckInput, signal: AbortSignal): Promise<CheckAnswer>;
}

/** The reason of the signal when the user stops a statement. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled.');
  }
}
