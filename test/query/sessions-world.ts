// Runs many sessions on one database. A seed determines how their statements interleave. Every
// answer is compared with the naive model.

import { Random } from '../support/random.ts';
import { pick } from './sessions-conditions.ts';
import { insertEdge, somethingHappens } from './sessions-happenings.ts';
import { answerOf, IDLE_SECONDS, type Outcome, SessionsPlace, sameLsn, sameRows } from './sessions-place.ts';
import type { ModelTransaction } from './sessions-rows.ts';
import { aloneWrite, anyRead, newPair, newScript, PAIRS, type Script, type Step } from './sessions-scripts.ts';
import { readAll, type Sender, type SessionStatement } from './sessions-statements.ts';

interface OpenTransaction {
  readonly id: string;
  readonly view: ModelTransaction;
  readonly script: Script;
  halfway: boolean;
}

interface Session {
  readonly name: string;
  readonly home: number;
  open: OpenTransaction | undefined;
  /**
   * The transaction that the idle timeout rolled back, until the session sends BEGIN or ROLLBACK.
   */
  expired: string | undefined;
  /** Whether the COMMIT of this session is in flight. */
  busy: boolean;
  lastUsed: number;
  /** Number of transactions that have ended. */
  done: number;
}

export interface SessionsOptions {
  readonly seed: number;
  readonly sessions: number;
  /** Number of transactions per session. */
  readonly transactions: number;
  /** Whether commits are applied in slices. */
  readonly sliced: boolean;
}

