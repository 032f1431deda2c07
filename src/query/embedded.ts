// Runs statements for a program that embeds the database: takes texts and returns rows. Signals,
// timers and other work of the event loop run between the steps of a statement.

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
   * The scheduler by which statements share the event loop with other long work of the thread; by
   * default the database's own.
   */
  scheduler?: Scheduler | undefined;
  /**
   * Absolute path of the folder in which COPY reads and writes files. If absent, COPY is refused.
   */
  copyRoot?: string | undefined;
  /** Idle seconds after which a transaction is rolled back; default 30. */
  transactionIdleSeconds?: number | undefined;
}

export interface StatementOptions {
  /** Aborts the statement, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * All statements from BEGIN to COMMIT must use the same session. By default the whole program is
   * one session.
   */
  session?: string | undefined;
  /**
   * The form of times, including those inside edges. `epoch` (the default) gives seconds; `iso`
   * gives texts such as 2024-05-02T10:00:00Z.
   */
  times?: 'epoch' | 'iso' | undefined;
  /**
   * How members of tables with node tables are shown: `numbers`, or `objects` with kind and key. By
   * default keys, or objects if the members are of several kinds.
   */
  members?: 'numbers' | 'objects' | undefined;
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

/** A statement that has begun. Its rows are produced as the batches are read. */
export interface RunningStatement {
  readonly columns: readonly string[];
  /** Types of the columns, in the same order. */
  readonly columnTypes: readonly ResultType[];
  /** Iterating rejects with the error if the statement fails midway. */
  readonly batches: AsyncGenerator<readonly StatementRow[], void, undefined>;
  /** Returns the figures, which are complete only after all batches were read. */
  plan(): QueryPlanFigures | null;
}

/**
 * Values of parameters by name (without `$`): numbers, texts, booleans, nulls and lists of these.
 */
export type StatementParameters = Readonly<Record<string, unknown>>;

/**
 * Milliseconds for which a statement runs without pauses, before other work runs between its steps.
 */
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
   * Runs a statement and returns all its rows. Rejects with a HedgerowError that describes the
   * fault in the statement. A write is durable when the promise resolves.
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

  /**
   * Runs a statement and yields its rows one by one, for results of any size. Leaving the loop ends
   * the statement.
   */
  async *rows(
    statement: string,
    parameters: StatementParameters = {},
    options: StatementOptions = {},
  ): AsyncGenerator<StatementRow, void, undefined> {
    const { batches } = await this.begin(statement, parameters, options);
    for await (const batch of batches) yield* batch;
  }

  /**
   * Starts a statement. The caller must read its batches to the end or call their `return()`: until
   * then the statement holds its snapshot.
   */
  async begin(
    statement: string,
    parameters: StatementParameters = {},
    { signal, session = SESSION, times, members }: StatementOptions = {},
  ): Promise<RunningStatement> {
    const statements = this.#statements;
    const slices = untilAborted(this.#scheduler, signal);
    const prepared = statements.prepare(statement);
    const result = await statements.execute(prepared, { parameters: copyOf(parameters), session, slices, members });
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
 * cached by the identity of the array.
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
  /**
   * Runs one step. Returns true if there is nothing to yield yet, and false if a chunk is ready or
   * the statement has ended.
   */
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
 * Returns a function that runs the steps of a statement in turns with other long work. Once the
 * signal is aborted, the function rejects with the signal's reason.
 */
function untilAborted(scheduler: Scheduler, signal: AbortSignal | undefined): RunSteps {
  return (step) =>
    scheduler.run('statement', () => {
      signal?.throwIfAborted();
      return step();
    });
}
