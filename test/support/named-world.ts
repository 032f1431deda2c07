// The machine, the database and the model of a random history of named tables. Writes go through
// `commit`, which compares the outcome with what the model expects, and keeps the state of the
// model at the last LSN of every frame. So a read at any LSN, and what a crash leaves, can be
// compared.

import { Database, type EngineOptions, nodeNumber, type Table } from '../../src/engine/index.ts';
import type { EdgeRow } from '../../src/engine/types.ts';
import type { KindAndKey, NodeKey } from '../../src/model/node-refs.ts';
import { type EdgeTable, type NaiveKind, type NaiveNode, NamedState } from '../model/named-state.ts';
import { SimMemory } from '../sim/sim-memory.ts';
import { isOfDisk } from './followed-history.ts';
import { NamedDeaths } from './named-deaths.ts';
import { type CommitPlan, type Holder, type Outcome, settledOf } from './named-plan.ts';
import { NamedSource, type Ref } from './named-source.ts';
import { Random } from './random.ts';
import { PausingRunner, simOptions, simScheduler, turn } from './sim-engine.ts';
import { type Fault, type Operation, SimFs, SimStopped } from './sim-fs.ts';

export class NamedWorld {
  readonly random: Random;
  readonly source: NamedSource;
  readonly seen: Record<string, number> = {};
  readonly log: string[] = [];
  readonly options: Partial<EngineOptions>;
  readonly memory: SimMemory;
  /** Whether memory is short now and then. */
  readonly isShort: boolean;
  fs: SimFs;
  db!: Database;
  /** The newest state, and its LSN. */
  state = new NamedState();
  headLsn = 0;
  /** The states by the last LSN of their frame. */
  readonly states = new Map<number, NamedState>();
  /** Whether the disk has failed, so that the database must be restarted. */
  isDamaged = false;
  /** Open transactions and bulk inserts. */
  readonly holders = new Set<Holder>();
  readonly deaths = new NamedDeaths();
  /** Reads something while a write is under way. */
  readMeanwhile: () => void = () => undefined;
  onLost: () => void = () => undefined;
  /** A commit of which it is not known whether it is in the log. */
  #doubt: CommitPlan | undefined;
  #acked = 0;
  #inflight: Promise<void>[] = [];
  #us = 0;
  #isFull = false;
  readonly #numbers = new Map<number, NaiveNode>();
  /** Nodes that some writer holds and nobody has created, by kind and key. */
  readonly #pending = new Map<NaiveKind, Map<NodeKey, NaiveNode>>();
  /** When a node was created, by LSN. */
  readonly #born = new Map<NaiveNode, number>();

  constructor(seed: number, isFollowed: boolean, isShort: boolean) {
    const random = new Random(Math.imul(seed + 1, 0x9e3779b1));
    this.random = random;
    this.source = new NamedSource(random);
    this.fs = new SimFs(random);
    this.fs.makeDir('/db/tables');
    const core = (['release', 'release', 'plain', 'debug'] as const)[random.below(4)]!;
    this.memory = new SimMemory(random, core, isShort);
    this.isShort = isShort;
    this.options = {
      core,
      segmentRows: 4 + random.below(60),
      // A small budget refuses new keys now and then.
      memoryBudgetBytes: isShort ? 2 ** 22 : 2 ** 26,
      residentSegments: random.chance(0.5) ? 2 : 1000,
      logFileBytes: 4096 + 500 + random.below(20_000),
      durability: isFollowed || random.chance(0.85) ? 'fsync' : 'async',
      slicedOperations: random.chance(0.5) ? 4096 : 1 + random.below(8),
      ...(isFollowed || random.chance(0.2) ? { history: { seconds: 1e9, bytes: 1e9 } } : {}),
      module: this.memory,
    };
  }

  note(line: string): void {
    this.log.push(line);
  }

