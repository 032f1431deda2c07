// Runs one history of the engine over a lying log: random writes by several clients, crashes, and
// after each restart a comparison of everything. The seed decides all of it.

import type { Database } from '../../src/engine/index.ts';
import type { HedgerowError } from '../../src/errors.ts';
import type { AnswerToKeep } from '../../src/model/kept-answer.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk, simScheduler, turn } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { type LedgerWrite, LyingLedger } from './lying-ledger.ts';
import { type Lie, type Manners, RemoteMemory } from './lying-log.ts';
import { Violation } from './sim-model.ts';

const LIVES = 3;
const MOST_WRITES = 24;
/** Commits of at least this many edges are applied in slices, over several turns. */
const SLICED_OPERATIONS = 6;
/** More turns than any write needs. */
const MOST_TURNS = 2000;

export interface LyingOutcome {
  error: string | undefined;
  history: string[];
  /** How often what happened. */
  seen: Map<string, number>;
}

export async function runLyingSeed(seed: number, lie?: Lie): Promise<LyingOutcome> {
  const history = new LyingHistory(seed, lie);
  const loose: unknown[] = [];
  const keep = (error: unknown): void => void loose.push(error);
  process.on('unhandledRejection', keep);
  let error: string | undefined;
  try {
    await history.run();
  } catch (thrown) {
    error = textOf(thrown);
  }
  process.off('unhandledRejection', keep);
  if (loose.length > 0) error ??= `unhandled-rejection: ${textOf(loose[0])}`;
  return { error, history: history.lines, seen: history.seen };
}

class LyingHistory {
  readonly lines: string[] = [];
  readonly seen = new Map<string, number>();
  readonly #random: Random;
  readonly #lie: Lie | undefined;
  readonly #ledger = new LyingLedger();
  #fs: SimFs;
  #memory: RemoteMemory;
  #database!: Database;
  #life = 0;
  #time = 0;
  /** The clock runs fast, so that large commits are applied in several turns. */
  #us = 0;
  #running = 0;

  constructor(seed: number, lie: Lie | undefined) {
    this.#random = new Random(seed);
    this.#lie = lie;
    this.#fs = simDisk(seed);
    this.#memory = this.#remote();
  }

  async run(): Promise<void> {
    while (this.#life < LIVES) {
      this.#life++;
      await this.#open();
      await this.#write();
      await this.#end();
    }
    await this.#open();
  }

  /** The manners of a life: some remotes only are slow, others cut most connections. */
  #remote(): RemoteMemory {
    const random = this.#random;
    const often = () => (random.chance(0.5) ? 0 : random.below(20) / 100);
    const manners: Manners = {
      lateTurns: random.below(6),
      refused: often() / 4,
      cutBefore: often() / 2,
      cutAfter: often(),
      lookupFails: random.chance(0.5) ? 0.5 : 0,
      twice: random.chance(0.5) ? 0.6 : 0,
    };
    return new RemoteMemory(random, manners, (what) => this.#saw(what), this.#lie);
  }

