// Defines a session of the shell: it runs the statements, and holds the state that commands change.

import type { CheckAnswer, CheckInput } from '../../client/index.ts';
import { builtInColumns, KEY_COLUMNS } from '../../model/columns.ts';
import type { Format, Times } from '../query/formats.ts';
import { show } from '../query/output.ts';
import { errorText } from '../run/error-text.ts';
import type { Place, PlanFigures, Row } from '../run/runner.ts';
import type { World } from '../world.ts';
import type { KnownTable } from './completion.ts';
import { firstWord } from './statement-splitter.ts';

/** First words of the statements that may change the names of tables and columns. */
const DEFINING = ['CREATE', 'DROP', 'ALTER'];

export class ShellSession {
  format: Format;
  /** Undefined: the default of the format. */
  times: Times | undefined;
  timer = false;
  readonly parameters = new Map<string, unknown>();
  /** True when, judging by the statements of this shell, a transaction is open. */
  inTransaction = false;
  /** Names for completion; empty until they are known. */
  tables: readonly KnownTable[] = [];
  readonly world: World;
  readonly #runner: Place;
  #running: AbortController | undefined;

  constructor(runner: Place, { format, times }: Pick<ShellSession, 'format' | 'times'>, world: World) {
    this.#runner = runner;
    this.format = format;
    this.times = times;
    this.world = world;
  }

  /**
   * Runs a statement and writes its result or its error. Resolves with false when the statement
   * failed. `at` is written before the error.
   */
  async run(statement: string, at = ''): Promise<boolean> {
    const { world } = this;
    const word = firstWord(statement);
    const startedMs = world.now();
    try {
      const parameters = Object.fromEntries(this.parameters);
      const shown = await this.#cancellable((signal) =>
        show(this.#runner, { statement, parameters, signal, times: this.times }, this.format, world.stdout),
      );
      if (this.timer) world.stdout.write(timerText(world.now() - startedMs, shown.plan));
      if (word === 'BEGIN') this.inTransaction = true;
      if (DEFINING.includes(word)) await this.learnNames();
      return true;
    } catch (error) {
      world.stderr.write(`hedgerow: ${at}${errorText(error, statement)}`);
      return false;
    } finally {
      // A COMMIT that fails has ended its transaction too.
      if (word === 'COMMIT' || word === 'ROLLBACK') this.inTransaction = false;
    }
  }

  /** Returns the rows of a statement that the shell itself needs. */
  async ask(statement: string): Promise<Row[]> {
    return this.#cancellable(async (signal) => {
      const { batches } = await this.#runner.run(statement, {}, signal);
      const rows: Row[] = [];
      for await (const batch of batches) rows.push(...batch);
      return rows;
    });
  }

  /** Checks whether edges support what a text says about them. */
  check(input: CheckInput): Promise<CheckAnswer> {
    return this.#cancellable((signal) => this.#runner.check(input, signal));
  }

  /** Loads the names that completion offers. Ignores errors: the next statement will show them. */
  async learnNames(): Promise<void> {
    try {
      const nodeTables = (await this.ask('SHOW NODE TABLES')).map(knownNodeTable);
      this.tables = [...(await this.ask('SHOW TABLES')).map(knownTable), ...nodeTables];
    } catch {
      this.tables = [];
    }
  }

  /** Stops the running statement; returns false when there is none. */
  cancel(reason: Error): boolean {
    if (this.#running === undefined) return false;
    this.#running.abort(reason);
    return true;
  }

  /** Rolls back an open transaction and closes the session. */
  async close(): Promise<void> {
    if (this.inTransaction) {
      const ended = await this.ask('ROLLBACK').then(
        () => true,
        () => false,
      );
      if (ended) this.world.stderr.write('hedgerow: the open transaction was rolled back.\n');
    }
    await this.#runner.close();
  }

  async #cancellable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#running = controller;
    try {
      return await work(controller.signal);
    } finally {
      this.#running = undefined;
    }
  }
}

function knownTable(row: Row): KnownTable {
  const columns = row.columns as readonly { name: string }[];
  const own = [...builtInColumns(row.intervals === true), ...columns];
  return { name: row.name as string, columns: [...KEY_COLUMNS, ...own.map(({ name }) => name)] };
}

/** Does the same as `knownTable` for a row of SHOW NODE TABLES. */
function knownNodeTable(row: Row): KnownTable {
  const columns = [row.key as { name: string }, ...(row.columns as readonly { name: string }[])];
  return { name: row.name as string, columns: columns.map(({ name }) => name) };
}

function timerText(elapsedMs: number, plan: PlanFigures | null | undefined): string {
  const searched = plan ? `, ${plan.strategy}, ${plan.buckets_scanned} of ${plan.total_buckets} buckets` : '';
  return `Time: ${elapsedMs.toFixed(1)} ms${searched}\n`;
}
