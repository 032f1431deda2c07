// The door to the measures (README.md): checks a call, computes it here or in a thread, gives its answer.

import { availableParallelism, totalmem } from 'node:os';
import { Worker } from 'node:worker_threads';
import { loadCore } from '../core/index.ts';
import { type Database, EdgeRead } from '../engine/index.ts';
import { Deadline } from '../schedule/deadline.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { ThreadWorker } from '../threads/link.ts';
import { builtScript } from '../threads/script.ts';
import { type AnswerFacts, MeasureAnswer, type MeasureValue } from './answer.ts';
import { timeoutError } from './failure.ts';
import { Here } from './here.ts';
import { checkParameters, type ParameterValues, schemaOf } from './parameters.ts';
import { Pool } from './pool.ts';
import { measureNamed, measures } from './registry.ts';

export { type AnswerFacts, MeasureAnswer, type MeasureValue } from './answer.ts';
export type { Basis } from './measure.ts';
export { measureNamed } from './registry.ts';

export interface AnalyticsOptions {
  database: Database;
  /** Shares the event loop with other long work of the thread; default the database's. */
  scheduler?: Scheduler;
  /** Threads at most, default 2, or 1 on a machine of two processors or fewer. They start when they are needed. */
  threads?: number;
  /** Memory of what is kept for the next measure of the same edges, all threads together; default an eighth of the machine's, at most 1 GB. */
  cacheBytes?: number;
  /** A thread without work goes after so long, with what it keeps; default 60,000. */
  idleMs?: number;
  /** Edges with up to so many members in all are looked at in this thread, in small steps; default 20,000. */
  smallMembers?: number;
  /** Such a measure moves to a thread when it has taken so long here; default 60. */
  moveAfterMs?: number;
  /** Default: a worker thread of this package. */
  startThread?: (cacheBytes: number) => ThreadWorker;
}

export interface RunOptions {
  /** Milliseconds until the answer must have begun; 0 or left out: no limit. */
  timeoutMs?: number | undefined;
  /** Ends the work. */
  signal?: AbortSignal | undefined;
  /** Called now and then with the fraction done, 0 to 1. */
  progress?: ((done: number) => void) | undefined;
}

/** A measure as it is described to people and programs. */
export interface MeasureItem {
  measure: string;
  about: string;
  /** Paper or book of its definition. */
  source: string;
  /** JSON Schema. */
  params: Record<string, unknown>;
  /** JSON Schema. */
  result: Record<string, unknown>;
}

const MOST_CACHE_BYTES = 2 ** 30;
/** Measures that end by themselves when their time is over, with what they have. */
const KEEP_THEIR_BUDGET: ReadonlySet<string> = new Set(['clique_number']);

export class Analytics {
  readonly #database: Database;
  readonly #scheduler: Scheduler;
  readonly #here: Here;
  readonly #pool: Pool;
  readonly #smallMembers: number;

  constructor(options: AnalyticsOptions) {
    const threads = options.threads ?? (availableParallelism() > 2 ? 2 : 1);
    const cacheBytes = options.cacheBytes ?? Math.min(MOST_CACHE_BYTES, totalmem() / 8);
    const start = options.startThread ?? startThread;
    this.#database = options.database;
    this.#smallMembers = options.smallMembers ?? 20_000;
    const scheduler = options.scheduler ?? options.database.scheduler;
    this.#scheduler = scheduler;
    const now = () => performance.now();
    this.#here = new Here({ scheduler, module: loadCore(), now, moveAfterMs: options.moveAfterMs ?? 60 });
    this.#pool = new Pool({
      scheduler,
      threads,
      start: () => start(cacheBytes / threads),
      idleMs: options.idleMs ?? 60_000,
    });
  }

  measures(): MeasureItem[] {
    return measures.map(({ name, about, source, parameters, result }) => {
      return { measure: name, about, source, params: schemaOf(parameters), result };
    });
  }

  /**
   * The whole answer of a measure. `params`: see `measures()`. Rejects with `invalid_input` (measure or parameters), `table_not_found`, `table_corrupt`,
   * `query_too_large`, `timeout`, `overloaded`; with the reason of the signal.
   */
  async run(table: string | undefined, measure: string, params?: object, options?: RunOptions): Promise<MeasureValue> {
    return (await this.open(table, measure, params, options)).value();
  }

  /** As `run`, resolving when the answer begins: to be taken as bytes, however many they are, and closed. */
  async open(
    tableName: string | undefined,
    measureName: string,
    params?: unknown,
    options: RunOptions = {},
  ): Promise<MeasureAnswer> {
    const measure = measureNamed(measureName);
    const table = this.#database.table(tableName);
    const checked = checkParameters(params, measure.parameters, measure.name);
    const deadline = new Deadline(timeOf(measure.name, checked, options), timeoutError, options.signal);
    const { start_ts = -Infinity, end_ts = Infinity } = checked as { start_ts?: number; end_ts?: number };
    try {
      const read = new EdgeRead(table, { startTs: start_ts, endTs: end_ts });
      const { lsn, tableId, token, window, bucketSeconds } = read;
      const facts = { measure: measure.name, table: table.name, params: checked, lsn };
      const small = await this.#here.run(measure, checked, read, this.#smallMembers, deadline.signal);
      if (small !== undefined) return answerOf(facts, small, this.#scheduler);
      const work = { tableId, token, window, bucketSeconds, measure: measure.name, params: checked };
      const { signal } = deadline;
      const begun = await this.#pool.run(work, read, { signal, progress: options.progress });
      return answerOf(facts, begun, this.#scheduler);
    } finally {
      deadline.end();
    }
  }

  /** Ends the threads; what runs rejects with `draining`. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** The shorter one of both times, in milliseconds; undefined: there is no limit. */
function timeOf(measure: string, { budget_ms }: ParameterValues, { timeoutMs = 0 }: RunOptions): number | undefined {
  const budgetMs = typeof budget_ms === 'number' && !KEEP_THEIR_BUDGET.has(measure) ? budget_ms : Infinity;
  const ms = Math.min(budgetMs, timeoutMs > 0 ? timeoutMs : Infinity);
  return ms === Infinity ? undefined : ms;
}

function answerOf(
  facts: Omit<AnswerFacts, 'definition' | 'basis'>,
  { definition, basis, chunks }: Awaited<ReturnType<Pool['run']>>,
  scheduler: Scheduler,
): MeasureAnswer {
  return new MeasureAnswer({ ...facts, definition, basis }, chunks, scheduler);
}

function startThread(cacheBytes: number): ThreadWorker {
  return new Worker(builtScript(import.meta.url, 'worker.js'), { execArgv: [], workerData: { cacheBytes } });
}
