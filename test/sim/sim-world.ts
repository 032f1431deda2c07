// The simulated machine of a history: disk, memory, clock, scheduler, the process that runs on the
// machine, and the judge that checks the answers of the process.

import { loadCore } from '../../src/core/index.ts';
import { InlineRunner } from '../../src/engine/compaction/merge-files.ts';
import { Database, type EngineOptions, type Table } from '../../src/engine/index.ts';
import type { AnswerToKeep } from '../../src/model/kept-answer.ts';
import { EdgeSource } from '../support/edge-source.ts';
import { Random } from '../support/random.ts';
import { simOptions } from '../support/sim-engine.ts';
import { SimFs, SimStopped } from '../support/sim-fs.ts';
import type { GoName } from './sim-goes.ts';
import { judge, recoveredFrom } from './sim-judge.ts';
import { SimLedger, type SimOp } from './sim-ledger.ts';
import { SimLoop } from './sim-loop.ts';
import { SimMemory } from './sim-memory.ts';
import { type SimAnswer, SimTable, Violation } from './sim-model.ts';
import { type Failure, failureOf, SimPerils } from './sim-perils.ts';
import { randomWords } from './sim-words.ts';

export const PRIMARY = 'hyperedges';
export const NOW_SECONDS = 1_000_000_000;
const MOST_UNDER_WAY = 6;

/**
 * An operation that was not answered before the process ended. Its client retries it under the key
 * of `answer`.
 */
export interface Retry {
  answer: SimAnswer;
  op: SimOp;
}

export class SimWorld {
  readonly random: Random;
  readonly source: EdgeSource;
  readonly loop: SimLoop;
  readonly memory: SimMemory;
  readonly ledger = new SimLedger();
  readonly perils: SimPerils;
  readonly history: string[] = [];
  readonly seen: Record<string, number> = {};
  /** Tables whose definition is being changed. */
  readonly altering = new Set<string>();
  readonly retries: Retry[] = [];
  /** The number of most recent answers that must be kept. */
  readonly keptAnswers: number;
  /**
   * Whether the total size of kept bodies has a low limit, so that a missing answer does not prove
   * that its write was lost.
   */
  readonly boundsBytes: boolean;
  fs: SimFs;
  db!: Database;
  /** Cleanup functions to run when the process ends. */
  onEnd: (() => void)[] = [];
  readonly #settings: Partial<EngineOptions>;
  #underWay = 0;
  #violation: unknown;
  #us = 0;
  /**
   * Number of microseconds by which the clock advances when it is read. This decides whether long
   * work yields after every step or hardly ever.
   */
  readonly #usALook: number;
  #tokens = 0;

