// Statements for a program that embeds the database: text in, rows out, yielding the event loop to
// signals, timers and other work.

import { randomUUID } from 'node:crypto';
import type { Database } from '../engine/index.ts';
import type { RunSteps, Scheduler } from '../schedule/scheduler.ts';
import { nodeFs } from '../storage/index.ts';
import type { Value } from './binder/bound.ts';
import { isoValues } from './executor/values/iso-values.ts';
import { valueAt } from './executor/values/vector.ts';
import type { QueryPlanFigures, StatementResult } from './result.ts';
import type { ResultType } from './result-types.ts';
import { Statements } from './statements.ts';

export interface EmbeddedOptions {
  database: Database;
  /**
   * Shares the event loop with other long work of the thread; defaults to the database's scheduler.
   */
  scheduler?: Scheduler | undefined;
  /** Absolute path; COPY reads and writes files below it. If absent, COPY is refused. */
  copyRoot?: string | undefined;
  /** Idle seconds after which a transaction is rolled back; default 30. */
  transactionIdleSeconds?: number | undefined;
}

export interface StatementOptions {
  /** Aborts the statement, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Statements between BEGIN and COMMIT share a session; by default the whole program has one. */
  session?: string | undefined;
  /**
   * Format of times, including those inside edges: `epoch` (default): seconds; `iso`: texts such as
   * 2024-05-02T10:00:00Z.
   */
  times?: 'epoch' | 'iso' | undefined;
}

/** A row, keyed by column name. */
export type StatementRow = Readonly<Record<string, Value>>;

export interface StatementAnswer {
  columns: readonly string[];
  /** Types of the columns, in the same order. */
  columnTypes: readonly ResultType[];
  rows: StatementRow[];
  /** Figures of the search; null if nothing was searched. */
  plan: QueryPlanFigures | null;
}

/** A statement that has begun; its rows are produced as the batches are taken. */
export interface RunningStatement {
  readonly columns: readonly string[];
  /** Types of the columns, in the same order. */
  readonly columnTypes: readonly ResultType[];
  /** Iterating rejects with the error that stops the statement midway. */
  readonly batches: AsyncGenerator<readonly StatementRow[], void, undefined>;
  /** Complete only after all batches were taken. */
  plan(): QueryPlanFigures | null;
}

/** Values of the `$names`: numbers, texts, booleans, nulls and lists of these. */
export type StatementParameters = Readonly<Record<string, unknown>>;

/** Milliseconds for which a statement runs directly, before it takes turns with other work. */
const SHORT_MS = 5;
const TRANSACTION_IDLE_SECONDS = 30;
const SESSION = 'program';

export class EmbeddedStatements {
  readonly #statements: Statements;
  readonly #scheduler: Scheduler;

  constructor(options: EmbeddedOptions) {
    const { database, scheduler, copyRoot, transactionIdleSeconds = TRANSACTION_IDLE_SECONDS } = options;
    this.#scheduler = scheduler ?? database.scheduler;
    this.#statements = new Statements({
      database,
      now: () => Date.now(),
      nowUs: () => performance.now() * 1000,
      newId: randomUUID,
      transactionIdleSeconds,
      copyRoot,
      fs: nodeFs,
    });
  }

  /**
   * Collects all rows. Rejects with a HedgerowError that describes the fault in the statement; a
   * write is durable when the promise resolves.
   */
  async run(
    statement: string,
    parameters: StatementParameters = {},
    options: StatementOptions = {},
  ): Promise<StatementAnswer> {
    const { columns, columnTypes, batches, plan } = await this.begin(statement, parameters, options);
    const rows: StatementRow[] = [];
    for await (const batch of batches) for (const row of batch) rows.push(row);
    return { columns, columnTypes, rows, plan: plan() };
  }

  /** Yields the rows one by one, for results of any size; leaving the loop ends the statement. */
  async *rows(
    statement: string,
    parameters: StatementParameters = {},
    options: StatementOptions = {},
  ): AsyncGenerator<StatementRow, void, undefined> {
    const { batches } = await this.begin(statement, parameters, options);
    for await (const batch of batches) yield* batch;
  }

  /**
   * Starts a statement. Its batches must be taken to the end or returned: the statement holds its
   * snapshot until then.
   */
  async begin(
    statement: string,
    parameters: StatementParameters = {},
    { signal, session = SESSION, times }: StatementOptions = {},
  ): Promise<RunningStatement> {
    const statements = this.#statements;
    const slices = untilAborted(this.#scheduler, signal);
    const prepared = statements.prepare(statement);
    const result = await statements.execute(prepared, { parameters: copyOf(parameters), session, slices });
    const { columns, columnTypes } = result;
    return { columns, columnTypes, batches: batchesOf(result, slices, times === 'iso'), plan: () => result.plan() };
  }

  /** Rolls back open transactions. Call it before the database is closed. */
  close(): void {
    this.#statements.close();
  }
}

/**
 * Copies list parameters: the program may change its arrays later, and facts about a list are
 * cached by identity.
 */
function copyOf(parameters: StatementParameters): StatementParameters {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, Array.isArray(value) ? value.slice() : value]),
  );
}

async function* batchesOf(
  result: StatementResult,
  slices: RunSteps,
  iso: boolean,
): AsyncGenerator<readonly StatementRow[], void, undefined> {
  const { columns, steps } = result;
  const written = iso ? isoValues(result.forms) : [];
  const cell = (value: Value, place: number): Value => written[place]?.(value) ?? value;
  const beganMs = performance.now();
  let next: ReturnType<typeof steps.next>;
  /** True: nothing to yield yet. False: a chunk is ready, or the statement has ended. */
  const step = (): boolean => {
    next = steps.next();
    return next.done !== true && next.value === null;
  };
  try {
    for (;;) {
      if (performance.now() - beganMs < SHORT_MS) step();
      else await slices(step);
      if (next!.done === true) return;
      const chunk = next!.value;
      if (chunk === null) continue;
      yield Array.from({ length: chunk.count }, (_, row) =>
        Object.fromEntries(columns.map((name, place) => [name, cell(valueAt(chunk.items[place]!, row), place)])),
      );
    }
  } finally {
    steps.return();
    result.close();
  }
}

/**
 * Runs steps interleaved with other long work; rejects with the signal's reason once it is aborted.
 */
function untilAborted(scheduler: Scheduler, signal: AbortSignal | undefined): RunSteps {
  return (step) =>
    scheduler.run(() => {
      signal?.throwIfAborted();
      return step();
    });
}
