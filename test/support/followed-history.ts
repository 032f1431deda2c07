// The follower of the database of a random history. It follows now and then, and so falls behind
// and catches up; it reads, compacts, is away, is closed and killed, and its disk fails. Whenever
// both are at the same LSN, it must hold what the leader holds: the same definitions, rows, counts
// of rows, next ids, documents and stored answers. In between, its reads must give the rows that
// the model has at its LSN.
//
// Its random numbers are its own, so that they do not depend on how far it has come.

import type { Database, EngineOptions, Table } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { type NaiveTable, select } from '../model/naive-table.ts';
import { STORES } from './document-history.ts';
import { EdgeSource } from './edge-source.ts';
import { SimFollower } from './follower.ts';
import { requestOf } from './history-requests.ts';
import type { HistoryWorld } from './history-world.ts';
import { Random } from './random.ts';
import { drain, PausingRunner, simScheduler, turn } from './sim-engine.ts';
import { type Fault, type Operation, type SimFs, SimStopped } from './sim-fs.ts';

/** What the follower needs of the history besides what the parts of a history share. */
export interface LedWorld extends HistoryWorld {
  /** Ids of the stored answers. */
  readonly answers: readonly string[];
  readonly logsInFiles: boolean;
  /** The disk of the leader. */
  fs(): SimFs;
  /** Whether the leader may have removed frames that the follower needs. */
  losesFrames(): boolean;
  /** Waits for everything under way, then runs `work` without faults, unless the disk failed. */
  undisturbed<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** Error codes and messages with which a failing disk makes an operation fail. */
export function isOfDisk(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  const refusals: unknown[] = ['log_failed', 'disk_full', 'disk_failed', 'EIO', 'ENOSPC'];
  return refusals.includes(code) || (error instanceof Error && /short write|wrote \d+ of/.test(error.message));
}

type Ending = 'close' | 'kill' | 'crash';

export class FollowedHistory {
  readonly #world: LedWorld;
  readonly #random: Random;
  readonly #source: EdgeSource;
  readonly #options: Partial<EngineOptions>;
  #sim: SimFollower | undefined;
  /** Steps until the follower is started, for the first time or after it was ended. */
  #startsIn: number;
  /** What it is doing; never rejects, see #error. */
  #busy: Promise<void> | undefined;
  #error: unknown;
  /** Set when the follower must stop following, because the leader will be closed. */
  #mustStop = false;
  #isGone = false;
  /** Whether a fault of its disk may have made an operation fail. */
  #faulted = false;
  /** Whether it must be restarted because its disk has failed. */
  #damaged = false;
  /** The next ids of its tables when it was started, by the id of the table. */
  #nextIds = new Map<number, number>();
  #us = 0;

  constructor(seed: number, world: LedWorld, { maxMembers = 255, core = 'release' }: Partial<EngineOptions>) {
    const random = new Random(Math.imul(seed + 1, 0x85ebca6b));
    this.#world = world;
    this.#random = random;
    this.#source = new EdgeSource(random, maxMembers);
    this.#startsIn = random.below(20);
    this.#options = {
      maxMembers,
      core,
      segmentRows: 4 + random.below(60),
      memoryBudgetBytes: random.chance(0.7) ? 1 : 2 ** 22,
      logFileBytes: 4096 + 500 + random.below(20_000),
      durability: random.chance(0.7) ? 'fsync' : 'async',
      slicedOperations: random.chance(0.4) ? 3 : 4096,
    };
  }