  saw(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  // The machine

  #engineOptions(): EngineOptions {
    const { fs, random } = this;
    const pause = async (): Promise<void> => {
      for (let turns = random.below(4); turns > 0; turns--) await turn();
    };
    return simOptions(fs, {
      ...this.options,
      runner: new PausingRunner(fs, pause, this.options.core),
      nowUs: () => (this.#us += random.below(2500)),
      schedule: (callback) => void setImmediate(() => void setImmediate(callback)),
      scheduler: simScheduler(),
    });
  }

  async open(): Promise<void> {
    const isFirst = this.states.size === 0;
    try {
      this.db = await this.wait(Database.open(this.#engineOptions()));
    } catch (error) {
      if (!this.isShortOfMemory(error)) throw error;
      this.saw('open without memory');
      this.memory.relieve();
      this.fs = this.fs.kill();
      return this.open();
    }
    const { lastLsn } = this.db;
    if (isFirst) this.states.set(lastLsn, this.state);
    else this.#recover(lastLsn);
    this.headLsn = lastLsn;
    this.#acked = lastLsn;
    this.#planFaults();
  }

  #recover(lsn: number): void {
    if (lsn < this.#acked) throw new Error(`LSN ${this.#acked} was acknowledged, the log ends at ${lsn}`);
    if (!this.states.has(lsn)) this.#settleDoubt(lsn);
    this.#doubt = undefined;
    this.deaths.clear();
    const state = this.stateAt(lsn);
    for (const each of this.states.keys()) if (each > lsn) this.states.delete(each);
    for (const [node, born] of this.#born) if (born > lsn) this.#forget(node);
    for (const nodes of this.#pending.values()) for (const node of nodes.values()) this.#forget(node);
    this.#pending.clear();
    if (state !== this.state) this.saw('lost tail');
    this.state = state;
    for (const { kind, name } of state.kinds) kind.name = name;
    this.learnAll();
  }

  /** Keeps the state after the commit in doubt, which the log has. */
  #settleDoubt(lsn: number): void {
    const doubt = this.#doubt;
    const operations = lsn - this.headLsn;
    const isWhole = doubt !== undefined && operations > 0 && this.#isOf(doubt, operations);
    if (!isWhole) throw new Error(`half a commit: recovered up to ${lsn}`);
    this.saw('a commit in doubt was made');
    this.states.set(lsn, doubt.next(this.state));
    for (const node of doubt.born) this.#born.set(node, lsn);
  }

  /** Whether a frame of so many operations can be that of the plan. */
  #isOf(plan: CommitPlan, operations: number): boolean {
    return this.options.history ? operations >= plan.operations : operations === plan.operations;
  }

  #planFaults(): void {
    const { random } = this;
    this.#isFull = false;
    const from = this.fs.operations + 1;
    const crashAt = random.chance(0.35) ? from + random.below(200) : -1;
    const faultAt = random.chance(0.12) ? from + random.below(150) : -1;
    this.fs.schedule = (operation) => this.#fault(operation, crashAt, faultAt);
  }

  endFaults(): void {
    this.#isFull = false;
    this.fs.schedule = () => undefined;
    this.memory.relieve();
  }

  /** Makes the disk full, until `endFaults` or the next start. */
  fill(): void {
    this.note('the disk is full');
    this.#isFull = true;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  empty(): void {
    this.note('the disk has room');
    this.#isFull = false;
  }

  #fault(operation: Operation, crashAt: number, faultAt: number): Fault | undefined {
    const { kind, path, index, growth = 0 } = operation;
    const isDue = crashAt % 4 === 0 ? kind === 'sync' && index >= crashAt : index === crashAt;
    if (isDue) {
      this.saw(`crash at ${kind}`);
      this.note(`CRASH at ${kind} ${path}`);
      return 'crash';
    }
    if (this.#isFull && growth > 0) {
      this.saw('full disk');
      return { code: 'ENOSPC' };
    }
    if (index !== faultAt || kind === 'open' || kind === 'read') return undefined;
    this.saw(`fault at ${kind}`);
    this.note(`FAULT ${kind} ${path}`);
    if (kind === 'write' && this.random.chance(0.5)) return { shortBytes: 1 + this.random.below(300) };
    return { code: this.random.chance(0.5) ? 'EIO' : 'ENOSPC' };
  }

  /** Returns the promise's value, or throws SimStopped if the machine stops first. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => undefined);
    const stopped = this.fs.whenStopped.then(() => {
      throw new SimStopped('the machine stopped');
    });
    stopped.catch(() => undefined);
    return Promise.race([promise, stopped]);
  }

  async crash(): Promise<void> {
    this.forgetProcess();
    const kill = this.random.chance(0.4);
    this.note(kill ? 'KILL' : 'CRASH');
    this.saw(kill ? 'kill' : 'crash');
    this.fs = kill ? this.fs.kill() : this.fs.crash();
    await turn();
    await this.open();
  }

  /** Forgets what ends with the process. */
  forgetProcess(): void {
    this.#inflight = [];
    this.isDamaged = false;
    this.holders.clear();
    this.onLost();
  }

  /** Ends the last process. */
  async close(): Promise<void> {
    this.endFaults();
    await this.wait(this.db.close());
    for (let turns = 0; turns < 10; turns++) await turn();
    SimMemory.takeBack();
  }

  async settle(): Promise<void> {
    for (const each of this.#inflight.splice(0)) await this.wait(each);
  }

  /** Whether the engine refuses all writes because the disk has failed. */
  get refuses(): boolean {
    return this.db.figures().logFailed;
  }

  isShortOfMemory(error: unknown): boolean {
    return this.isShort && (error as { code?: unknown }).code === 'overloaded';
  }

  /**
   * Throws the error unless the disk or the memory explains it. If writes are refused from now on,
   * only a restart shows what was written.
   */
  excuse(error: unknown): void {
    if (error instanceof SimStopped) throw error;
    if (this.refuses) {
      this.isDamaged = true;
      this.saw('refusal');
    } else if (isOfDisk(error)) this.saw('a write that the disk refused');
    else if (this.isShortOfMemory(error)) this.saw('a write without memory');
    else throw error;
  }

  // Commits

  /** Makes a commit and compares its outcome with the plan. Returns the answer if it succeeded. */
  async commit<T>(what: string, start: () => Promise<T>, plan: CommitPlan): Promise<T | undefined> {
    const before = this.db.headLsn;
    if (before !== this.headLsn && !this.refuses) throw new Error(`the head is ${before}, not ${this.headLsn}`);
    this.#doubt = plan;
    const settled = settledOf(start());
    if (this.db.headLsn === before) await this.#waitReading(settled);
    const isApplied = this.db.headLsn > before;
    this.note(`${what}${isApplied ? ` lsn ${before + 1}..${this.db.headLsn}` : ' not applied'}`);
    if (!isApplied) {
      this.#notApplied(what, await settled, plan);
      return undefined;
    }
    if (plan.codes.length > 0 && plan.isEither !== true)
      throw new Error(`${what} should meet ${plan.codes}, but was applied`);
    const operations = this.db.headLsn - before;
    if (!this.#isOf(plan, operations)) throw new Error(`${what} has ${operations} operations, not ${plan.operations}`);
    this.#advance(plan);
    return this.#acknowledged(settled);
  }

  /** Waits for the answer of a commit that is applied, or goes on without it. */
  async #acknowledged<T>(settled: Promise<Outcome<T>>): Promise<T | undefined> {
    const lsn = this.headLsn;
    const followed = settled.then((outcome) => {
      if ('error' in outcome) this.excuse(outcome.error);
      else if (this.options.durability === 'fsync') this.#acked = Math.max(this.#acked, lsn);
    });
    followed.catch(() => undefined);
    this.#inflight.push(followed);
    if (this.random.chance(0.35)) return undefined;
    await this.settle();
    const outcome = await this.wait(settled);
    return 'error' in outcome ? undefined : outcome.value;
  }

  #notApplied<T>(what: string, outcome: Outcome<T>, plan: CommitPlan): void {
    if ('value' in outcome) {
      if (plan.operations > 0 && plan.codes.length === 0) throw new Error(`${what} was answered but not applied`);
    } else {
      const { code } = outcome.error as { code?: string };
      if (plan.codes.includes(code ?? '')) this.saw(`refused: ${code}`);
      else this.excuse(outcome.error);
    }
    if (!this.isDamaged) this.#doubt = undefined;
  }

  /** Makes the state after a commit the newest one. */
  #advance({ born, died = [], next }: Pick<CommitPlan, 'born' | 'died' | 'next'>, lsn = this.db.headLsn): void {
    this.#doubt = undefined;
    this.state = next(this.state);
    this.headLsn = lsn;
    this.states.set(lsn, this.state);
    this.deaths.add(died, lsn);
    for (const node of born) {
      this.#born.set(node, lsn);
      this.#pending.get(node.kind)?.delete(node.key);
    }
    if (lsn === this.db.headLsn) this.learnAll();
  }

