// Runs a random history of a database on a simulated disk and compares it with the naive model. The
// history has writes, transactions, compactions, reopenings and crashes, and reads of every kind:
// at the newest state, at pinned snapshots, and in the middle of other operations.

import { loadCore } from '../../src/core/index.ts';
import { Database, type EngineOptions, type Scan, type Snapshot, type Table } from '../../src/engine/index.ts';
import type { EdgeInput, EdgeRow, InsertResult, ScanRequest } from '../../src/engine/types.ts';
import { isEdge, type NaiveRequest, type NaiveRow, NaiveTable, select, textOf } from '../model/naive-table.ts';
import { AlterHistory } from './alter-history.ts';
import { compareColumns, compareSums } from './column-rows.ts';
import { DocumentHistory } from './document-history.ts';
import { EdgeSource } from './edge-source.ts';
import { FollowedHistory, isOfDisk } from './followed-history.ts';
import { FOLLOWED } from './follower.ts';
import { addTexts, checkStrategy, requestOf, strategyOf } from './history-requests.ts';
import { type HistoryWorld, type Inflight, type ModelDdl, refusedBy } from './history-world.ts';
import { LogMemory } from './memory-log.ts';
import { Random } from './random.ts';
import { PausingRunner, simOptions, simScheduler, turn } from './sim-engine.ts';
import { type Fault, type Operation, SimFs, SimStopped } from './sim-fs.ts';
import { TransactionHistory } from './transaction-history.ts';

const PRIMARY = 'hyperedges';
const NOW_SECONDS = 1_000_000_000;

interface Pinned {
  snapshot: Snapshot;
  table: Table;
  versions: NaiveRow[];
}

interface OpenScan {
  scan: Scan;
  what: string;
  expected: { rows: EdgeRow[]; hasMore: boolean };
  format: 'json' | 'ndjson';
  text: string;
}

type Step = [weight: number, run: () => Promise<void> | void];

export class EngineHistory {
  /** How often each kind of event happened. */
  readonly seen: Record<string, number> = {};
  fs: SimFs;
  readonly #random: Random;
  readonly #source: EdgeSource;
  readonly #options: Partial<EngineOptions>;
  readonly #models = new Map<string, NaiveTable>();
  #db!: Database;
  /** Newest assigned LSN, as counted by the model. */
  #head = 0;
  /** Greatest LSN up to which every commit was acknowledged. */
  #acked = 0;
  /** Last LSN of every commit since the last recovery. */
  #boundaries = new Set<number>([0]);
  #inflight: Inflight[] = [];
  #pinned: Pinned[] = [];
  #scans: OpenScan[] = [];
  readonly #transactions: TransactionHistory;
  readonly #alters: AlterHistory;
  readonly #documents: DocumentHistory;
  readonly #follower: FollowedHistory | undefined;
  #compaction: Promise<void> | undefined;
  /** Catalog changes since the last recovery, oldest first. */
  #ddlSince: (ModelDdl & { lsn: number })[] = [];
  #ttlInDoubt: { name: string; cutoff: number }[] = [];
  /** How often the database was opened since the last recovery that succeeded. */
  #openings = 0;
  /** Whether a disk fault has occurred, so that the database must be restarted. */
  #damaged = false;
  #deleted: { name: string; edge: EdgeInput }[] = [];
  #tables = 0;
  #us = 0;
  #memory: LogMemory | undefined;
  readonly log: string[] = [];

