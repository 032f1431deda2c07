// Entry point of the measures (README.md): checks a call, computes the measure in this thread or in
// a worker thread, and returns the answer.

import { availableParallelism, totalmem } from 'node:os';
import { Worker } from 'node:worker_threads';
import { loadCore } from '../core/index.ts';
import { type Database, EdgeRead, type Table } from '../engine/index.ts';
import { Deadline } from '../schedule/deadline.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { ThreadWorker } from '../threads/link.ts';
import { builtScript } from '../threads/script.ts';
import { type AnswerFacts, MeasureAnswer, type MeasureValue } from './answer.ts';
import { directionOf } from './direction.ts';
import { timeoutError } from './failure.ts';
import { Here } from './here.ts';
import { KeyedChunks } from './keyed-chunks.ts';
import type { Measure } from './measure.ts';
import { keyedError, numberedNodes } from './node-parameters.ts';
import { checkParameters, type ParameterValues, schemaOf } from './parameters.ts';
import { Pool } from './pool.ts';
import { measureNamed, measures } from './registry.ts';
import type { ThreadResult } from './thread.ts';

export { type AnswerFacts, MeasureAnswer, type MeasureValue } from './answer.ts';
export type { Basis } from './measure.ts';
export { measureNamed } from './registry.ts';

export interface AnalyticsOptions {
  database: Database;
  /**
   * Shares the event loop with other long tasks of this thread; default: the database's scheduler.
   */
  scheduler?: Scheduler;
  /**
   * Maximum number of worker threads; default 2, or 1 on a machine with at most two processors.
   * Threads start on demand.
   */
  threads?: number;
  /**
   * Maximum size in bytes, over all threads, of projections that are cached for the next measure of
   * the same edges; default: an eighth of the machine's memory, at most 1 GiB.
   */
  cacheBytes?: number;
  /** Idle time in milliseconds after which a thread and its cache are dropped; default 60,000. */
  idleMs?: number;
  /**
   * Maximum number of members of a window, summed over its edges, for which a measure is computed
   * in this thread in small steps; default 20,000.
   */
  smallMembers?: number;
  /** Milliseconds after which a computation in this thread moves to a worker thread; default 60. */
  moveAfterMs?: number;
  /** Starts a worker thread; default: with this package's worker script. */
  startThread?: (cacheBytes: number) => ThreadWorker;
}

export interface RunOptions {
  /** Milliseconds within which the answer must begin; 0 or omitted: no limit. */
  timeoutMs?: number | undefined;
  /** `numbers`: nodes of a named table are shown by their internal numbers, not by keys. */
  members?: 'numbers' | undefined;
  /** Cancels the work. */
  signal?: AbortSignal | undefined;
  /** Called occasionally with the fraction done, 0 to 1. */
  progress?: ((done: number) => void) | undefined;
}

/** A measure as described to people and programs. */
export interface MeasureItem {
  measure: string;
  about: string;
  /** Paper or book that defines the measure. */
  source: string;
  /** JSON Schema of the parameters. */
  params: Record<string, unknown>;
  /** JSON Schema of the result. */
  result: Record<string, unknown>;
}

const MOST_CACHE_BYTES = 2 ** 30;
/** Measures that apply their time budget themselves: after it they return the best result found. */
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
   * Resolves to the whole answer of a measure. `params`: see `measures()`. Rejects with
   * `invalid_input` (measure or parameters), `table_not_found`, `table_corrupt`, `query_too_large`,
   * `timeout` or `overloaded`, or with the signal's reason.
   */
  async run(table: string | undefined, measure: string, params?: object, options?: RunOptions): Promise<MeasureValue> {
    return (await this.open(table, measure, params, options)).value();
  }

  /**
   * Same as `run`, but resolves when the answer begins. The caller reads it as bytes, without a
   * size limit, and closes it.
   */
  async open(
    tableName: string | undefined,
    measureName: string,
    params?: unknown,
    options: RunOptions = {},
  ): Promise<MeasureAnswer> {
    const measure = measureNamed(measureName);
    const table = this.#database.table(tableName);
    const checked = checkParameters(params, measure.parameters, measure.name, table.kinds);
    const direction = directionOf(checked, table.roles);
    const deadline = new Deadline(timeOf(measure.name, checked, options), timeoutError, options.signal);
    const { start_ts = -Infinity, end_ts = Infinity } = checked as { start_ts?: number; end_ts?: number };
    const isNamed = table.kinds !== undefined && options.members !== 'numbers';
    try {
      const numbered = table.kinds === undefined ? checked : await this.#numbered(table, measure, checked);
      const read = new EdgeRead(table, { startTs: start_ts, endTs: end_ts });
      const { lsn, tableId, token, window, bucketSeconds, hasRoles } = read;
      const facts = { measure: measure.name, table: table.name, params: checked, lsn };
      const { signal } = deadline;
      const small = await this.#here.run(measure, numbered, direction, read, isNamed, this.#smallMembers, signal);
      if (small !== undefined) return this.#answerOf(facts, small, table);
      const source = { tableId, token, window, bucketSeconds, hasRoles };
      const work = { ...source, isNamed, direction, measure: measure.name, params: numbered };
      const begun = await this.#pool.run(work, read, { signal, progress: options.progress });
      return this.#answerOf(facts, begun, table);
    } catch (error) {
      throw keyedError(error, this.#database, table, checked);
    } finally {
      deadline.end();
    }
  }

  /** Returns the parameters with the numbers of nodes in place of their keys. */
  #numbered(table: Table, { parameters }: Measure, checked: ParameterValues): Promise<ParameterValues> {
    return this.#scheduler.drive('measure', numberedNodes(table, this.#database, parameters, checked));
  }

  #answerOf(
    facts: Omit<AnswerFacts, 'definition' | 'basis'>,
    { definition, basis, marks, chunks }: ThreadResult,
    { kinds }: Table,
  ): MeasureAnswer {
    const keyed = marks === null ? chunks : new KeyedChunks(chunks, marks, kinds!.length, this.#database);
    return new MeasureAnswer({ ...facts, definition, basis }, keyed, this.#scheduler);
  }

  /** Stops the threads. Their running calls reject with `draining`. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

/**
 * Returns the shorter of the two limits in milliseconds; undefined if there is no limit. Leaves out
 * a `budget_ms` that the measure applies itself.
 */
function timeOf(measure: string, { budget_ms }: ParameterValues, { timeoutMs = 0 }: RunOptions): number | undefined {
  const budgetMs = typeof budget_ms === 'number' && !KEEP_THEIR_BUDGET.has(measure) ? budget_ms : Infinity;
  const ms = Math.min(budgetMs, timeoutMs > 0 ? timeoutMs : Infinity);
  return ms === Infinity ? undefined : ms;
}

function startThread(cacheBytes: number): ThreadWorker {
  return new Worker(builtScript(import.meta.url, 'worker.js'), { execArgv: [], workerData: { cacheBytes } });
}
