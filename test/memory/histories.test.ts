// Random histories of memories against a naive model: they are stored, replaced, deleted and
// compacted, and the database is closed or killed and opened again. After each step, what holds at
// some time, and the versions of some memories, must be those of the model. In particular, a recall
// for now has no memory that was superseded, and one for its time has it.
// HEDGEROW_MEMORIES=1000 runs more histories.

import { expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { type History, Memory } from '../../src/memory/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { Random } from '../support/random.ts';
import { openSim } from '../support/sim-engine.ts';
import { SimFs } from '../support/sim-fs.ts';
import { NaiveMemories, type NaiveMemory } from './naive-memories.ts';

const HISTORIES = Number(process.env.HEDGEROW_MEMORIES ?? 100);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const STEPS = 24;
const NAMES = ['Ada', 'Grace', 'Linus', 'Orion', 'budget', 'travel costs'];
const WORDS = ['budget', 'travel', 'meeting', 'moved', 'office', 'Orion', 'prefers', 'tea'];
/** Times lie between these. The clock of the memory shows the last. */
const [FIRST_TIME, NOW] = [0, 60];
/** Successors may be planned up to this time. */
const LAST_PLAN = 90;
const EVERYTHING = 1000;

class MemoryHistory {
  readonly #random: Random;
  readonly #model = new NaiveMemories();
  #fs: SimFs;
  #database!: Database;
  #greatestId = 0;
  /** How often each kind of event happened. */
  readonly seen = new Map<string, number>();

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#fs = new SimFs(seed);
  }

  async run(): Promise<void> {
    this.#database = await this.#open();
    await this.#remember();
    for (let step = 0; step < STEPS; step++) {
      const dice = this.#random.below(100);
      if (dice < 30) await this.#remember();
      else if (dice < 65) await this.#supersede();
      else if (dice < 75) await this.#forget();
      else if (dice < 85) await this.#compact();
      else if (dice < 92) await this.#again('reopened');
      else await this.#again('killed');
      this.#check();
    }
    this.#checkEveryTime();
    await this.#database.close();
  }

  #open(): Promise<Database> {
    // Text blocks are built by compactions; half of the rows are searched in memtables.
    return openSim(this.#fs, { core: 'release', segmentRows: 8 });
  }

  get #memory(): Memory {
    return new Memory({ database: this.#database, now: () => NOW * 1000 + 999 });
  }

  #count(event: string): void {
    this.seen.set(event, (this.seen.get(event) ?? 0) + 1);
  }

  #time(): number {
    return FIRST_TIME + this.#random.below(NOW - FIRST_TIME + 1);
  }

  #some<T>(all: readonly T[], most: number): T[] {
    return Array.from({ length: this.#random.below(most + 1) }, () => all[this.#random.below(all.length)]!);
  }

  #sentence(): string {
    return `${this.#some(WORDS, 5).join(' ')} fact ${this.#random.below(1000)}`;
  }

  #things(): { who: string[]; about: string[] } {
    const who = this.#some(NAMES, 2);
    const about = this.#some(NAMES, 2);
    return who.length + about.length > 0 ? { who, about } : { who, about: ['Orion'] };
  }

  async #remember(): Promise<void> {
    const when = this.#random.chance(0.8) ? this.#time() : undefined;
    const until = this.#random.chance(0.2) ? (when ?? NOW) + this.#random.below(20) : undefined;
    const source = this.#random.chance(0.3) ? 'diary' : undefined;
    const given = { what: this.#sentence(), ...this.#things(), when, until, source };
    const { row } = await this.#memory.remember(given);
    expect(row.id).toBeGreaterThan(this.#greatestId);
    this.#greatestId = row.id;
    const { what, who, about } = given;
    const times = { event_ts: when ?? NOW, end_ts: until ?? null };
    this.#model.add({ id: row.id, what, who, about, ...times, source: source ?? null, supersedes: null });
    this.#count('remembered');
  }

  async #supersede(): Promise<void> {
    const id = this.#random.chance(0.9) ? this.#anyId() : this.#greatestId + 7;
    const dice = this.#random.below(10);
    const planned = dice < 3 ? NOW + 1 + this.#random.below(LAST_PLAN - NOW) : undefined;
    const at = planned ?? (dice < 7 ? this.#time() : undefined);
    const until = this.#random.chance(0.2) ? (at ?? NOW) + this.#random.below(20) : undefined;
    const things: { who?: string[]; about?: string[] } = this.#random.chance(0.3) ? this.#things() : {};
    const what = this.#sentence();
    const refusal = this.#model.refusalOf(id, [at ?? NOW, until], NOW);
    const done = this.#memory.supersede({ id, what, at, until, ...things }, async (steps) => finish(steps));
    if (refusal !== undefined) {
      await expect(done, `${id} at ${at}`).rejects.toMatchObject({ code: refusal });
      this.#count(refusal);
      return;
    }
    const made = await done;
    expect(made.ended).toBe(id);
    const { who, about } = { ...this.#model.find(id)!, ...things };
    this.#greatestId = Math.max(this.#greatestId, made.id);
    const event_ts = at ?? NOW;
    const times = { event_ts, end_ts: until ?? null };
    const isBetween = this.#model.supersede({ id: made.id, what, who, about, ...times, source: null, supersedes: id });
    this.#count(isBetween ? 'superseded before a planned successor' : 'superseded');
  }

  #anyId(): number {
    const { all } = this.#model;
    return all.length === 0 ? 1 : all[this.#random.below(all.length)]!.id;
  }

  async #forget(): Promise<void> {
    const memory = this.#model.find(this.#anyId());
    if (memory === undefined) return;
    const transaction = this.#database.begin();
    transaction.deleteRow(this.#database.table('memories'), { eventTs: memory.event_ts, id: memory.id });
    await transaction.commit();
    this.#model.forget(memory.id);
    this.#count('forgotten');
  }

  async #compact(): Promise<void> {
    await this.#database.compact({});
    this.#count('compacted');
  }

  async #again(how: 'reopened' | 'killed'): Promise<void> {
    if (how === 'reopened') await this.#database.close();
    else this.#fs = this.#fs.kill();
    this.#database = await this.#open();
    this.#count(how);
  }

  #recall(request: Partial<Parameters<Memory['recall']>[0]>) {
    return finish(this.#memory.recall({ question: '', topK: EVERYTHING, ...request })).memories;
  }

  /** Compares what holds at a time, now among others, and some histories. */
  #check(): void {
    const asked = this.#random.chance(0.5) ? {} : { who: this.#some(NAMES, 2), about: this.#some(NAMES, 2) };
    const at = this.#random.chance(0.4) ? undefined : this.#time();
    const recalled = this.#recall({ ...asked, at });
    expect(idsOf(recalled)).toEqual(this.#model.holding(at ?? NOW, asked));
    for (const { score: _, why, ...memory } of recalled) {
      const { supersedes: __, ...known } = this.#model.find(memory.id)!;
      expect(sorted(memory)).toEqual(known);
      expect(why.length).toBeGreaterThan(0);
    }
    this.#checkWords(at ?? NOW);
    this.#checkHistories();
  }

  /** A question with the words of a memory finds it if it holds, and nothing that does not hold. */
  #checkWords(at: number): void {
    const memory = this.#model.find(this.#anyId());
    if (memory === undefined) return;
    const found = idsOf(this.#recall({ question: memory.what, at }));
    const holding = this.#model.holding(at, {});
    expect(holding).toEqual(expect.arrayContaining(found));
    expect(found.includes(memory.id)).toBe(holding.includes(memory.id));
    if (found.length > 0) this.#count('found by words');
    if (!holding.includes(memory.id)) this.#count('not found because it does not hold');
  }

  #checkHistories(): void {
    const history = (request: object): History => finish(this.#memory.history({ limit: EVERYTHING, ...request }));
    const id = this.#anyId();
    if (this.#model.find(id) === undefined) expect(() => history({ id })).toThrow(/may have been deleted/);
    else expect(history({ id }).memories.map(sorted)).toEqual(this.#model.versionsOf([id]));
    const who = this.#some(NAMES, 2);
    const about = who.length > 0 ? this.#some(NAMES, 1) : [NAMES[this.#random.below(NAMES.length)]!];
    const named = this.#model.all.filter((one) => hasOne(one.who, who) && hasOne(one.about, about));
    const wanted = this.#model.versionsOf(named.map((one) => one.id));
    expect(history({ who, about }).memories.map(sorted)).toEqual(wanted);
  }

  #checkEveryTime(): void {
    for (let at = FIRST_TIME - 1; at <= LAST_PLAN + 21; at++)
      expect(idsOf(this.#recall({ at }))).toEqual(this.#model.holding(at, {}));
  }
}

function hasOne(keys: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length === 0 || wanted.some((key) => keys.includes(key));
}

function idsOf(memories: readonly { readonly id: number }[]): number[] {
  return memories.map(({ id }) => id).sort((a, b) => a - b);
}

/** Members come in the order of the numbers of their nodes. */
function sorted<M extends Pick<NaiveMemory, 'who' | 'about'>>(memory: M): M {
  return { ...memory, who: [...memory.who].sort(), about: [...memory.about].sort() };
}

test(`${HISTORIES} random histories agree with a naive model`, async () => {
  const seen = new Map<string, number>();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
    const history = new MemoryHistory(seed);
    try {
      await history.run();
    } catch (error) {
      throw new Error(`HEDGEROW_SEED=${seed} HEDGEROW_MEMORIES=1: ${(error as Error).message}`, { cause: error });
    }
    for (const [event, count] of history.seen) seen.set(event, (seen.get(event) ?? 0) + count);
  }
  const events = ['remembered', 'superseded', 'forgotten', 'compacted', 'reopened', 'killed'];
  events.push('edge_not_found', 'memory_ended', 'invalid_input', 'found by words');
  events.push('not found because it does not hold');
  expect(seen.get('superseded before a planned successor') ?? 0).toBeGreaterThanOrEqual(HISTORIES / 10);
  for (const event of events) expect(seen.get(event) ?? 0, event).toBeGreaterThanOrEqual(HISTORIES / 2);
}, 1_800_000);