  /** Does something, at the end of a step of the leader. */
  async step(): Promise<void> {
    this.#throwError();
    if (this.#startsIn > 0) {
      this.#startsIn--;
      return;
    }
    if (this.#sim === undefined || this.#isGone) return this.#start();
    if (this.#sim.fs.stopped || this.#damaged) return this.#restart(this.#random.chance(0.5) ? 'kill' : 'crash');
    const random = this.#random;
    const dice = random.below(40);
    if (dice < 12) this.#follow(random.chance(0.5) ? 1 + random.below(8) : Infinity);
    else if (dice < 15) await this.#catchUp();
    else if (dice < 18) this.#compact();
    else if (dice < 20) await this.#restart(this.#source.pick(['close', 'kill', 'crash'] as const));
    else if (dice < 21) this.#startsIn = random.below(20);
    if (!this.#sim.fs.stopped && random.chance(0.5)) this.#guarded(() => this.#read());
  }

  /** Ends following, so that the leader can be closed. */
  async letGo(): Promise<void> {
    this.#mustStop = true;
    await this.#settle();
  }

  /** Compares everything a last time, also after a restart and a compaction of the follower. */
  async finish(): Promise<void> {
    this.#startsIn = 0;
    if (this.#sim === undefined || this.#isGone) await this.#start(false);
    await this.#settle();
    await this.#restart(this.#source.pick(['close', 'kill', 'crash'] as const), false);
    // The leader may have removed the frames that it needs.
    for (let at = 0; at < 2 && !(await this.#catchUp()); at++) if (this.#isGone) await this.#start(false);
    if (!(await this.#catchUp())) throw new Error('the follower does not catch up');
    await this.#restart(this.#source.pick(['close', 'kill', 'crash'] as const), false);
    if (!(await this.#catchUp())) throw new Error('the follower does not catch up after a restart');
    await this.#sim!.database.compact();
    for (let read = 0; read < 5; read++) this.#read();
    if (!(await this.#catchUp())) throw new Error('the follower differs after a compaction');
    await this.#sim!.database.close();
    if (this.#sim!.fs.openHandles !== 0) throw new Error(`the follower has ${this.#sim!.fs.openHandles} open files`);
  }

  // Starting and ending

  #optionsOn(fs: SimFs): Partial<EngineOptions> {
    const random = this.#random;
    const pause = async (): Promise<void> => {
      for (let turns = random.below(4); turns > 0; turns--) await turn();
    };
    return {
      ...this.#options,
      runner: new PausingRunner(fs, pause, this.#options.core),
      nowUs: () => (this.#us += random.below(2500)),
      schedule: (callback) => void setImmediate(() => void setImmediate(callback)),
      scheduler: simScheduler(),
    };
  }

  /** Starts a follower with what the leader has now. */
  async #start(withFaults = true): Promise<void> {
    await this.#settle();
    this.#sim?.fs.stop();
    const { db, fs } = this.#world;
    const optionsOn = (disk: SimFs) => this.#optionsOn(disk);
    const sim = await this.#world.undisturbed(() => {
      const start = this.#world.logsInFiles ? SimFollower.startFromCopy : SimFollower.start;
      return start.call(SimFollower, db(), fs(), this.#random, optionsOn);
    });
    if (sim === undefined) return;
    this.#sim = sim;
    this.#isGone = false;
    this.#damaged = false;
    this.#nextIds = new Map(this.#sim.database.tables().map((table) => [table.definition.id, table.nextId]));
    this.#note('starts');
    if (withFaults) this.#planFaults();
    await this.#compareAll();
  }

  async #restart(how: Ending, withFaults = true): Promise<void> {
    await this.#settle();
    const sim = this.#sim!;
    this.#note(how);
    this.#world.saw(`follower: ${how}`);
    let ending = how;
    if (!withFaults) sim.fs.schedule = () => undefined;
    if (ending === 'close' && !(await this.#succeeds(() => sim.database.close()))) ending = 'crash';
    for (let opened = false; !opened; ) {
      if (ending !== 'close') sim.fs = ending === 'kill' ? sim.fs.kill() : sim.fs.crash();
      this.#damaged = false;
      sim.fs.schedule = () => undefined;
      if (withFaults && this.#random.chance(0.4)) this.#planFaults();
      opened = await this.#succeeds(() => sim.open());
      ending = 'crash';
    }
    if (withFaults) this.#planFaults();
  }

  #planFaults(): void {
    const random = this.#random;
    const fs = this.#sim!.fs;
    const from = fs.operations + 1;
    const crashAt = random.chance(0.35) ? from + random.below(150) : -1;
    const faultAt = random.chance(0.12) ? from + random.below(150) : -1;
    this.#faulted = false;
    fs.schedule = (operation) => this.#fault(operation, crashAt, faultAt);
  }

  #fault({ index, kind, path }: Operation, crashAt: number, faultAt: number): Fault | undefined {
    if (index === crashAt) {
      this.#world.saw('follower: crash within an operation');
      this.#note(`CRASH at ${kind} ${path}`);
      return 'crash';
    }
    if (index !== faultAt || kind === 'open' || kind === 'read') return undefined;
    this.#faulted = true;
    this.#world.saw('follower: fault of the disk');
    this.#note(`FAULT ${kind} ${path}`);
    return { code: this.#random.chance(0.5) ? 'EIO' : 'ENOSPC' };
  }

  // What can fail

  #note(what: string): void {
    this.#world.note(`    follower: ${what}`);
  }

  /** Returns the promise's value, or throws SimStopped if the follower's machine stops first. */
  async #own<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => undefined);
    const stopped = this.#sim!.fs.whenStopped.then(() => {
      throw new SimStopped('the machine of the follower stopped');
    });
    stopped.catch(() => undefined);
    return Promise.race([promise, stopped]);
  }

  /** Runs work of the follower. Returns false if its machine stopped or its disk failed. */
  async #succeeds(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.#own(work());
      return !this.#sim!.fs.stopped;
    } catch (error) {
      this.#check(error);
      return false;
    }
  }

  /** Throws the error unless the follower's machine has stopped or its disk has failed. */
  #check(error: unknown): void {
    if (this.#sim!.fs.stopped) return;
    if (!this.#faulted || !isOfDisk(error)) throw error;
    this.#damaged = true;
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#check(error);
    }
  }

  #throwError(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  async #settle(): Promise<void> {
    await this.#busy;
    this.#busy = undefined;
    this.#throwError();
  }

  // Following

  /** Begins to apply at most about `most` frames, unless it is still following. */
  #follow(most: number): void {
    if (this.#busy !== undefined) return;
    this.#mustStop = false;
    this.#busy = this.#applyFrames(most)
      .catch((error: unknown) => this.#check(error))
      .catch((error: unknown) => {
        this.#error = error;
      })
      .finally(() => {
        this.#busy = undefined;
      });
  }

  async #applyFrames(most: number): Promise<void> {
    const { applier, frames } = this.#sim!.database;
    const leader = this.#world.db();
    const leaderFs = this.#world.fs();
    const from = applier!.nextLsn - 1;
    const sum = await this.#own(frames.checksumAt(from));
    const reader = await this.#ofLeader(leaderFs, () => leader.frames.read(from, sum));
    if (reader === undefined) return;
    for (let left = most; left > 0 && !this.#mustStop; ) {
      const some = await this.#ofLeader(leaderFs, () => reader.next());
      if (some === undefined || some.length === 0) break;
      await this.#own(applier!.apply(some.slice(0, left)));
      left -= some.length;
    }
    if (!leaderFs.stopped) reader.close();
    this.#note(`applied ${from + 1}..${applier!.nextLsn - 1}`);
    if (applier!.nextLsn - 1 > from) this.#world.saw('follower: followed');
  }

  /** Returns the leader's answer; undefined if it has stopped, fails, or has no such frames. */
  async #ofLeader<T>(leaderFs: SimFs, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      const asked = ask();
      asked.catch(() => undefined);
      return await Promise.race([asked, leaderFs.whenStopped.then(() => undefined)]);
    } catch (error) {
      if (leaderFs.stopped || error instanceof SimStopped) return undefined;
      if (this.#world.refuses() && isOfDisk(error)) return undefined;
      if (!(error instanceof HedgerowError) || error.code !== 'lsn_gone' || !this.#world.losesFrames()) throw error;
      this.#note('the frames are gone');
      this.#world.saw('follower: away for too long');
      this.#isGone = true;
      return undefined;
    }
  }

  /**
   * Applies all frames and compares everything. Returns false if it could not compare because a
   * machine stopped, a disk failed, or a write was under way.
   */
  async #catchUp(): Promise<boolean> {
    await this.#settle();
    this.#follow(Infinity);
    await this.#settle();
    if (this.#isGone || this.#damaged || this.#sim!.fs.stopped) return false;
    return this.#compareAll();
  }

  #compact(): void {
    const { database } = this.#sim!;
    const of = this.#sim!;
    this.#note('compacts');
    const { fs } = of;
    database.compact({}).then(
      () => this.#world.saw('follower: compaction'),
      (error: unknown) => {
        // The database may have been closed, or a table dropped, before the compaction started.
        const { code } = error as { code?: unknown };
        if (fs.stopped || code === 'draining' || code === 'table_not_found') return;
        if (!this.#faulted || !isOfDisk(error)) this.#error = error;
        else this.#damaged = true;
      },
    );
  }

  // Comparing

  /** Compares the states of both if both are at the same LSN and nothing is under way. */
  async #compareAll(): Promise<boolean> {
    const { database, fs } = this.#sim!;
    const leader = this.#world.db();
    if (!(await this.#succeeds(() => database.frames.checksumAt(database.headLsn)))) return false;
    for (let turns = 0; turns < 1000 && database.lastLsn < database.headLsn && !fs.stopped; turns++) await turn();
    if (fs.stopped || this.#world.refuses()) return false;
    const { lastLsn } = leader;
    if ([leader.headLsn, database.lastLsn, database.headLsn].some((lsn) => lsn !== lastLsn)) return false;
    this.#note(`is compared at ${lastLsn}`);
    let same = false;
    this.#guarded(() => {
      this.#compareStates(leader, database);
      same = true;
    });
    if (same) this.#world.saw('follower: compared');
    return same;
  }

  #compareStates(leader: Database, follower: Database): void {
    const lsn = leader.lastLsn;
    const stateOf = (database: Database): [string, string][] => [
      [
        'tables',
        database
          .tables()
          .map(({ name }) => name)
          .join(),
      ],
      ...database.tables().flatMap((table): [string, string][] => [
        [`definition of ${table.name}`, JSON.stringify(table.definition)],
        [`count of the rows of ${table.name}`, `${table.rowCount}`],
        [`rows of ${table.name}`, drain(table.scan({ format: 'ndjson' }))],
      ]),
      ...STORES.map((store): [string, string] => [`store ${store}`, JSON.stringify(database.documents.entries(store))]),
      ...this.#world.answers.map((id): [string, string] => [id, JSON.stringify(database.replays.find(id) ?? null)]),
    ];
    const found = stateOf(follower);
    for (const [place, [what, wanted]] of stateOf(leader).entries())
      if (found[place]?.[1] !== wanted)
        throw new Error(`LSN ${lsn}, ${what}: the follower has\n${found[place]?.[1]}\nthe leader has\n${wanted}`);
    for (const table of follower.tables()) this.#compareNextId(table, leader.table(table.name));
  }

  /** Only ids of rows are in the log, not those that transactions took and gave up. */
  #compareNextId({ name, definition, nextId }: Table, led: Table): void {
    const first = this.#nextIds.get(definition.id) ?? 1;
    const wanted = Math.max(first, this.#world.models.get(name)!.greatestId + 1);
    if (nextId !== wanted) throw new Error(`the next id of ${name} is ${nextId} at the follower, not ${wanted}`);
    if (nextId > led.nextId)
      throw new Error(`the next id of ${name} is ${led.nextId} at the leader, less than ${nextId}`);
  }

  /** Reads some rows of a table, and compares them with the model as of the follower's LSN. */
  #read(): void {
    const { database } = this.#sim!;
    const lsn = database.lastLsn;
    const isKnown = ([, model]: [string, NaiveTable]): boolean => model.shapeLsn <= lsn && model.droppedLsn <= lsn;
    const known = [...this.#world.models].filter(isKnown);
    if (known.length === 0) return;
    const [name, model] = this.#source.pick(known);
    const rows = model.at(lsn);
    const request = this.#random.chance(0.3) ? {} : requestOf(this.#random, this.#source, rows);
    const what = `the follower at ${lsn}: ${name} ${JSON.stringify(request)}`;
    const table = database.table(name);
    this.#world.compare(table.scan({ ...request, format: 'json' }), select(rows, request), 'json', what);
    if (table.rowCount !== rows.length)
      throw new Error(`${what}: ${table.rowCount} rows are counted, not ${rows.length}`);
    this.#world.saw(lsn === this.#world.db().lastLsn ? 'follower: read' : 'follower: read of the past');
  }
}
