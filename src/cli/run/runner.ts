// Where statements run: at a server or in a data directory, through the same few calls.

import type { CheckAnswer, CheckInput } from '../../client/index.ts';
import type { Times } from '../query/formats.ts';

/** A row by the names of the columns. */
export type Row = Readonly<Record<string, unknown>>;

export interface PlanFigures {
  readonly strategy: string;
  readonly buckets_scanned: number;
  readonly total_buckets: number;
}

export interface Ran {
  readonly columns: readonly string[];
  /** Iterating throws what stops the statement half way. */
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Known when all batches were read; null when nothing was searched. */
  plan(): PlanFigures | null;
}

export type Parameters = Readonly<Record<string, unknown>>;

export interface StatementRunner {
  /**
   * `times`: default seconds. Rejects with what is wrong with the statement; with the reason of the
   * signal when it is aborted.
   */
  run(statement: string, parameters: Parameters, signal: AbortSignal, times?: Times): Promise<Ran>;
  /** The rows alone, as they come. */
  rows(statement: string, parameters: Parameters, signal: AbortSignal, times?: Times): AsyncIterable<readonly Row[]>;
  close(): Promise<void>;
}

/** Where claims are checked as well. */
export interface Place extends StatementRunner {
  /** Whether edges support what a text says of them (POST /v1/rag/check). */
  check(input: CheckInput, signal: AbortSignal): Promise<CheckAnswer>;
}

/** The reason with which a person stops a statement. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled.');
  }
}