  constructor(seed: number, go: GoName) {
    const random = new Random(Math.imul(seed + 1, 0x9e3779b1));
    for (let skip = 0; skip < 3; skip++) random.below(2);
    this.random = random;
    this.loop = new SimLoop(random);
    this.fs = new SimFs(random);
    this.fs.pace = this.loop.pace;
    this.fs.sectors = { bytes: random.chance(0.5) ? 512 : 4096, garbled: random.chance(0.4) ? 0.3 : 0 };
    this.fs.makeDir('');
    const core = (['release', 'release', 'plain', 'debug'] as const)[random.below(4)]!;
    this.memory = new SimMemory(random, core, go === 'memory' || go === 'texts');
    this.perils = new SimPerils(random, go, (line) => this.note(line));
    this.#usALook = seed % 4 < 2 ? 3 : 4000;
    const maxMembers = random.chance(0.5) ? 64 : 255;
    this.source = new EdgeSource(random, maxMembers, go === 'texts' ? () => randomWords(random) : undefined);
    this.keptAnswers = 12 + random.below(40);
    this.boundsBytes = random.chance(0.1);
    this.#settings = {
      maxMembers,
      core,
      module: this.memory,
      segmentRows: 4 + random.below(60),
      memoryBudgetBytes: random.chance(0.7) ? 1 : 2 ** 22,
      logFileBytes: 4096 + 500 + random.below(random.chance(0.5) ? 3000 : 16_000),
      slicedOperations: random.chance(0.6) ? 4096 : 1 + random.below(10),
      replayLimits: { entries: this.keptAnswers, bodyBytes: this.boundsBytes ? 1500 : 2 ** 26 },
      ...(go === 'texts' ? { textPieceRows: 1 + random.below(40) } : {}),
    };
  }

  note(line: string): void {
    this.history.push(line);
  }

  saw(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  /** Returns a number that no other row has as its weight. */
  token(): number {
    return ++this.#tokens;
  }

  tableNames(): string[] {
    const { tables } = this.ledger.model;
    return [...tables.keys()].filter((name) => !this.altering.has(name));
  }

  hasTable(name: string): boolean {
    return this.db.tables().some((table) => table.name === name);
  }

  /**
   * Returns the name of a table that is in the model and in the database, and whose definition is
   * not changing.
   */
  anyTable(): string | undefined {
    const names = this.tableNames().filter((name) => this.hasTable(name));
    return names.length === 0 ? undefined : this.source.pick(names);
  }

  /** Returns whether an operation in flight touches the table. */
  isTouched(name: string): boolean {
    return [...this.ledger.unsettled].some(({ tables, state }) => state !== 'doubt' && tables.has(name));
  }

  get refuses(): boolean {
    return this.db.figures().logFailed;
  }

  entryOf(answer: SimAnswer): AnswerToKeep {
    return { ...answer, status: 200, contentType: 'application/json', at: NOW_SECONDS * 1000 };
  }

  // Operations

  /**
   * Passes an operation to the engine through `call`, and follows it. `firstLsn` returns the first
   * LSN of the operation's frame from the resolved value, 'unknown' if the engine does not tell it,
   * or undefined if the operation was not logged. `mayRefuse` lists the codes with which the
   * operation may report that it did nothing.
   */
  submit<T>(
    op: SimOp,
    call: () => Promise<T>,
    firstLsn: (value: T) => number | 'unknown' | undefined,
    mayRefuse: string[],
  ): void {
    this.ledger.begin(op, this.db.lastLsn);
    this.#underWay++;
    const { db } = this;
    const process = this.fs;
    let promise: Promise<T>;
    try {
      promise = call();
    } catch (error) {
      promise = Promise.reject(error);
    }
    promise
      .then((value) => {
        this.#underWay--;
        const first = firstLsn(value);
        this.note(`  ${op.what} -> LSN ${first ?? 'none'}${op.operations > 1 ? ` x${op.operations}` : ''}`);
        if (first === undefined) this.ledger.now(op);
        else if (first === 'unknown') this.ledger.ackedSomewhere(op);
        else this.ledger.acked(op, first);
      })
      .catch((error: unknown) => {
        if (error instanceof Violation) throw error;
        if (process.stopped || error instanceof SimStopped) return;
        this.#underWay--;
        this.#refused(op, error, db, mayRefuse);
      })
      .catch((error: unknown) =>
        this.report(() => {
          throw error;
        }),
      );
  }

  #refused(op: SimOp, error: unknown, db: Database, mayRefuse: string[]): void {
    const failure = failureOf(error);
    const inDoubt = db.figures().logFailed;
    this.note(`  ${op.what} -> ${failure.code}${inDoubt ? ', writes are refused' : ''}`);
    // After another process has taken over the log, the code `conflict` also means that a write may
    // have happened.
    const isPlain = mayRefuse.includes(failure.code) || failure.code === 'draining';
    if (isPlain && !(inDoubt && failure.code === 'conflict')) {
      this.ledger.refused(op);
      return;
    }
    if (!isPlain) this.assertExcused(failure, op.what);
    this.saw(`refused: ${failure.code}`);
    if (inDoubt) this.ledger.doubt(op);
    else if (op.operations === 0) this.ledger.doubt(op);
    else this.ledger.refused(op);
  }

  /** Throws unless a disk or memory failure explains this failure. */
  assertExcused(failure: Failure, what: string): void {
    const { disk } = this.perils;
    if (failure.kind === 'disk' && disk) return;
    if (failure.kind === 'memory' && this.memory.failures > 0) return;
    // Writes may be refused because of an earlier memory failure.
    if (failure.code === 'log_failed' && this.memory.failures > 0) return;
    throw new Violation('wrong-error', `${what} answered ${failure.code}: ${failure.message}`);
  }

  // Time

  /** Calls `look`, and keeps its error for the next call of `check`. */
  report(look: () => void): void {
    try {
      look();
    } catch (error) {
      this.#violation ??= error;
    }
  }

  /** Throws the error that `report` has stored, if any. */
  check(): void {
    if (this.#violation !== undefined) throw this.#violation;
  }

  /** Lets other work run for a while. */
  async rest(): Promise<void> {
    if (this.random.chance(0.4)) await this.loop.turnsOf(this.random.below(12));
    if (this.#underWay > MOST_UNDER_WAY)
      await this.#until(() => this.#underWay <= MOST_UNDER_WAY / 2, 'what was submitted');
    this.check();
    if (this.fs.stopped) throw new SimStopped('the machine stopped');
    if (this.ledger.unplaced) await this.settle();
  }

  async #until(isDone: () => boolean, what: string): Promise<void> {
    await this.loop.until(() => isDone() || this.fs.stopped || this.#violation !== undefined, what);
    this.check();
    if (this.fs.stopped) throw new SimStopped('the machine stopped');
  }

  /** Returns the outcome of the promise. Throws SimStopped if the machine stops first. */
  async wait<T>(promise: Promise<T>, what: string): Promise<T> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    promise.then(mark, mark);
    await this.#until(() => settled, what);
    return promise;
  }

  /** Does the same as `wait`, for a process on another disk. */
  async waitOn<T>(disk: SimFs, promise: Promise<T>, what: string): Promise<T> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    promise.then(mark, mark);
    await this.loop.until(() => settled || disk.stopped, what);
    return promise;
  }

  /** Waits until nothing is in flight. Then every LSN must be accounted for. */
  async settle(): Promise<void> {
    await this.#until(() => this.#underWay === 0, 'what was submitted');
    await this.loop.turnsOf(2);
    this.check();
    this.ledger.place();
    if (!this.refuses && [...this.ledger.unsettled].every(({ operations }) => operations === 0))
      this.ledger.assertWhole(this.db.lastLsn);
  }

  // The process

  options(fs: SimFs, dir: string, more: Partial<EngineOptions> = {}): EngineOptions {
    const module = more.module ?? this.memory;
    return simOptions(fs, {
      ...this.#settings,
      dir,
      module,
      runner: new InlineRunner(fs, module),
      now: () => NOW_SECONDS * 1000,
      nowUs: () => (this.#us += this.#usALook),
      schedule: (callback) => this.loop.defer(callback),
      defer: this.loop.defer,
      ...more,
    });
  }

  /** Opens the database. The judge then compares all of its contents. */
  async open(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      this.perils.plan(this.fs, attempt < 3);
      try {
        this.db = await this.wait(Database.open(this.options(this.fs, '/db')), 'the opening');
        // After a failed read, the table or the keys are refused until the next restart.
        if (!this.perils.disk || servesAll(this.db)) break;
        await this.#next(true);
      } catch (error) {
        if (error instanceof Violation) throw error;
        if (!this.fs.stopped) this.#openRefused(error);
        await this.#next(this.random.chance(0.5));
      }
    }
    if (this.ledger.model.tables.size === 0) this.#adopt();
    else this.quietly(() => this.ledger.settle(recoveredFrom(this.db, this)));
    this.note(`OPEN at LSN ${this.db.lastLsn}`);
  }

  /** Adds the primary table of a new database to the model. */
  #adopt(): void {
    const { db } = this;
    const { bucketSeconds, definition } = db.table();
    const op: SimOp = {
      what: 'the primary table',
      operations: db.lastLsn,
      state: 'open',
      tables: new Set([PRIMARY]),
      apply: (model) => {
        const table = new SimTable();
        table.bucketSeconds = bucketSeconds;
        table.threshold = definition.compactThreshold;
        model.tables.set(PRIMARY, table);
      },
    };
    if (db.tables().length !== 1 || db.lastLsn > 1) throw new Violation('wrong-rows', 'a new database is not empty');
    if (db.lastLsn === 0) this.ledger.now(op);
    else this.ledger.acked(op, 1);
  }

  #openRefused(error: unknown): void {
    const failure = failureOf(error);
    this.note(`OPEN -> ${failure.code}: ${failure.message}`);
    if (failure.code === 'corrupt' && this.perils.disk) return;
    this.assertExcused(failure, 'the opening');
    this.saw('opening refused');
  }

  async #next(kill: boolean): Promise<void> {
    this.perils.calm(this.fs);
    this.fs.stop();
    this.loop.forget();
    this.#violation = undefined;
    this.fs = kill ? this.fs.kill() : this.fs.crash();
    await this.loop.turn();
    SimMemory.takeBack();
  }

  /** Kills the process, or cuts the machine's power. Another process then opens what is left. */
  async crash(kill = this.random.chance(0.4)): Promise<void> {
    this.note(kill ? 'KILL' : 'POWER LOSS');
    this.saw(kill ? 'kill' : 'power loss');
    this.#forgetProcess();
    await this.#next(kill);
    this.memory.relieve();
    await this.open();
  }

  #forgetProcess(): void {
    for (const end of this.onEnd.splice(0)) end();
    for (const op of this.ledger.unsettled) {
      if (op.answer !== undefined && this.retries.length < 8) this.retries.push({ answer: op.answer, op });
    }
    this.altering.clear();
    this.#underWay = 0;
  }

  /** Lets another process open the disk, which has lost nothing. */
  async restart(): Promise<void> {
    this.#forgetProcess();
    await this.#next(true);
    await this.open();
  }

  /** Shuts the process down cleanly. */
  async close(): Promise<void> {
    for (const end of this.onEnd.splice(0)) end();
    try {
      await this.wait(this.db.close(), 'the end');
    } catch (error) {
      if (error instanceof SimStopped || error instanceof Violation) throw error;
      this.assertExcused(failureOf(error), 'the end');
    }
    await this.#until(() => this.#underWay === 0, 'what was submitted before the end');
    this.#forgetProcess();
    this.loop.forget();
  }

  async reopen(): Promise<void> {
    this.memory.relieve();
    await this.close();
    this.note('CLOSED');
    this.saw('reopen');
    if (this.fs.openHandles !== 0 && !this.perils.disk)
      throw new Violation('open-files', `${this.fs.openHandles} files are open after the end`);
    await this.#next(true);
    await this.open();
  }

  /** Compares the database with the model now. Nothing may be in flight. */
  judgeNow(): void {
    this.quietly(() => judge(this.db, this.ledger.model, this));
  }

  /** Calls `run` outside of the history, while the disk does not fail. */
  quietly(run: () => void): void {
    const { schedule } = this.fs;
    this.fs.schedule = () => undefined;
    run();
    this.fs.schedule = schedule;
  }

  table(name: string): Table {
    return this.db.table(name);
  }
}

/** Returns whether all tables and keys are served. */
function servesAll(db: Database): boolean {
  try {
    db.replays.find('no such key');
  } catch {
    return false;
  }
  return db.tables().every(({ corrupt }) => corrupt === null);
}

/**
 * Compiles the cores in advance, so that this does not count towards the time of the first history.
 */
export function warmUp(): void {
  for (const core of ['release', 'plain', 'debug'] as const) loadCore(core).instantiate();
}