  /**
   * Starts several commits at once, which must succeed one after another, on a disk without faults.
   * Their answers have the LSNs of the last operation of each.
   */
  async volley(commits: readonly { start: () => Promise<{ lsn: number }>; planOf: () => CommitPlan }[]): Promise<void> {
    await this.settle();
    const { schedule } = this.fs;
    this.fs.schedule = () => undefined;
    const outcomes = commits.map(({ start }) => settledOf(start()));
    for (const [place, settled] of outcomes.entries()) {
      const outcome = await this.wait(settled);
      if ('error' in outcome) {
        this.excuse(outcome.error);
        continue;
      }
      const plan = commits[place]!.planOf();
      const { lsn } = outcome.value;
      if (lsn !== this.headLsn + plan.operations)
        throw new Error(`a commit of ${plan.operations} operations goes from LSN ${this.headLsn} to ${lsn}`);
      this.#advance(plan, lsn);
      if (this.options.durability === 'fsync') this.#acked = lsn;
    }
    this.note(`volley up to lsn ${this.headLsn}`);
    this.fs.schedule = schedule;
    this.saw('volley');
  }

  /** Makes one change of the catalog. Returns false if it was not made, or if that is not known. */
  async define(
    what: string,
    change: () => Promise<unknown>,
    next: CommitPlan['next'],
    codes: readonly string[] = [],
  ): Promise<boolean> {
    await this.settle();
    if (this.isDamaged) return false;
    const before = this.headLsn;
    const plan = { codes, operations: 1, born: [], next };
    this.#doubt = plan;
    const outcome = await this.wait(settledOf(change()));
    this.note(`${what}${'error' in outcome ? ' not applied' : ''}`);
    if ('error' in outcome) {
      this.#notApplied(what, outcome, plan);
      if (!this.isDamaged && this.db.headLsn !== before) throw new Error(`${what} was refused, but logged`);
      return false;
    }
    if (codes.length > 0) throw new Error(`${what} should meet ${codes}`);
    if (this.db.headLsn !== before + 1) throw new Error(`${what} went from ${before} to ${this.db.headLsn}`);
    for (const { kind, name } of next(this.state).kinds) kind.name = name;
    this.#advance(plan);
    if (this.options.durability === 'fsync') this.#acked = this.headLsn;
    this.saw(what.split(' ')[0]!);
    return true;
  }