export class SessionsWorld {
  readonly #options: SessionsOptions;
  readonly #place: SessionsPlace;
  readonly #random: Random;
  readonly #sessions: readonly Session[];
  readonly #homes: readonly number[];
  /** Index, among the sessions that are free to act, of the first of the few that act now. */
  #lively = 0;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    const { seed, sliced } = options;
    this.#place = new SessionsPlace({
      random: this.#random,
      seed,
      isLong: options.sessions >= 50,
      isSliced: sliced,
    });
    this.#homes = Array.from({ length: options.sessions }, (_, place) => 100 + place);
    this.#sessions = this.#homes.map((home) => ({
      name: `key session-${home}`,
      home,
      open: undefined,
      expired: undefined,
      busy: false,
      lastUsed: 0,
      done: 0,
    }));
  }

  /** Counts of events. */
  get seen(): Readonly<Record<string, number>> {
    return this.#place.seen;
  }

  async run(): Promise<void> {
    try {
      await this.#place.create();
      this.#fill();
      while (this.#sessions.some((session) => this.#isAtWork(session))) await this.#round();
      await this.#reopen();
      await this.#place.close();
    } catch (error) {
      (error as Error).message = `seed ${this.#options.seed}\n${this.#place.trail}\n${(error as Error).message}`;
      throw error;
    }
  }

  #fill(): void {
    const { items, pairs } = this.#place.tables;
    for (let time = 0; time < PAIRS; time++)
      for (const row of newPair(time, this.#random.below(100))) {
        insertEdge(this.#place, pairs, row);
        insertEdge(this.#place, items, { ...row, members: [1, this.#homes[time % this.#homes.length]!] });
      }
  }

  async #reopen(): Promise<void> {
    await this.#place.reopen();
    for (const session of this.#sessions) session.open = session.expired = undefined;
  }

  #isAtWork({ done }: Session): boolean {
    return done < this.#options.transactions;
  }

  /** Lets a few sessions act concurrently, or makes an event happen that affects all sessions. */
  async #round(): Promise<void> {
    const random = this.#random;
    this.#place.assertWell();
    if (this.#place.pending > 12 || random.chance(0.02)) await this.#place.settle();
    if (random.chance(0.0003)) await this.#reopen();
    if (random.chance(0.08)) return somethingHappens(this.#place, this.#homes);
    const free = this.#sessions.filter((session) => !session.busy && this.#isAtWork(session));
    if (free.length === 0) return this.#place.settle();
    // The same few sessions stay active for a while, so that long transactions overlap with short
    // ones.
    if (random.chance(0.1)) this.#lively = random.below(this.#sessions.length);
    const base = Math.min(this.#lively, free.length - 1);
    const lively = free.slice(base, base + 3);
    const count = random.chance(0.5) ? 1 : 1 + random.below(lively.length);
    await Promise.all(lively.slice(0, count).map((session) => this.#turn(session, count > 1)));
    if (count > 1) this.#place.saw('together');
  }

  /**
   * Starts the session's next action. If `together`, other sessions act concurrently, so this
   * session must not send a statement that is its own commit.
   */
  #turn(session: Session, together: boolean): Promise<void> | undefined {
    this.#expire(session);
    const { open } = session;
    if (session.expired !== undefined && this.#random.chance(0.8)) return this.#afterExpiry(session, session.expired);
    if (open === undefined) {
      if (session.expired !== undefined) return this.#begin(session);
      const dice = this.#random.below(10);
      if (dice < 6) return this.#begin(session);
      if (dice < 8 || together) return this.#readAlone(session);
      return this.#writeAlone(session);
    }
    const step = open.script.steps.shift();
    if (step !== undefined) return this.#inside(session, open, step);
    if (open.script.end === 'leave') return undefined;
    return open.script.end === 'ROLLBACK' ? this.#rollback(session, open) : this.#commit(session, open);
  }

  #sender({ home }: Session, view = this.#place.model.begin(this.#place.database.lastLsn)): Sender {
    return { random: this.#random, home, view };
  }

  #expire(session: Session): void {
    if (session.open === undefined || this.#place.clock - session.lastUsed < IDLE_SECONDS) return;
    this.#place.note(`${session.name} has been idle for too long`);
    this.#place.saw('expired');
    session.expired = session.open.id;
    session.open = undefined;
    session.done++;
  }

  #send(session: Session, text: string, parameters: SessionStatement['parameters'] = {}): Promise<Outcome> {
    // A text that does not parse never reaches the session.
    if (!text.includes('RETRUN')) session.lastUsed = this.#place.clock;
    return this.#place.send(session.name, text, parameters);
  }

  async #begin(session: Session): Promise<void> {
    const { model, database, tables, clock } = this.#place;
    const view = model.begin(database.lastLsn);
    if (view.lsn < model.lsn) this.#place.saw('begin while a commit was on its way');
    const { rows } = answerOf(await this.#send(session, 'BEGIN'));
    const id = rows[0].transaction_id as string;
    sameRows(rows, oneRow({ status: 'open', transaction_id: id, expires_at: clock + IDLE_SECONDS }));
    session.expired = undefined;
    session.open = { id, view, script: newScript(this.#random, tables), halfway: false };
    this.#place.saw('begin');
  }

  /**
   * Sends a statement, which must be refused without changes, or a ROLLBACK, which ends the expired
   * state.
   */
  async #afterExpiry(session: Session, id: string): Promise<void> {
    if (this.#random.chance(0.3)) {
      session.expired = undefined;
      const { rows } = answerOf(await this.#send(session, 'ROLLBACK'));
      sameRows(rows, oneRow({ status: 'rolled_back', transaction_id: id, expires_at: null }));
      return;
    }
    const { items } = this.#place.tables;
    const texts = [readAll(items).text, 'COMMIT', `DELETE FROM ${items.name}`];
    const outcome = await this.#send(session, pick(this.#random, texts));
    if (!('refused' in outcome) || outcome.refused !== 'transaction_expired' || outcome.status !== 409)
      throw new Error(`${session.name} went on after its transaction had expired: ${JSON.stringify(outcome)}`);
    this.#place.saw('refused after expiry');
  }

  async #inside(session: Session, open: OpenTransaction, step: Step): Promise<void> {
    const statement = step.make(this.#sender(session, open.view));
    const outcome = await this.#send(session, statement.text, statement.parameters);
    this.#place.compare(statement, open.view, outcome);
    if (!open.halfway && !step.halfway) this.#place.checkPairs(statement, outcome);
    open.halfway = step.halfway;
    if ('answer' in outcome && statement.text.startsWith('MATCH')) sameLsn(outcome.answer.lsn, open.view.lsn);
  }

  async #readAlone(session: Session): Promise<void> {
    const sender = this.#sender(session);
    const statement = anyRead(sender, this.#place.tables);
    const outcome = await this.#send(session, statement.text, statement.parameters);
    this.#place.compare(statement, sender.view, outcome);
    this.#place.checkPairs(statement, outcome);
    sameLsn(answerOf(outcome).lsn, sender.view.lsn);
    this.#place.saw('read alone');
  }

  async #writeAlone(session: Session): Promise<void> {
    await this.#place.settle();
    session.lastUsed = this.#place.clock;
    await this.#place.commitAlone(session.name, aloneWrite(this.#sender(session), this.#place.tables));
    this.#place.saw('write alone');
  }

  /**
   * Sends COMMIT. The position of the commit is determined by the time of the call, and the answer
   * is checked when it arrives.
   */
  async #commit(session: Session, { id, view }: OpenTransaction): Promise<void> {
    const place = this.#place;
    session.open = undefined;
    session.busy = true;
    while (place.mustSettle) await place.settle();
    const lsn = place.model.commit(view);
    const check = async (sent: Promise<Outcome>) => {
      const outcome = await sent;
      session.busy = false;
      session.done++;
      if (lsn === 'conflict') {
        place.saw('conflict');
        if ('refused' in outcome && outcome.refused === 'conflict' && outcome.status === 409) return;
        throw new Error(`the COMMIT of ${session.name} (${id}) was no conflict: ${JSON.stringify(outcome)}`);
      }
      const { rows, lsn: answered } = answerOf(outcome);
      sameRows(rows, oneRow({ status: 'committed', transaction_id: id, expires_at: null }));
      if (view.operations > 0) sameLsn(answered, lsn);
      if (place.database.lastLsn < answered) throw new Error(`LSN ${answered} is answered and not visible`);
      place.saw('commit');
    };
    place.later(check(this.#send(session, 'COMMIT')));
  }

  async #rollback(session: Session, { id }: OpenTransaction): Promise<void> {
    session.open = undefined;
    session.done++;
    const { rows } = answerOf(await this.#send(session, 'ROLLBACK'));
    sameRows(rows, oneRow({ status: 'rolled_back', transaction_id: id, expires_at: null }));
    this.#place.saw('rollback');
  }
}

function oneRow(row: object) {
  return { rows: [row], ordered: true };
}
