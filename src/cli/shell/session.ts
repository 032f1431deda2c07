// One shell: what it runs statements with, and what its commands change.

import type { CheckAnswer, CheckInput } from '../../client/index.ts';
import { BUILT_IN_COLUMNS, KEY_COLUMNS } from '../../model/columns.ts';
import type { Format, Times } from '../query/formats.ts';
import { show } from '../query/output.ts';
import { errorText } from '../run/error-text.ts';
import type { Place, PlanFigures, Row } from '../run/runner.ts';
import type { World } from '../world.ts';
import type { KnownTable } from './completion.ts';
import { firstWord } from './statement-splitter.ts';

const EDGE_COLUMNS = [...KEY_COLUMNS, ...BUILT_IN_COLUMNS.map(({ name }) => name)];
/** After these the names of tables and columns may be others. */
const DEFINING = ['CREATE', 'DROP', 'ALTER'];

export class ShellSession {
  format: Format;
  /** Undefined: as the format has them. */
  times: Times | undefined;
  timer = false;
  readonly parameters = new Map<string, unknown>();
  /** A transaction is open, as far as the statements of this shell tell. */
  inTransaction = false;
  /** For completion; empty until they are known. */
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
   * Runs a statement and writes what it answers, or its error. False: it failed. `at`: said before
   * the error.
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

  /** The rows of a statement of the shell itself. */
  async ask(statement: string): Promise<Row[]> {
    return this.#cancellable(async (signal) => {
      const { batches } = await this.#runner.run(statement, {}, signal);
      const rows: Row[] = [];
      for await (const batch of batches) rows.push(...batch);
      return rows;
    });
  }

  /** Whether edges support what a text says of them. */
  check(input: CheckInput): Promise<CheckAnswer> {
    return this.#cancellable((signal) => this.#runner.check(input, signal));
  }

  /** Asks for the names that completion offers. What fails here shows at the next statement. */
  async learnNames(): Promise<void> {
    try {
      this.tables = (await this.ask('SHOW TABLES')).map(knownTable);
    } catch {
      this.tables = [];
    }
  }

  /** Stops the statement that runs; false: none does. */
  cancel(reason: Error): boolean {
    if (this.#running === undefined) return false;
    this.#running.abort(reason);
    return true;
  }

  /** Leaves no transaction open. */
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
  return { name: row.name as string, columns: [...EDGE_COLUMNS, ...columns.map(({ name }) => name)] };
}

function timerText(elapsedMs: number, plan: PlanFigures | null | undefined): string {
  const searched = plan ? `, ${plan.strategy}, ${plan.buckets_scanned} of ${plan.total_buckets} buckets` : '';
  return `Time: ${elapsedMs.toFixed(1)} ms${searched}\n`;
}