  async #waitReading(settled: Promise<unknown>): Promise<void> {
    let isSettled = false;
    void settled.then(() => {
      isSettled = true;
    });
    while (!isSettled && !this.fs.stopped) {
      await turn();
      if (!isSettled && this.random.chance(0.1)) this.readMeanwhile();
    }
    if (this.fs.stopped) throw new SimStopped('the machine stopped');
  }

  /** Returns the state that readers see. */
  visible(): NamedState {
    return this.stateAt(this.db.lastLsn);
  }

  stateAt(lsn: number): NamedState {
    const state = this.states.get(lsn);
    if (state === undefined) throw new Error(`LSN ${lsn} is visible, which is inside of a commit`);
    return state;
  }

  // Nodes

  /** Returns the node with a key, or the one that a writer who takes the key now would create. */
  resolve({ kind, key }: Ref, holder: Holder): NaiveNode {
    const live = this.state.find(kind, key);
    if (live !== undefined) return live;
    let nodes = this.#pending.get(kind);
    if (nodes === undefined) {
      nodes = new Map();
      this.#pending.set(kind, nodes);
    }
    let node = nodes.get(key);
    if (node === undefined) {
      node = { kind, key, number: 0 };
      nodes.set(key, node);
    }
    holder.held.add(node);
    return node;
  }

  /** Ends a writer. Its nodes that nobody created and nobody else holds are forgotten. */
  release(holder: Holder): void {
    this.holders.delete(holder);
    for (const node of holder.held) {
      const isHeld = [...this.holders].some(({ held }) => held.has(node));
      if (this.#born.has(node) || isHeld) continue;
      this.#pending.get(node.kind)?.delete(node.key);
      this.#forget(node);
    }
  }

  isBorn(node: NaiveNode): boolean {
    return this.#born.has(node);
  }

  #forget(node: NaiveNode): void {
    if (this.#numbers.get(node.number) === node) this.#numbers.delete(node.number);
    this.#born.delete(node);
  }

  /** Notes the number of a node, which no other node has and which never changes. */
  learn(node: NaiveNode, number: number): void {
    const other = this.#numbers.get(number);
    const name = `${node.kind.name} ${JSON.stringify(node.key)}`;
    if (number === 0) throw new Error(`${name} has no number`);
    if (node.number !== 0 && node.number !== number)
      throw new Error(`${name} has the number ${node.number} and now ${number}`);
    if (other !== undefined && other !== node)
      throw new Error(`number ${number} of ${name} is that of ${other.kind.name} ${JSON.stringify(other.key)}`);
    node.number = number;
    this.#numbers.set(number, node);
  }

  /** Returns the node with a number. */
  nodeOf(number: number): NaiveNode {
    const node = this.#numbers.get(number);
    if (node === undefined) throw new Error(`no node has the number ${number}`);
    return node;
  }

  /** Whether a node has or had the number. */
  hasHad(number: number): boolean {
    return this.#numbers.has(number);
  }

  /** Learns the numbers of all nodes of the newest state. */
  learnAll(): void {
    for (const { name, nodes } of this.state.kinds) {
      const table = this.db.nodes.table(name);
      for (const { node } of nodes) this.learn(node, nodeNumber(table, node.key, Infinity));
    }
  }

  /** Learns the numbers of the members of an edge that a writer has staged. */
  learnMembers(row: EdgeRow, nodes: Iterable<NaiveNode>): void {
    const left = new Set(nodes);
    for (const number of row.members) {
      const shown = this.db.nodes.shown(number, true) as KindAndKey | null;
      const node = [...left].find(({ kind, key }) => kind.name === shown?.kind && key === shown.key);
      if (node === undefined) throw new Error(`an edge has the member ${number} ${JSON.stringify(shown)}`);
      left.delete(node);
      this.learn(node, number);
    }
    if (left.size > 0) throw new Error(`an edge lacks ${[...left].map(({ key }) => key)}`);
  }

  tableOf({ name }: Pick<EdgeTable, 'name'>): Table {
    return this.db.table(name);
  }

  /** Returns a random named table of the newest state; undefined if there is none. */
  anyTable(): EdgeTable | undefined {
    return this.state.tables.length === 0 ? undefined : this.source.pick(this.state.tables);
  }
}