  /**
   * `log` decides whether log frames are stored in files or in memory. If `isFollowed`, the
   * database keeps changes, and another one follows it (followed-history.ts).
   */
  constructor(seed: number, log: 'files' | 'memory' = 'files', isFollowed = false) {
    if (log === 'memory') this.#memory = new LogMemory();
    const random = new Random(seed);
    this.#random = random;
    this.fs = new SimFs(random);
    this.fs.makeDir('/db/tables');
    const maxMembers = random.chance(0.5) ? 64 : 255;
    this.#source = new EdgeSource(random, maxMembers);
    this.#options = {
      maxMembers,
      core: (['release', 'release', 'plain', 'debug'] as const)[random.below(4)]!,
      segmentRows: 4 + random.below(60),
      memoryBudgetBytes: random.chance(0.7) ? 1 : 2 ** 22,
      logFileBytes: 4096 + 500 + random.below(20_000),
      durability: random.chance(0.85) ? 'fsync' : 'async',
    };
    if (isFollowed) this.#options.history = seed % 5 === 0 ? { seconds: 1e9, bytes: 5000 } : FOLLOWED.history;
    const world = this.#world();
    this.#transactions = new TransactionHistory(world);
    this.#alters = new AlterHistory(world);
    this.#documents = new DocumentHistory(world);
    this.#follower = isFollowed ? this.#makeFollower(seed, world) : undefined;
  }

  #makeFollower(seed: number, world: HistoryWorld): FollowedHistory {
    const led = {
      ...world,
      answers: this.#documents.answers,
      logsInFiles: this.#memory === undefined,
      fs: () => this.fs,
      // On a full disk, the history gives way to new frames.
      losesFrames: () => this.#options.history!.bytes < 1e9 || (this.seen.ENOSPC ?? 0) > 0,
      undisturbed: async <T>(work: () => Promise<T>): Promise<T | undefined> => {
        await this.#settleAll();
        if (this.#damaged || this.#refuses()) return undefined;
        const { fs } = this;
        const { schedule } = fs;
        this.#endFaults();
        const done = await this.#wait(work());
        fs.schedule = schedule;
        return done;
      },
    };
    return new FollowedHistory(seed, led, this.#options);
  }

  #world(): HistoryWorld {
    return {
      random: this.#random,
      source: this.#source,
      models: this.#models,
      keepsHistory: this.#keepsHistory,
      db: () => this.#db,
      name: () => this.#name(),
      note: (line) => void this.log.push(line),
      saw: (what) => this.#saw(what),
      refuses: () => this.#refuses(),
      follow: (...commit) => this.#follow(...commit),
      maybeWait: (inflight) => this.#maybeWait(inflight),
      wait: (promise) => this.#wait(promise),
      assertFresh: (model, id) => this.#assertFresh(model, id),
      request: (rows) => this.#request(rows),
      format: () => this.#format(),
      compare: (...read) => this.#compare(...read),
      compact: () => this.#compactNow(),
      define: (...definition) => this.#define(...definition),
      forgetDeleted: (name) => {
        this.#deleted = this.#deleted.filter((each) => each.name !== name);
      },
    };
  }

  get #keepsHistory(): boolean {
    return this.#options.history !== undefined;
  }

  async run(steps: number): Promise<void> {
    try {
      await this.#open();
      for (let step = 0; step < steps; step++) await this.#step();
      await this.#end();
    } catch (error) {
      throw new Error(`${(error as Error).message}\nlast steps:\n  ${this.log.slice(-25).join('\n  ')}`, {
        cause: error,
      });
    }
  }

  #saw(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  // The simulated machine

  #engineOptions(): EngineOptions {
    const fs = this.fs;
    const random = this.#random;
    const pause = async (): Promise<void> => {
      for (let turns = random.below(4); turns > 0; turns--) await turn();
    };
    return simOptions(fs, {
      ...this.#options,
      ...(this.#memory ? { openLog: this.#memory.open } : {}),
      runner: new PausingRunner(fs, pause, this.#options.core),
      now: () => NOW_SECONDS * 1000,
      nowUs: () => (this.#us += random.below(2500)),
      schedule: (callback) => void setImmediate(() => void setImmediate(callback)),
      scheduler: simScheduler(),
    });
  }

  async #open(): Promise<void> {
    const before = this.#head;
    this.#openings++;
    this.#db = await this.#wait(Database.open(this.#engineOptions()));
    const recovered = this.#db.lastLsn;
    if (before === 0) {
      this.#models.set(PRIMARY, new NaiveTable());
      this.#head = recovered;
      this.#boundaries.add(recovered);
    } else this.#settleAfterRecovery(recovered);
    this.#acked = this.#head;
    this.#openings = 0;
    this.#compareTables();
    this.#documents.check(this.#db);
    this.#settleTtl();
    this.#readAll();
    this.#planFaults();
  }

  #settleAfterRecovery(recovered: number): void {
    if (recovered < this.#acked) throw new Error(`LSN ${this.#acked} was acknowledged, the log ends at ${recovered}`);
    if (!this.#boundaries.has(recovered) && !this.#areDrops(recovered))
      throw new Error(`half a commit: recovered up to ${recovered}`);
    if (recovered < this.#head) this.#saw('lost tail');
    const ddl = this.#ddlSince.splice(0);
    for (const { undo } of [...ddl].reverse()) undo();
    for (const { redo, lsn } of ddl) if (lsn <= recovered) redo(lsn);
    for (const model of this.#models.values()) model.forgetAfter(recovered);
    this.#head = recovered;
    this.#boundaries = new Set([recovered]);
  }

  /** Returns whether records of interrupted TTL compactions explain LSNs after the last commit. */
  #areDrops(recovered: number): boolean {
    if (!this.#keepsHistory || recovered <= this.#head) return false;
    // Each opening may repeat the record, if it dies before it can be noted that it is there.
    return recovered - this.#head <= this.#ttlInDoubt.length * (1 + this.#openings);
  }

  #compareTables(): void {
    const found = this.#db.tables().map((table) => table.name);
    const wanted = [...this.#models.keys()].sort();
    if (found.join() !== wanted.join()) throw new Error(`tables are ${found}, not ${wanted}`);
    for (const table of this.#db.tables()) if (table.corrupt !== null) throw table.corrupt;
  }

  /** Repeats in the model each TTL compaction that was interrupted but has changed rows. */
  #settleTtl(): void {
    for (const { name, cutoff } of this.#ttlInDoubt) {
      const model = this.#models.get(name);
      if (model === undefined) continue;
      const text = this.#textOf(this.#db.table(name).scan({ format: 'json' }));
      if (text === textOf(model.at(this.#head), 'json')) continue;
      model.compact(cutoff, this.#head);
      this.#saw('ttl in doubt was done');
    }
    this.#ttlInDoubt = [];
  }

  #planFaults(): void {
    const random = this.#random;
    const from = this.fs.operations + 1;
    const crashAt = random.chance(0.35) ? from + random.below(200) : -1;
    const faultAt = random.chance(0.12) ? from + random.below(150) : -1;
    this.fs.schedule = (operation) => this.#fault(operation, crashAt, faultAt);
    if (this.#memory !== undefined && random.chance(0.1)) this.#memory.failAfter(random.below(100));
  }

  #endFaults(): void {
    this.fs.schedule = () => undefined;
    this.#memory?.failAfter(Infinity);
  }

  #fault(operation: Operation, crashAt: number, faultAt: number): Fault | undefined {
    // One crash in four is at the next sync, because few operations are syncs.
    const isDue =
      crashAt % 4 === 0 ? operation.kind === 'sync' && operation.index >= crashAt : operation.index === crashAt;
    if (isDue) {
      this.#saw(`crash at ${operation.kind}`);
      return 'crash';
    }
    if (operation.index !== faultAt || operation.kind === 'open' || operation.kind === 'read') return undefined;
    this.#saw(`fault at ${operation.kind}`);
    this.log.push(`FAULT ${operation.kind} ${operation.path}`);
    if (operation.kind === 'write' && this.#random.chance(0.5)) return { shortBytes: 1 + this.#random.below(300) };
    const code = this.#random.chance(0.5) ? 'EIO' : 'ENOSPC';
    this.#saw(code);
    return { code };
  }

  /** Returns the promise's value, or throws SimStopped if the machine stops first. */
  async #wait<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => undefined);
    const stopped = this.fs.whenStopped.then(() => {
      throw new SimStopped('the machine stopped');
    });
    stopped.catch(() => undefined);
    return Promise.race([promise, stopped]);
  }

  async #crash(): Promise<void> {
    this.#forgetReaders();
    this.#compaction = undefined;
    this.#inflight = [];
    const kill = this.#random.chance(0.4);
    this.log.push(kill ? 'KILL' : 'CRASH');
    this.#saw(kill ? 'kill' : 'crash');
    this.fs = kill ? this.fs.kill() : this.fs.crash();
    this.#memory = kill ? this.#memory?.kill() : this.#memory?.crash();
    this.#damaged = false;
    await turn();
    await this.#open();
  }

  #forgetReaders(): void {
    this.#pinned = [];
    this.#scans = [];
    this.#transactions.forget();
  }

  async #reopen(): Promise<void> {
    for (const { snapshot } of this.#pinned.splice(0)) snapshot.release();
    for (const { scan } of this.#scans.splice(0)) scan.close();
    this.#transactions.rollBack();
    const settled = this.#random.chance(0.7);
    if (settled) await this.#settleAll();
    await this.#follower?.letGo();
    await this.#wait(this.#db.close().catch((error) => this.#failed(error)));
    await this.#settleAll();
    if (this.#damaged) return this.#crash();
    if (this.#options.durability === 'async') this.#acked = this.#head;
    if (this.fs.openHandles !== 0) throw new Error(`${this.fs.openHandles} files are open after close`);
    this.#saw('reopen');
    this.log.push('REOPEN');
    try {
      await this.#open();
    } catch (error) {
      this.#failed(error);
      this.#saw('open that the disk refused');
      await this.#crash();
    }
  }

  async #end(): Promise<void> {
    const round = async (): Promise<void> => {
      if (this.#damaged) await this.#crash();
      this.#endFaults();
      await this.#reopen();
      this.#endFaults();
    };
    await this.#guard(round);
    this.#endFaults();
    await this.#wait(this.#db.compact({}));
    this.#readAll();
    await this.#crash();
    this.#endFaults();
    await this.#follower?.finish();
  }

  // Steps

  async #step(): Promise<void> {
    await this.#guard(async () => {
      if (this.#damaged) {
        if (this.#random.chance(0.5)) this.#readAll();
        return this.#crash();
      }
      const steps = this.#steps();
      let at = this.#random.below(steps.reduce((sum, [weight]) => sum + weight, 0));
      for (const [weight, run] of steps) {
        at -= weight;
        if (at < 0) {
          await run();
          break;
        }
      }
      if (this.#random.chance(0.5)) this.#advanceScan();
      if (this.#random.chance(0.35)) this.#read();
      if (this.#random.chance(0.3)) await turn();
      if (!this.#damaged && !this.fs.stopped) await this.#follower?.step();
    });
  }

  /** Runs a step. A crash within the step ends it. */
  async #guard(run: () => Promise<void>): Promise<void> {
    try {
      await run();
      if (this.fs.stopped) throw new SimStopped('stopped');
    } catch (error) {
      if (!(error instanceof SimStopped) && !this.fs.stopped) throw error;
      await this.#crash();
    }
  }

  #steps(): Step[] {
    return [
      [18, () => this.#insert()],
      [5, () => this.#insertEqual()],
      [5, () => this.#bulk()],
      [9, () => this.#deleteLive()],
      [3, () => this.#deleteAbsent()],
      [4, () => this.#reinsert()],
      [12, () => this.#transactions.step()],
      [5, () => this.#transactions.changeRow()],
      [2, () => this.#transactions.duel()],
      [4, () => this.#compactNow()],
      [5, () => this.#compactAside()],
      [1, () => this.#compactTtl()],
      [2, () => this.#reopen()],
      [2, () => this.#crash()],
      [3, () => this.#pin()],
      [5, () => this.#readPinned()],
      [2, () => this.#release()],
      [4, () => this.#openScan()],
      [6, () => this.#advanceScan()],
      [3, () => this.#pages()],
      [2, () => this.#ddl()],
      [3, () => this.#alters.step()],
      [1, () => this.#threshold()],
      [3, () => this.#index()],
      [6, () => this.#settleAll()],
      [1, () => this.#figures()],
      [this.#follower === undefined ? 0 : 4, () => this.#documents.step()],
    ];
  }

  #name(): string {
    return this.#source.pick([...this.#models.keys()]);
  }

  /** Returns whether the engine refuses all writes because the disk has failed. */
  #refuses(): boolean {
    return this.#db.table(PRIMARY).context.committer.failed !== null;
  }

  /** Assigns LSNs to a commit that was just submitted, and checks its result when it settles. */
  #follow<T>(
    what: string,
    operations: number,
    promise: Promise<T>,
    check: (value: T, firstLsn: number) => void,
    apply: (firstLsn: number) => void,
    refused: boolean,
  ): Inflight {
    const firstLsn = this.#head + 1;
    const lastLsn = this.#head + operations;
    this.log.push(`${what} lsn ${firstLsn}..${lastLsn}${refused ? ' refused' : ''}`);
    if (!refused) {
      this.#head = lastLsn;
      this.#boundaries.add(lastLsn);
      apply(firstLsn);
    }
    const followed = promise.then(
      (value) => {
        if (refused) throw new Error(`${what} was answered although writes are refused`);
        check(value, firstLsn);
        if (this.#options.durability === 'fsync') this.#acked = Math.max(this.#acked, lastLsn);
      },
      (error: unknown) => this.#failed(error),
    );
    followed.catch(() => undefined);
    const inflight = { what, lastLsn, promise: followed };
    this.#inflight.push(inflight);
    return inflight;
  }

  /**
   * Accepts an error if a disk fault explains it, and otherwise throws it, because nothing else may
   * cause a write or a compaction to fail.
   */
  #failed(error: unknown): void {
    if (error instanceof SimStopped) throw error;
    if (isOfDisk(error)) {
      this.#damaged = true;
      this.#saw('refusal');
      return;
    }
    throw error;
  }

  async #maybeWait(inflight: Inflight): Promise<void> {
    if (this.#random.chance(0.35)) return;
    await this.#wait(inflight.promise);
    this.#inflight = this.#inflight.filter((other) => other !== inflight);
  }

  async #settleAll(): Promise<void> {
    for (const inflight of this.#inflight.splice(0)) await this.#wait(inflight.promise);
    await this.#settleCompaction();
  }

  async #settleCompaction(): Promise<void> {
    const compaction = this.#compaction;
    if (compaction === undefined) return;
    await this.#wait(compaction);
    this.#compaction = undefined;
  }

  #startInsert(name: string, edge: EdgeInput): Inflight {
    const table = this.#db.table(name);
    const model = this.#models.get(name)!;
    const refused = this.#refuses();
    const row = model.rowOf(table.nextId, edge);
    this.#assertFresh(model, row.id);
    const check = (result: InsertResult, lsn: number): void => {
      if (JSON.stringify(result.row) !== JSON.stringify(row))
        throw new Error(`insert answered ${JSON.stringify(result.row)}, not ${JSON.stringify(row)}`);
      if (result.lsn !== lsn) throw new Error(`insert answered LSN ${result.lsn}, not ${lsn}`);
    };
    return this.#follow(
      `insert ${name} ${row.id}@${row.event_ts}`,
      1,
      table.insert(edge),
      check,
      (lsn) => model.insert(row, lsn),
      refused,
    );
  }

  #assertFresh(model: NaiveTable, id: number): void {
    if (model.rows.some((entry) => entry.row.id === id)) throw new Error(`id ${id} is given out twice`);
  }

  async #insert(): Promise<void> {
    const name = this.#name();
    await this.#maybeWait(this.#startInsert(name, this.#source.edge(this.#models.get(name)!)));
  }

  async #insertEqual(): Promise<void> {
    const name = this.#name();
    const edge = this.#source.edge(this.#models.get(name)!);
    for (let count = 2 + this.#random.below(3); count > 0; count--)
      await this.#maybeWait(this.#startInsert(name, edge));
  }

  async #reinsert(): Promise<void> {
    if (this.#deleted.length === 0) return;
    const { name, edge } = this.#source.pick(this.#deleted);
    if (this.#models.has(name)) await this.#maybeWait(this.#startInsert(name, edge));
  }

  async #bulk(): Promise<void> {
    const name = this.#name();
    const table = this.#db.table(name);
    const model = this.#models.get(name)!;
    const bulk = table.bulk();
    const edges: EdgeInput[] = [];
    for (let count = 1 + this.#random.below(this.#random.chance(0.1) ? 120 : 12); count > 0; count--) {
      const edge = this.#source.edge(model);
      bulk.add(edge);
      edges.push(edge);
      if (this.#random.chance(0.1)) refusedBy(() => bulk.add({ event_ts: 0.5, members: [1] }), 'invalid_input');
      if (this.#random.chance(0.05)) refusedBy(() => bulk.add({ event_ts: 1, members: [] }), 'empty_members');
      if (this.#random.chance(0.05)) await this.#maybeWait(this.#startInsert(name, this.#source.edge(model)));
    }
    const firstId = table.nextId;
    const rows = edges.map((edge, index) => model.rowOf(firstId + index, edge));
    for (const row of rows) this.#assertFresh(model, row.id);
    const inflight = this.#follow(
      `bulk ${name} x${rows.length}`,
      rows.length,
      bulk.commit(),
      (result, lsn) => {
        const wanted = {
          inserted: rows.length,
          firstId,
          lastId: firstId + rows.length - 1,
          lsn: lsn + rows.length - 1,
        };
        if (JSON.stringify(result) !== JSON.stringify(wanted))
          throw new Error(`bulk answered ${JSON.stringify(result)}`);
      },
      (lsn) => {
        for (const [index, row] of rows.entries()) model.insert(row, lsn + index);
      },
      this.#refuses(),
    );
    await this.#maybeWait(inflight);
  }

  #startDelete(name: string, eventTs: number, members: readonly number[]): Inflight {
    const table = this.#db.table(name);
    const model = this.#models.get(name)!;
    const refused = this.#refuses();
    let matched = 0;
    const live = model.rows.filter(({ row, died }) => died === Infinity && isEdge(row, eventTs, members));
    return this.#follow(
      `delete ${name} @${eventTs} [${members.slice(0, 5)}]`,
      // With a history, every deleted row has an LSN of its own.
      this.#keepsHistory ? Math.max(1, live.length) : 1,
      table.delete(eventTs, members),
      (result) => {
        if (result.matched !== matched) throw new Error(`delete matched ${result.matched}, not ${matched}`);
      },
      (lsn) => {
        matched = model.delete(eventTs, members, lsn);
      },
      refused,
    );
  }

  async #deleteLive(): Promise<void> {
    const name = this.#name();
    const row = this.#liveRow(name);
    if (row === undefined) return;
    const { id: _, event_ts, members, roles, ...properties } = row;
    this.#deleted.push({ name, edge: { event_ts, members, roles, properties: properties as EdgeInput['properties'] } });
    const shuffled = this.#random.chance(0.3) ? [...members].reverse().concat(members[0]!) : members;
    await this.#maybeWait(this.#startDelete(name, event_ts, shuffled));
  }

  #liveRow(name: string): EdgeRow | undefined {
    const live = this.#models.get(name)!.rows.filter((entry) => entry.died === Infinity);
    return live.length === 0 ? undefined : this.#source.pick(live).row;
  }

  async #deleteAbsent(): Promise<void> {
    await this.#maybeWait(this.#startDelete(this.#name(), this.#source.time(), this.#source.members()));
  }

  // Compaction

  async #compactNow(): Promise<void> {
    await this.#settleAll();
    if (this.#damaged) return;
    const options = this.#random.chance(0.5) ? {} : { table: this.#name() };
    this.log.push(`compact ${JSON.stringify(options)}`);
    await this.#wait(
      this.#db.compact(options).then(
        () => this.#saw('compaction'),
        (error) => this.#failed(error),
      ),
    );
  }

  async #compactAside(): Promise<void> {
    await this.#settleCompaction();
    if (this.#damaged) return;
    const options = this.#random.chance(0.3) ? {} : { table: this.#name() };
    this.log.push(`compact aside ${JSON.stringify(options)}`);
    this.#compaction = this.#db.compact(options).then(
      () => this.#saw('compaction aside'),
      (error) => {
        // The database may have been closed, or the table dropped, before the compaction started.
        const code = (error as { code?: unknown }).code;
        if (code !== 'table_not_found' && code !== 'draining') this.#failed(error);
      },
    );
    this.#compaction.catch(() => undefined);
  }

  async #compactTtl(): Promise<void> {
    await this.#settleAll();
    if (this.#damaged) return;
    const name = this.#name();
    const model = this.#models.get(name)!;
    const row = this.#liveRow(name);
    const ttlSeconds = NOW_SECONDS - (row?.event_ts ?? 0) - this.#random.below(3);
    if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < 1 || model.intervals) return;
    const width = this.#db.table(name).bucketSeconds;
    const cutoff = Math.floor((NOW_SECONDS - ttlSeconds) / width) * width;
    this.log.push(`compact ttl ${name} cutoff ${cutoff}`);
    this.#ttlInDoubt.push({ name, cutoff });
    const live = model.at(this.#head);
    const gone = live.filter((each) => each.event_ts < cutoff);
    // With a history, the log records that rows were dropped.
    const recordLsn = this.#keepsHistory && gone.length > 0 ? this.#head + 1 : this.#head;
    this.#boundaries.add(recordLsn);
    const compacted = this.#db.compact({ table: name, ttlSeconds }).then(
      (result) => {
        model.compact(cutoff, recordLsn);
        this.#saw('ttl');
        // If the record could not be written, it is written when the database is opened again.
        if (this.#db.headLsn === recordLsn) this.#ttlInDoubt.pop();
        else this.#damaged = true;
        this.#head = this.#db.headLsn;
        if (this.#options.durability === 'fsync' && !this.#damaged) this.#acked = this.#head;
        const buckets = new Set(gone.map((each) => Math.floor(each.event_ts / width))).size;
        if (result.edges_dropped !== gone.length)
          throw new Error(`${result.edges_dropped} edges were dropped, not ${gone.length}`);
        if (result.buckets_dropped !== buckets)
          throw new Error(`${result.buckets_dropped} buckets were dropped, not ${buckets}`);
      },
      (error) => this.#failed(error),
    );
    await this.#wait(compacted);
  }

  // Tables

  async #ddl(): Promise<void> {
    await this.#settleAll();
    if (this.#damaged) return;
    if (this.#models.size < 3 || this.#random.chance(0.5)) return this.#createTable();
    const name = this.#source.pick([...this.#models.keys()].filter((each) => each !== PRIMARY));
    const model = this.#models.get(name)!;
    this.log.push(`drop ${name}`);
    const redo = (): void => void this.#models.delete(name);
    const undo = (): void => void this.#models.set(name, model);
    if (await this.#define({ redo, undo }, () => this.#db.dropTable(name))) this.#saw('drop');
  }

  #nextDdlLsn(lsns = 1): number {
    this.#head += lsns;
    this.#boundaries.add(this.#head);
    return this.#head;
  }

  async #define({ redo, undo }: ModelDdl, change: () => Promise<unknown>, lsns?: number): Promise<boolean> {
    const lsn = this.#nextDdlLsn(lsns);
    this.#ddlSince.push({ redo, undo, lsn });
    await this.#wait(change().catch((error) => this.#failed(error)));
    // After a disk failure, only the next recovery shows whether the change happened.
    if (this.#damaged) return false;
    redo(lsn);
    if (this.#options.durability === 'fsync') this.#acked = this.#head;
    return true;
  }

  async #createTable(): Promise<void> {
    if (this.#models.size > 4) return;
    const [name, columns] = [`t${this.#tables++}`, this.#source.columns()];
    const bucketSeconds = this.#source.pick([1, 3, 10, 3600, 1_000_000]);
    const roles = this.#source.roles();
    const input = { name, bucketSeconds, columns, roles, intervals: this.#random.chance(0.4) };
    const model = new NaiveTable(columns, roles, input.intervals);
    this.log.push(`create ${JSON.stringify(input).slice(0, 300)}`);
    const redo = (lsn: number): void => {
      model.shapeLsn = lsn;
      this.#models.set(name, model);
    };
    const undo = (): void => void this.#models.delete(name);
    const made = await this.#define({ redo, undo }, () => this.#db.createTable(input));
    if (made) this.#saw(input.intervals ? 'create with intervals' : 'create');
  }

  async #threshold(): Promise<void> {
    await this.#settleAll();
    if (this.#damaged) return;
    this.#nextDdlLsn();
    const threshold = this.#source.pick([0, 4, 20]);
    const name = this.#name();
    this.log.push(`threshold ${name} ${threshold}`);
    await this.#wait(this.#db.setCompactThreshold(threshold, name).catch((error) => this.#failed(error)));
    this.#saw('threshold');
  }

  /**
   * Creates or drops an index. After a crash, the catalog decides whether the index exists. If the
   * catalog lists it, the segments must contain it.
   */
  async #index(): Promise<void> {
    await this.#settleAll();
    if (this.#damaged) return;
    const name = this.#name();
    const table = this.#db.table(name);
    const numeric = table.columns.columns.filter(({ type }) => type === 'REAL' || type === 'INTEGER');
    const column = this.#source.pick(numeric);
    const isThere = this.#db.indexes(name).some((item) => item.column === column.name);
    if (isThere && this.#random.chance(0.6)) return;
    this.log.push(`${isThere ? 'drop' : 'create'} index ${name} ${column.name}`);
    this.#nextDdlLsn();
    const change = isThere ? this.#db.dropIndex(name, column.name) : this.#db.createIndex(name, column.name);
    await this.#wait(change.catch((error) => this.#failed(error)));
    if (this.#damaged) return;
    if (this.#options.durability === 'fsync') this.#acked = this.#head;
    this.#saw(isThere ? 'drop of an index' : 'index');
    if (isThere) return;
    for (const { facts } of table.version.segments) {
      const found = facts.columns.find(({ id }) => id === column.id);
      if (found !== undefined && !found.allNull && !found.ordered) throw new Error(`no order of ${column.name}`);
    }
  }

  // Reads

  #format(): 'json' | 'ndjson' {
    return this.#random.chance(0.5) ? 'json' : 'ndjson';
  }

  #request(rows: readonly EdgeRow[], table?: Table): NaiveRequest {
    const request = requestOf(this.#random, this.#source, rows);
    if (table !== undefined && this.#random.chance(0.15)) addTexts(request, this.#random, table, rows);
    if (request.texts !== undefined && select(rows, request).rows.length > 0) this.#saw('filter by text');
    if (request.where !== undefined && request.where.length > 0) this.#saw('filter');
    if (request.at !== undefined) this.#saw('read at a time');
    return request;
  }

  #read(): void {
    const name = this.#name();
    const rows = this.#models.get(name)!.at(this.#db.lastLsn);
    const table = this.#db.table(name);
    const request = this.#request(rows, table);
    const format = this.#format();
    this.log.push(`read ${name} ${JSON.stringify(request)}`);
    const scan = table.scan({ ...request, format } as ScanRequest);
    this.#compare(scan, select(rows, request), format, `${name} ${JSON.stringify(request)}`);
    this.#comparePlan(table, scan, rows, select(rows, request).rows, request);
    this.#saw('read');
  }

  #readAll(): void {
    for (const [name, model] of this.#models) {
      const table = this.#db.table(name);
      const rows = model.at(this.#db.lastLsn);
      const scan = table.scan({ format: 'json' });
      this.#compare(scan, { rows, hasMore: false }, 'json', `all of ${name}`);
      this.#comparePlan(table, scan, rows, rows, {});
    }
  }

  #textOf(scan: Scan): string {
    let text = '';
    const decoder = new TextDecoder();
    for (let slice = scan.next(); slice !== null; slice = scan.next()) text += decoder.decode(slice, { stream: true });
    return text;
  }

  #compare(scan: Scan, expected: { rows: EdgeRow[]; hasMore: boolean }, format: 'json' | 'ndjson', what: string): void {
    this.#compareText(scan, this.#textOf(scan), expected, format, what);
  }

  #compareText(
    scan: Scan,
    text: string,
    expected: { rows: EdgeRow[]; hasMore: boolean },
    format: 'json' | 'ndjson',
    what: string,
  ): void {
    const wanted = textOf(expected.rows, format);
    if (text !== wanted)
      throw new Error(
        `${what}:\n got ${summary(text, format)}\nwant ${summary(wanted, format)}${difference(text, wanted)}`,
      );
    if (scan.rows !== expected.rows.length)
      throw new Error(`${what}: ${scan.rows} rows were counted, ${expected.rows.length} given`);
    if (scan.hasMore !== expected.hasMore) throw new Error(`${what}: hasMore is ${scan.hasMore}`);
    const last = expected.rows.at(-1);
    if (last && (scan.lastKey?.eventTs !== last.event_ts || scan.lastKey.id !== last.id))
      throw new Error(`${what}: lastKey is ${JSON.stringify(scan.lastKey)}`);
  }

  /**
   * Compares the figures of a plan. They are exact only if all rows are in one place and none of
   * them is dead, so otherwise they are not compared.
   */
  #comparePlan(
    table: Table,
    scan: Scan,
    all: readonly EdgeRow[],
    given: readonly EdgeRow[],
    request: NaiveRequest,
  ): void {
    if (scan.plan().strategy === 'PSI_RANGE') this.#saw('order of a column');
    if (this.#compaction !== undefined || this.#damaged || this.#db.lastLsn !== this.#head) return;
    checkStrategy(request, scan.plan().strategy);
    if (request.where !== undefined || request.texts !== undefined || request.at !== undefined) return;
    const { segments, memtables } = table.version;
    const filled = memtables.filter(({ memtable }) => memtable.rows > 0);
    const inSegments = filled.length === 0 && segments.every((segment) => segment.dead.count === 0);
    const inMemtable = segments.length === 0 && filled.length === 1 && filled[0]!.memtable.deadRows === 0;
    if (!inSegments && !inMemtable) return;
    const buckets = (rows: readonly EdgeRow[]): number =>
      new Set(rows.map((row) => Math.floor(row.event_ts / table.bucketSeconds))).size;
    const plan = scan.plan();
    const strategy = strategyOf(request);
    const wanted = { strategy, buckets_scanned: buckets(given), total_buckets: buckets(all) };
    const found = { strategy: plan.strategy, buckets_scanned: plan.buckets_scanned, total_buckets: plan.total_buckets };
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      throw new Error(
        `plan of ${table.name} ${JSON.stringify(request)} (${inSegments ? 'segments' : 'memtable'}): ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`,
      );
    }
    this.#saw(inSegments ? 'plan in segments' : 'plan in memtable');
  }

  #pin(): void {
    if (this.#pinned.length > 4) return;
    const name = this.#name();
    const table = this.#db.table(name);
    const snapshot = this.#db.snapshot(table);
    this.log.push(`pin ${name} at ${snapshot.lsn}`);
    this.#pinned.push({ snapshot, table, versions: this.#models.get(name)!.versionsAt(snapshot.lsn) });
  }

  /** Reads a pinned snapshot, also of a table that was since altered, renamed or dropped. */
  #readPinned(): void {
    if (this.#pinned.length === 0) return;
    const { snapshot, table, versions } = this.#source.pick(this.#pinned);
    const { name } = table;
    const rows = versions.map(({ row }) => row);
    const request = this.#random.chance(0.3) ? {} : this.#request(rows, table);
    const format = this.#format();
    this.log.push(`read pinned ${name} at ${snapshot.lsn} ${JSON.stringify(request)}`);
    const what = `${name} at ${snapshot.lsn} ${JSON.stringify(request)}`;
    const wanted = select(rows, request);
    this.#compare(table.scan({ ...request, format }, snapshot), wanted, format, what);
    compareColumns(table, wanted.rows, (asked) => table.scan({ ...request, ...asked }, snapshot), what);
    compareSums(table, rows, request, snapshot, undefined);
    this.#saw('pinned read');
  }

  #release(): void {
    if (this.#pinned.length === 0) return;
    const [pin] = this.#pinned.splice(this.#random.below(this.#pinned.length), 1);
    this.log.push(`release ${pin!.table.name} at ${pin!.snapshot.lsn}`);
    pin!.snapshot.release();
    pin!.snapshot.release();
  }

  #openScan(): void {
    if (this.#scans.length > 3) return;
    const name = this.#name();
    const rows = this.#models.get(name)!.at(this.#db.lastLsn);
    const request = this.#random.chance(0.4) ? {} : this.#request(rows, this.#db.table(name));
    const format = this.#format();
    this.log.push(`open scan ${name} ${JSON.stringify(request)}`);
    const scan = this.#db.table(name).scan({ ...request, format });
    this.#scans.push({
      scan,
      what: `open scan of ${name} ${JSON.stringify(request)}`,
      expected: select(rows, request),
      format,
      text: '',
    });
  }

  #advanceScan(): void {
    if (this.#scans.length === 0) return;
    const open = this.#source.pick(this.#scans);
    const slice = open.scan.next();
    if (slice !== null) {
      open.text += Buffer.from(slice).toString();
      this.#saw('slice');
      if (this.#random.chance(0.03)) {
        open.scan.close();
        this.#scans = this.#scans.filter((other) => other !== open);
      }
      return;
    }
    this.#scans = this.#scans.filter((other) => other !== open);
    this.#compareText(open.scan, open.text, open.expected, open.format, open.what);
    this.#saw('scan to its end');
  }

  /** Reads a table page by page with a limit and a cursor, at one snapshot. */
  async #pages(): Promise<void> {
    const name = this.#name();
    const table = this.#db.table(name);
    const snapshot = this.#db.snapshot(table);
    const rows = this.#models.get(name)!.at(snapshot.lsn);
    const { after: _, ...request } = this.#request(rows, table);
    const limit = 1 + this.#random.below(7);
    let after: NaiveRequest['after'];
    for (let page = 0; page < 30; page++) {
      const wanted = select(rows, { ...request, limit, after });
      const scan = table.scan({ ...request, limit, after, format: 'json' }, snapshot);
      this.#compare(scan, wanted, 'json', `page ${page} of ${name} ${JSON.stringify(request)}`);
      if (!scan.hasMore) break;
      after = scan.lastKey;
      if (this.#random.chance(0.1)) await turn();
    }
    snapshot.release();
    this.#saw('pages');
  }

  #figures(): void {
    if (this.#inflight.length > 0) return;
    const health = this.#db.health();
    let records = 0;
    for (const model of this.#models.values()) records += model.rows.filter((entry) => entry.died === Infinity).length;
    if (health.total_records !== records)
      throw new Error(`health counts ${health.total_records} records, not ${records}`);
    const nodes = [...this.#models.values()].map(
      (model) => new Set(model.at(Number.MAX_SAFE_INTEGER).flatMap((row) => row.members)).size,
    );
    if (health.node_count < nodes.reduce((sum, count) => sum + count, 0))
      throw new Error(`health counts ${health.node_count} nodes, there are ${nodes}`);
    this.#saw('figures');
  }
}

function summary(text: string, format: 'json' | 'ndjson'): string {
  try {
    const rows: EdgeRow[] = JSON.parse(`[${format === 'json' ? text : text.trimEnd().split('\n').join(',')}]`);
    return `${rows.length} rows ${rows.map((row) => `${row.id}@${row.event_ts}`).join(' ')}`.slice(0, 600);
  } catch (error) {
    return `${(error as Error).message}: ${text.slice(0, 400)}`;
  }
}

function difference(found: string, wanted: string): string {
  let at = 0;
  while (at < found.length && found[at] === wanted[at]) at++;
  return `\n at ${at}: ${JSON.stringify(found.slice(Math.max(0, at - 60), at + 60))}\n   want: ${JSON.stringify(wanted.slice(Math.max(0, at - 60), at + 60))}`;
}

/** Compiles the core in advance, so that this does not count towards the first history's time. */
export function warmUp(): void {
  for (const core of ['release', 'plain', 'debug'] as const) loadCore(core);
}
