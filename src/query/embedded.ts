// Statements for a program that embeds the database: a text in, rows out, while signals, timers and other work get their turns.

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
  /** Shares the event loop with other long work of the thread; default the database's. */
  scheduler?: Scheduler | undefined;
  /** Absolute; COPY reads and writes files below it. Left out: COPY is refused. */
  copyRoot?: string | undefined;
  /** A transaction that nothing happens in for so long is rolled back; default 30. */
  transactionIdleSeconds?: number | undefined;
}

export interface StatementOptions {
  /** Stops the statement, which rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Statements between BEGIN and COMMIT share a session; default one for the whole program. */
  session?: string | undefined;
  /** How times are given, also inside of edges: default `epoch`, seconds; `iso`: texts such as 2024-05-02T10:00:00Z. */
  times?: 'epoch' | 'iso' | undefined;
}

/** A row by the names of the columns. */
export type StatementRow = Readonly<Record<string, Value>>;

export interface StatementAnswer {
  columns: readonly string[];
  /** Types of the columns, in the same order. */
  columnTypes: readonly ResultType[];
  rows: StatementRow[];
  /** What was read; null when nothing was searched. */
  plan: QueryPlanFigures | null;
}

/** A statement that has begun; the rows come while its batches are taken. */
export interface RunningStatement {
  readonly columns: readonly string[];
  /** Types of the columns, in the same order. */
  readonly columnTypes: readonly ResultType[];
  /** Iterating throws what stops the statement half way. */
  readonly batches: AsyncGenerator<readonly StatementRow[], void, undefined>;
  /** Known when all batches were taken. */
  plan(): QueryPlanFigures | null;
}

/** Values of the `$names`: numbers, texts, booleans, nulls and lists of these. */
export type StatementParameters = Readonly<Record<string, unknown>>;

/** A statement that is done by then needs no turn of its own. */
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

  /** All rows at once. Rejects with a HedgerowError that says what is wrong with the statement; a write is durable when it resolves. */
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

  /** The rows one by one, however many there are; leaving the loop ends the statement. */
  async *rows(
    statement: string,
    parameters: StatementParameters = {},
    options: StatementOptions = {},
  ): AsyncGenerator<StatementRow, void, undefined> {
    const { batches } = await this.begin(statement, parameters, options);
    for await (const batch of batches) yield* batch;
  }

  /** Its batches must be taken to the end or be returned: the statement holds its snapshot until then. */
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

  /** Rolls back what is open. Before the database is closed. */
  close(): void {
    this.#statements.close();
  }
}

/** A program may change its lists later, and what is found out about a list is kept. */
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
  /** False: there are rows, or it is over. */
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

/** Runs steps in turns with other long work; rejects with the reason of the signal. */
function untilAborted(scheduler: Scheduler, signal: AbortSignal | undefined): RunSteps {
  return (step) =>
    scheduler.run(() => {
      signal?.throwIfAborted();
      return step();
    });
}