  async #open(): Promise<void> {
    const openLog = this.#memory.openRemote;
    this.#note(`opens with ${this.#memory.frames.length} frames`);
    try {
      this.#database = await openSim(this.#fs, {
        openLog,
        core: 'release',
        slicedOperations: SLICED_OPERATIONS,
        scheduler: simScheduler(),
        nowUs: () => (this.#us += this.#random.below(4000)),
      });
    } catch (error) {
      // Opening may write to the log: the first one makes a table.
      if ((error as HedgerowError).code !== 'log_failed') throw error;
      this.#saw('could not open');
      this.#restart(false);
      return this.#open();
    }
    this.#ledger.judge(this.#database);
  }

  async #write(): Promise<void> {
    const random = this.#random;
    for (let left = random.below(MOST_WRITES); left > 0; left--) {
      this.#act();
      for (let turns = random.chance(0.4) ? random.below(6) : 0; turns > 0; turns--) await turn();
    }
    // Most processes end while writes are running.
    if (random.chance(0.4)) await this.#settle();
  }

  #act(): void {
    const random = this.#random;
    const dice = random.below(100);
    if (dice < 45) this.#insert(1);
    else if (dice < 60) this.#insert(2 + random.below(random.chance(0.2) ? 60 : 2 * SLICED_OPERATIONS));
    else if (dice < 72) this.#delete();
    else if (dice < 80) this.#document();
    else if (dice < 90) this.#repeat();
    else if (dice < 95) this.#ledger.read(this.#database);
    else this.#run('compacts', () => this.#database.compact(), undefined);
  }

  #insert(count: number, given?: string): void {
    const inserts = Array.from({ length: count }, () => ++this.#time);
    const key = given ?? (this.#random.chance(0.5) ? `key-${inserts[0]}` : undefined);
    const write = this.#add({ what: `insert of ${inserts}${key === undefined ? '' : ` under ${key}`}`, inserts, key });
    const attach = key === undefined ? undefined : () => answerFor(key);
    const table = this.#database.table();
    const edges = inserts.map((time) => ({ event_ts: time, members: [1 + (time % 7), 9] }));
    if (count === 1) this.#run(write.what, () => table.insert(edges[0]!, attach), write);
    else {
      const commit = () => {
        const bulk = table.bulk();
        for (const edge of edges) bulk.add(edge);
        return bulk.commit(attach);
      };
      this.#run(write.what, commit, write);
    }
  }

  #delete(): void {
    const times = this.#ledger.deletable();
    if (times.length === 0) return;
    const time = times[this.#random.below(times.length)]!;
    const write = this.#add({ what: `delete of ${time}`, inserts: [], deletes: time });
    this.#run(write.what, () => this.#database.table().delete(time, [1 + (time % 7), 9]), write);
  }

  #document(): void {
    const document = `d${++this.#time}`;
    const write = this.#add({ what: `document ${document}`, inserts: [], document });
    const change = () => this.#database.documents.change([{ store: 'specs', id: document, value: document }]);
    this.#run(write.what, change, write);
  }

  /**
   * Repeats a request whose answer did not arrive. If its answer is kept, that is an
   * acknowledgement; if a restart has shown that it was not carried out, it is carried out now.
   */
  #repeat(): void {
    const waiting = this.#ledger.writes.filter((write) => write.key !== undefined && !write.answered);
    if (waiting.length === 0) return;
    const write = waiting[this.#random.below(waiting.length)]!;
    const key = write.key!;
    const known = this.#database.replays.find(key) !== undefined;
    this.#saw(`repeated while ${write.fate}: ${known ? 'answer kept' : 'no answer'}`);
    this.#note(`repeats ${write.what}: ${known ? 'answer kept' : 'no answer'}`);
    if (known) answered(write);
    else if (write.fate === 'done') throw new Violation('answer-lost', `no answer is kept for ${write.what}`);
    else if (write.fate === 'undone') {
      write.key = undefined;
      this.#insert(write.inserts.length, key);
    }
  }

  #add(write: Omit<LedgerWrite, 'fate' | 'answered'>): LedgerWrite {
    return this.#ledger.add({ ...write, fate: 'open', answered: false });
  }

  /** Starts something, and records its answer unless the process has ended by then. */
  #run(what: string, start: () => Promise<unknown>, write: LedgerWrite | undefined): void {
    const life = this.#life;
    const memory = this.#memory;
    this.#note(what);
    this.#running++;
    const isOver = () => memory.stopped || life !== this.#life;
    start().then(
      () => {
        if (isOver()) return;
        this.#running--;
        this.#saw(write === undefined ? 'compacted' : 'acknowledged');
        this.#note(`acknowledged: ${what}`);
        if (write !== undefined) answered(write);
      },
      (error: HedgerowError) => {
        if (isOver()) return;
        this.#running--;
        this.#saw('failed');
        this.#note(`failed: ${what}: ${error.code} ${error.message}`);
        if (error.code !== 'log_failed') this.#wrong ??= new Violation('wrong-error', `${what}: ${textOf(error)}`);
      },
    );
  }

  #wrong: Violation | undefined;

  async #settle(): Promise<void> {
    for (let turns = 0; this.#running > 0; turns++) {
      if (turns === MOST_TURNS) throw new Violation('hangs', `${this.#running} writes have no answer`);
      await turn();
    }
    this.#ledger.read(this.#database);
    this.#saw('settled');
  }

  /** Ends the process: killed, by a power loss, or after closing. */
  async #end(): Promise<void> {
    if (this.#wrong !== undefined) throw this.#wrong;
    const random = this.#random;
    const closes = this.#running === 0 && random.chance(0.3);
    if (closes) await this.#database.close().catch(() => this.#saw('close failed'));
    this.#note(closes ? 'ends after closing' : 'ends');
    this.#restart(!closes && random.chance(0.3));
  }

  /** Ends the process. `arrives`: a commit that it has sent is made nevertheless. */
  #restart(arrives: boolean): void {
    if (arrives) this.#note('what it has sent arrives');
    const left = this.#memory.end(arrives);
    this.#fs = this.#random.chance(0.5) ? this.#fs.crash() : this.#fs.kill();
    this.#running = 0;
    this.#memory = this.#remote();
    this.#memory.continueWith(left);
  }

  #note(line: string): void {
    this.lines.push(`life ${this.#life}: ${line}`);
  }

  #saw(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}

function answered(write: LedgerWrite): void {
  if (write.fate === 'undone') throw new Violation('unexplained', `${write.what} is acknowledged after all`);
  write.fate = 'done';
  write.answered = true;
}

function answerFor(key: string): AnswerToKeep {
  return { id: key, bodyHash: key, status: 200, contentType: 'application/json', body: key, at: 1_000_000_000_000 };
}

function textOf(thrown: unknown): string {
  if (thrown instanceof Violation) return thrown.message;
  const { name, message, stack } = thrown as Error;
  return `unexpected: ${name}: ${message}\n${stack}`;
}
