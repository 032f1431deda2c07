// Runs a database and its naive model side by side: sends statements to both, compares every
// answer, and tracks commits in flight.

import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { Statements } from '../../src/query/statements.ts';
import type { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { type DoorAnswer, runDoor } from './door.ts';
import { type Parameters, pick } from './sessions-conditions.ts';
import { ModelDatabase, ModelTable, type ModelTransaction, type Row } from './sessions-rows.ts';
import { brokenPairs, PAIRS, type Tables } from './sessions-scripts.ts';
import { type Expected, readAll, type SessionStatement } from './sessions-statements.ts';

export const IDLE_SECONDS = 30;
const TRAIL = 60;
const ALL_PAIRS = readAll(new ModelTable('Pairs')).text;

export interface PlaceOptions {
  readonly random: Random;
  readonly seed: number;
  /** Whether files and segments are larger, as for long histories. */
  readonly isLong: boolean;
  /**
   * Whether even commits of a few operations are written and applied in slices, with other work in
   * between.
   */
  readonly isSliced: boolean;
}

export type Outcome = { readonly answer: DoorAnswer } | { readonly refused: string; readonly status: number };

export class SessionsPlace {
  readonly random: Random;
  /** Counts of events, with which a test checks its own coverage. */
  readonly seen: Record<string, number> = {};
  /** The time in epoch seconds. */
  clock = 1_000_000;
  database!: Database;
  statements!: Statements;
  model!: ModelDatabase;
  tables!: Tables;
  readonly #isLong: boolean;
  readonly #isSliced: boolean;
  readonly #trail: string[] = [];
  readonly #pending = new Set<Promise<void>>();
  #fs: SimFs;
  #ids = 0;
  /** The first failure of a check that runs in the background. */
  #failure: unknown;

  constructor({ random, seed, isLong, isSliced }: PlaceOptions) {
    this.random = random;
    this.#isLong = isLong;
    this.#isSliced = isSliced;
    this.#fs = simDisk(seed);
  }

  note(line: string): void {
    this.#trail.push(line);
    if (this.#trail.length > 4 * TRAIL) this.#trail.splice(0, 2 * TRAIL);
  }

  /** The most recent events. */
  get trail(): string {
    return this.#trail.slice(-TRAIL).join('\n');
  }

  saw(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  // Opening and closing

  async create(): Promise<void> {
    await this.#open();
    for (const name of ['Items', 'Pairs'])
      await this.define(`CREATE HYPEREDGE TABLE ${name} (node) PROPERTIES (n INTEGER, note TEXT) BUCKET_SECONDS 10`);
    if (this.random.chance(0.5)) await this.define('CREATE INDEX ON Items (n)');
    this.model = new ModelDatabase(['Items', 'Pairs'], this.database.lastLsn);
    const [items, pairs] = this.model.tables as [ModelTable, ModelTable];
    this.tables = { items, pairs };
  }

  async #open(): Promise<void> {
    const core = this.#isLong ? 'release' : pick(this.random, ['release', 'plain', 'debug'] as const);
    const sizes = this.#isLong ? { segmentRows: 64, logFileBytes: 2 ** 18 } : {};
    const slices = this.#isSliced ? { slicedOperations: 3 } : {};
    this.database = await openSim(this.#fs, { memoryBudgetBytes: 2 ** 22, core, ...sizes, ...slices });
    let us = 0;
    this.statements = new Statements({
      database: this.database,
      now: () => this.clock * 1000,
      nowUs: () => (us += 3),
      newId: () => `transaction-${++this.#ids}`,
      transactionIdleSeconds: IDLE_SECONDS,
      copyRoot: undefined,
      fs: this.#fs,
    });
  }

  /**
   * Reopens the database. Afterwards no transaction is open, and every acknowledged commit is
   * present.
   */
  async reopen(): Promise<void> {
    await this.settle();
    const how = pick(this.random, ['close', 'kill', 'crash'] as const);
    this.note(`reopen after ${how}`);
    if (how === 'close') await this.close();
    else this.#fs = how === 'kill' ? this.#fs.kill() : this.#fs.crash();
    await this.#open();
    sameLsn(this.database.lastLsn, this.model.lsn);
    const view = this.model.begin(this.database.lastLsn);
    for (const table of this.model.tables) {
      const statement = readAll(table);
      const outcome = await this.send('key', statement.text, {});
      this.compare(statement, view, outcome);
      this.checkPairs(statement, outcome);
    }
    this.saw('reopen');
  }

  async close(): Promise<void> {
    this.statements.close();
    await this.database.close();
  }

  async define(text: string): Promise<void> {
    this.note(text);
    await runDoor(this.statements, text, {}, 'key');
  }

  // Commits in flight

  get pending(): number {
    return this.#pending.size;
  }

  /** Starts work that continues while other work runs. */
  later(work: Promise<void>): void {
    const pending = work
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
  }

  assertWell(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * Whether commits in flight must be awaited first. A commit in slices does not take its position
   * at the time of the call, so no other commit may start before `settle`.
   */
  get mustSettle(): boolean {
    return this.#isSliced && this.#pending.size > 0;
  }

  /** Waits until no commit is in flight. */
  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    this.assertWell();
    sameLsn(this.database.lastLsn, this.model.lsn);
    this.model.forgetBefore(this.model.lsn);
  }

  // Statements and answers

  /**
   * Sends a statement. The call starts at once. Other work runs between the steps of the statement.
   */
  send(session: string, text: string, parameters: Parameters): Promise<Outcome> {
    this.note(`${session}: ${text}  ${JSON.stringify(parameters)}`);
    const slices = async (step: () => boolean) => {
      while (step()) for (let turns = this.random.below(4); turns > 0; turns--) await null;
    };
    return runDoor(this.statements, text, parameters, session, slices).then((answer) => ({ answer }), refusalOf);
  }

  /** Runs a statement that is its own commit, with no other commit in flight. */
  async commitAlone(session: string, statement: SessionStatement): Promise<void> {
    const view = this.model.begin(this.database.lastLsn);
    const outcome = await this.send(session, statement.text, statement.parameters);
    this.compare(statement, view, outcome);
    sameLsn(this.database.lastLsn, this.model.commit(view));
  }

  /**
   * Checks the answer against what the statement must do to `view`, and changes `view` accordingly.
   */
  compare(statement: SessionStatement, view: ModelTransaction, outcome: Outcome): void {
    const expected = statement.meaning(view, 'answer' in outcome ? outcome.answer.rows : []);
    const word = statement.text.slice(0, statement.text.indexOf(' ') >>> 0);
    this.saw('refused' in outcome ? `${word} ${outcome.status}` : word);
    if (expected !== 'any rows' && 'refused' in expected) {
      const code = 'refused' in outcome ? outcome.refused : 'rows';
      // A statement that fails is told first that its table was altered after its BEGIN.
      const isAltered = code === 'conflict' && this.database.tables().some(({ shapeLsn }) => shapeLsn > view.lsn);
      if (code !== expected.refused && !isAltered) throw new Error(`answered ${code}, not ${expected.refused}`);
    } else sameRows(answerOf(outcome).rows, expected);
  }

  /** Checks a read of all pairs without the model: the read must see each pair complete. */
  checkPairs({ text }: SessionStatement, outcome: Outcome): void {
    if (text !== ALL_PAIRS || 'refused' in outcome) return;
    const broken = brokenPairs(outcome.answer.rows);
    if (broken.length > 0 || outcome.answer.rows.length !== 2 * PAIRS)
      throw new Error(`pairs ${broken} of ${outcome.answer.rows.length} rows are broken`);
    this.saw('whole pairs');
  }
}

export function refusalOf(error: unknown): Outcome {
  if (error instanceof HedgerowError) return { refused: error.code, status: error.status };
  throw error;
}

export function newRow(id: number, { event_ts, members, n, note }: Omit<Row, 'id'>): Row {
  return { id, event_ts, members, n, note };
}

export function answerOf(outcome: Outcome): DoorAnswer {
  if ('answer' in outcome) return outcome.answer;
  throw new Error(`refused with ${outcome.refused}`);
}

export function sameLsn(given: number, expected: number | 'conflict'): void {
  if (given !== expected) throw new Error(`LSN ${given}, not ${expected}`);
}

/** Throws unless the rows and the order of their columns are as expected. */
export function sameRows(given: DoorAnswer['rows'], expected: Expected): void {
  if (expected === 'any rows') return;
  if ('refused' in expected) throw new Error(`rows, not ${expected.refused}`);
  const [a, b] = [given, expected.rows].map((rows) => rows.map((row) => JSON.stringify(row))) as [string[], string[]];
  if (!expected.ordered) for (const lines of [a, b]) lines.sort();
  if (a.length === b.length && a.every((line, place) => line === b[place])) return;
  const only = (lines: string[], others: string[]) => lines.filter((line) => !others.includes(line)).slice(0, 5);
  throw new Error(`${a.length} rows, not ${b.length}; only given: ${only(a, b)}; only expected: ${only(b, a)}`);
}
