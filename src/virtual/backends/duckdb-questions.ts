// Answers questions inside the DuckDB process. Sends rows in batches, with flow control, until the
// rows end or the question is stopped.

import type { WireBatch } from './duckdb-columns.ts';
import type { Databases } from './duckdb-databases.ts';
import type { Guard } from './duckdb-guard.ts';
import type { Connection, Library } from './duckdb-library.ts';
import type { FromDuckDb, Parameter, ToDuckDb } from './duckdb-messages.ts';
import { chunkCollector } from './duckdb-values.ts';

/** Maximum number of batches in flight: one is produced while the previous one is consumed. */
const BATCHES_AHEAD = 2;
const INTERRUPT_AGAIN_MS = 50;
/** A batch is sent when it has this many rows, or its lists have this many items. */
const FULL_ROWS = 2000;
const FULL_ITEMS = 16_384;
const KEPT_BACK_MS = 100;

type Run = Extract<ToDuckDb, { kind: 'run' }>;

interface Question {
  stopped: boolean;
  connection: Connection | undefined;
  /** Number of batches that may be sent now. */
  allowed: number;
  wake: (() => void) | undefined;
}

export interface QuestionOptions {
  readonly library: Library;
  readonly guard: Guard;
  readonly databases: Databases;
  readonly say: (message: FromDuckDb) => void;
}

export class DuckDbQuestions {
  readonly #options: QuestionOptions;
  readonly #open = new Map<number, Question>();

  constructor(options: QuestionOptions) {
    this.#options = options;
  }

  receive(message: Exclude<ToDuckDb, { kind: 'limits' }>): void {
    if (message.kind === 'run') {
      void this.#answer(message);
      return;
    }
    const question = this.#open.get(message.id);
    if (question === undefined) return;
    if (message.kind === 'more') question.allowed++;
    else {
      question.stopped = true;
      interrupt(question);
    }
    question.wake?.();
  }

  async #answer(run: Run): Promise<void> {
    const { say, guard, databases } = this.#options;
    const question: Question = { stopped: false, connection: undefined, allowed: BATCHES_AHEAD, wake: undefined };
    this.#open.set(run.id, question);
    try {
      const refused = run.ours ? undefined : await guard(run.sql);
      if (refused === undefined) await databases.use(run.source, (connection) => this.#run(run, question, connection));
      say(
        refused === undefined
          ? { kind: 'end', id: run.id }
          : { kind: 'failed', id: run.id, reason: refused, refused: true },
      );
    } catch (error) {
      say({
        kind: 'failed',
        id: run.id,
        reason: error instanceof Error ? error.message : String(error),
        refused: false,
      });
    } finally {
      this.#open.delete(run.id);
    }
  }

  async #run(run: Run, question: Question, connection: Connection): Promise<void> {
    question.connection = connection;
    try {
      if (question.stopped) return;
      for await (const rows of this.#stream(run, connection)) {
        await allowance(question);
        if (question.stopped) return;
        this.#options.say({ kind: 'rows', id: run.id, rows });
      }
    } finally {
      question.connection = undefined;
    }
  }

  /**
   * Runs the statement and yields its rows. Combines the tiny chunks of a scan that matches few
   * rows into larger batches, but sends a smaller batch when a chunk arrives more than
   * `KEPT_BACK_MS` after the last batch. A chunk with long lists is sent as several batches.
   */
  async *#stream(run: Run, connection: Connection): AsyncGenerator<WireBatch> {
    await connection.run('BEGIN');
    const prepared = await this.#prepare(connection, run.sql, run.parameters);
    try {
      const result = await prepared.stream();
      const rows = chunkCollector(this.#options.library, result.columnTypes());
      let since = performance.now();
      let rowsAtOnce = rows.hasLists ? 1 : Infinity;
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) break;
        for (let from = 0; from < chunk.rowCount; ) {
          const to = Math.min(chunk.rowCount, from + rowsAtOnce);
          const before = rows.items;
          rows.add(chunk, from, to);
          from = to;
          const isLong = rows.items - before > FULL_ITEMS / 4;
          rowsAtOnce = isLong ? Math.max(1, Math.floor(rowsAtOnce / 2)) : 2 * rowsAtOnce;
          const isFull = rows.length >= FULL_ROWS || rows.items >= FULL_ITEMS;
          if (!isFull && performance.now() - since < KEPT_BACK_MS) continue;
          yield rows.take();
          since = performance.now();
        }
      }
      if (rows.length > 0) yield rows.take();
      await checkWhole(connection);
    } finally {
      prepared.destroySync();
    }
  }

  async #prepare(connection: Connection, sql: string, parameters: readonly Parameter[]): Promise<Prepared> {
    const extracted = await connection.extractStatements(sql);
    if (extracted.count !== 1) throw new Error('Only one statement is run');
    const prepared = await extracted.prepare(0);
    if (prepared.statementType !== this.#options.library.StatementType.SELECT) throw new Error('Only a SELECT is run');
    for (const [index, value] of parameters.entries()) bind(prepared, index + 1, value);
    return prepared;
  }
}

/**
 * Throws if a stream of rows failed midway. DuckDB ends such a stream without an error, as if there
 * were no more rows. It also aborts the transaction, so that the next statement fails.
 */
async function checkWhole(connection: Connection): Promise<void> {
  await connection.run('SELECT 1').catch(() => {
    throw new Error(
      'The rows could not be read to their end: a value cannot be converted, a file is damaged, or memory ran out',
    );
  });
}

/**
 * Interrupts the statement until it has ended. One interrupt is not enough, because an interrupt
 * that arrives just before a statement begins is lost.
 */
function interrupt(question: Question): void {
  if (question.connection === undefined) return;
  question.connection.interrupt();
  setTimeout(() => interrupt(question), INTERRUPT_AGAIN_MS);
}

async function allowance(question: Question): Promise<void> {
  while (question.allowed === 0 && !question.stopped) {
    await new Promise<void>((resolve) => {
      question.wake = resolve;
    });
  }
  question.allowed--;
}

type Prepared = Awaited<ReturnType<Connection['prepare']>>;

function bind(prepared: Prepared, index: number, value: Parameter): void {
  if (typeof value === 'string') prepared.bindVarchar(index, value);
  else if (typeof value === 'boolean') prepared.bindBoolean(index, value);
  else if (Number.isSafeInteger(value)) prepared.bindBigInt(index, BigInt(value));
  else prepared.bindDouble(index, value);
}
