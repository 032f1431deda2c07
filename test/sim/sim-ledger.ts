// The judge's ledger. It records which operation has which LSN, what readers saw at which LSN, and,
// after a restart, which of the operations in doubt have happened.
//
// Operations are applied to the model in LSN order, and the LSNs must be contiguous. What was read
// at an LSN is compared as soon as the model reaches that LSN. After a restart, the operations
// without an answer are placed into the gaps between the known LSNs in every way that fits. One of
// these placements must yield exactly the contents of the database. For example, the model is at
// LSN 1, the operation at LSN 4 was acknowledged, the log ends at 4, and operations a (2 LSNs) and
// b (1 LSN) have no answer. Only a fits into LSNs 2 and 3, so b did not happen.

import { type SimAnswer, SimModel, Violation } from './sim-model.ts';

/**
 * Returns the id of the row with the given token (its unique weight), if the database has that row.
 */
export type IdOf = (token: number) => number | undefined;

export interface SimOp {
  readonly what: string;
  /**
   * Number of LSNs in the operation's frame; 0 if the operation is not logged (a compaction with a
   * TTL).
   */
  operations: number;
  readonly answer?: SimAnswer | undefined;
  state: 'open' | 'acked' | 'refused' | 'doubt';
  /**
   * Newest LSN that readers had seen when the operation began. The operation's own LSNs are higher.
   */
  afterLsn?: number;
  /** Names of the tables that the operation touches. */
  readonly tables: ReadonlySet<string>;
  /** Applies the operation. Throws a Violation if the engine's answer differs from the model's. */
  apply(model: SimModel, firstLsn: number, idOf: IdOf): void;
}

export interface Observation {
  readonly what: string;
  readonly lsn: number;
  readonly found: string;
  readonly rule: string;
  expect(model: SimModel): string;
}

/** What a restarted database reports. */
export interface Recovered {
  readonly lsn: number;
  /**
   * Returns whether an answer is kept, or undefined if it may have been evicted for its size, so
   * that its absence proves nothing.
   */
  hasAnswer(id: string): boolean | undefined;
  readonly idOf: IdOf;
  /** Compares everything; throws a Violation. */
  judge(model: SimModel): void;
}

interface Placed {
  op: SimOp;
  firstLsn: number;
}

const MOST_CANDIDATES = 300;
const NO_IDS: IdOf = () => undefined;

export class SimLedger {
  model = new SimModel();
  /**
   * Operations without an answer, or with an answer from which it is not clear whether they
   * happened.
   */
  readonly unsettled = new Set<SimOp>();
  /** Newest LSN that was acknowledged or that a reader saw. */
  promisedLsn = 0;
  #applied: Placed[] = [];
  readonly #acked = new Map<number, SimOp>();
  /** The operation that was acknowledged without its LSN. */
  #unplaced: SimOp | undefined;
  #observations: Observation[] = [];
  #captures: { lsn: number; take: (model: SimModel) => void }[] = [];

  begin(op: SimOp, visibleLsn: number): void {
    op.afterLsn = visibleLsn;
    this.unsettled.add(op);
  }

  acked(op: SimOp, firstLsn: number): void {
    op.state = 'acked';
    this.unsettled.delete(op);
    if (firstLsn <= (op.afterLsn ?? 0) || firstLsn <= this.model.lsn || this.#acked.has(firstLsn))
      throw new Violation(
        'wrong-lsn',
        `${op.what} answered LSN ${firstLsn}, which another operation has or which was there before`,
      );
    this.promisedLsn = Math.max(this.promisedLsn, firstLsn + op.operations - 1);
    this.#acked.set(firstLsn, op);
    this.#advance();
  }

  /**
   * Records that the operation happened, at an LSN that the engine does not tell. There is one such
   * operation at a time. It stays unsettled until `place` finds its LSN.
   */
  ackedSomewhere(op: SimOp): void {
    op.state = 'acked';
    this.#unplaced = op;
  }

  /** Whether an operation happened at an LSN that is not known yet. */
  get unplaced(): boolean {
    return this.#unplaced !== undefined;
  }

  /**
   * Gives the operation without an LSN the only one that is left, if nothing is in flight or in
   * doubt.
   */
  place(): void {
    const op = this.#unplaced;
    if (op === undefined || [...this.unsettled].some((other) => other !== op && other.operations > 0)) return;
    this.#unplaced = undefined;
    this.acked(op, this.model.lsn + 1);
  }

  /** Records that the operation certainly did not happen. */
  refused(op: SimOp): void {
    op.state = 'refused';
    this.unsettled.delete(op);
  }

  doubt(op: SimOp): void {
    op.state = 'doubt';
  }

  /** Records that an unlogged operation happened now, while nothing was in flight. */
  now(op: SimOp): void {
    this.unsettled.delete(op);
    op.state = 'acked';
    op.apply(this.model, this.model.lsn, NO_IDS);
    this.#applied.push({ op, firstLsn: this.model.lsn });
  }

  observe(observation: Observation): void {
    this.promisedLsn = Math.max(this.promisedLsn, observation.lsn);
    this.#observations.push(observation);
    this.#look(this.model);
  }

  /** Calls `take` when the model reaches `lsn`. */
  capture(lsn: number, take: (model: SimModel) => void): void {
    this.#captures.push({ lsn, take });
    this.#look(this.model);
  }

  #advance(): void {
    for (;;) {
      const op = this.#acked.get(this.model.lsn + 1);
      if (op === undefined) return;
      this.#acked.delete(this.model.lsn + 1);
      this.#apply({ op, firstLsn: this.model.lsn + 1 }, NO_IDS);
    }
  }

  #apply(placed: Placed, idOf: IdOf): void {
    const { op, firstLsn } = placed;
    op.apply(this.model, firstLsn, idOf);
    if (op.answer !== undefined) {
      this.model.answers.delete(op.answer.id);
      this.model.answers.set(op.answer.id, op.answer);
    }
    this.#applied.push(placed);
    this.model.lsn += op.operations;
    this.#look(this.model);
  }

  #look(model: SimModel): void {
    const due = this.#observations.filter(({ lsn }) => lsn <= model.lsn);
    this.#observations = this.#observations.filter(({ lsn }) => lsn > model.lsn);
    for (const { lsn, what, found, rule, expect } of due) {
      if (lsn < model.lsn) throw new Violation('half-commit', `${what} was read at LSN ${lsn}, inside an operation`);
      const wanted = expect(model);
      if (found !== wanted) throw new Violation(rule, `${what} at LSN ${lsn}:\n${difference(found, wanted)}`);
    }
    const taken = this.#captures.filter(({ lsn }) => lsn <= model.lsn);
    this.#captures = this.#captures.filter(({ lsn }) => lsn > model.lsn);
    for (const { take } of taken) take(model);
  }

  /**
   * Checks, while nothing is in flight, that every assigned LSN belongs to an operation that was
   * acknowledged.
   */
  assertWhole(visibleLsn: number): void {
    if (this.model.lsn === visibleLsn) return;
    throw new Violation(
      'unexplained-lsn',
      `the database is at LSN ${visibleLsn}, but the operations that were answered as done end at ${this.model.lsn}`,
    );
  }

  /** Records that the process has ended and that another one has recovered. */
  settle(recovered: Recovered): void {
    const { lsn } = recovered;
    const open = [...this.unsettled];
    if (lsn < this.promisedLsn)
      throw new Violation('lost', `LSN ${this.promisedLsn} was acknowledged or read, the log ends at ${lsn}`);
    const candidates: Placed[][] = [];
    this.#place(this.model.lsn + 1, open, [], recovered, candidates);
    if (candidates.length === 0)
      throw new Violation(
        'unexplained-lsn',
        `recovered up to ${lsn}, known up to ${this.model.lsn}, in doubt: ${open.map(({ what, operations }) => `${what} (${operations})`).join('; ') || 'nothing'}`,
      );
    this.#choose(candidates, recovered);
    this.unsettled.clear();
    this.#unplaced = undefined;
    this.#acked.clear();
    this.#observations = [];
    this.#captures = [];
    this.promisedLsn = lsn;
  }

  /** Collects all ways to explain the LSNs from `next` on. */
  #place(next: number, open: readonly SimOp[], path: Placed[], recovered: Recovered, found: Placed[][]): void {
    if (found.length >= MOST_CANDIDATES) return;
    if (next > recovered.lsn) {
      if (next > recovered.lsn + 1) return;
      const rest = open.filter(({ operations }) => operations > 0);
      if (rest.some(({ state }) => state === 'acked')) return;
      if (rest.some(({ answer }) => answer !== undefined && recovered.hasAnswer(answer.id) === true)) return;
      found.push(path);
      const unlogged = open.filter(({ operations }) => operations === 0);
      if (unlogged.length > 0) found.push([...path, ...unlogged.map((op) => ({ op, firstLsn: next - 1 }))]);
      return;
    }
    const known = this.#acked.get(next);
    if (known !== undefined) {
      this.#place(next + known.operations, open, [...path, { op: known, firstLsn: next }], recovered, found);
      return;
    }
    for (const op of open) {
      if (op.operations === 0 || next + op.operations - 1 > recovered.lsn || next <= op.afterLsn!) continue;
      if (op.answer !== undefined && recovered.hasAnswer(op.answer.id) === false) continue;
      const others = open.filter((other) => other !== op);
      this.#place(next + op.operations, others, [...path, { op, firstLsn: next }], recovered, found);
    }
  }

  #choose(candidates: readonly Placed[][], recovered: Recovered): void {
    const { model, ...kept } = { model: this.model, applied: this.#applied, observations: this.#observations };
    let first: unknown;
    for (const [index, candidate] of candidates.entries()) {
      try {
        if (index > 0) this.#rebuild(kept.applied);
        this.#applied = [...kept.applied];
        this.#observations = kept.observations;
        for (const placed of candidate) {
          if (placed.op.operations > 0) this.#apply(placed, recovered.idOf);
          else this.now(placed.op);
        }
        recovered.judge(this.model);
        return;
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        first ??= error;
      }
    }
    this.model = model;
    throw first;
  }

  #rebuild(applied: readonly Placed[]): void {
    this.model = new SimModel();
    this.#observations = [];
    this.#captures = [];
    this.#applied = [];
    for (const { op, firstLsn } of applied) {
      if (op.operations > 0) this.#apply({ op, firstLsn }, NO_IDS);
      else this.now(op);
    }
  }
}

export function difference(found: string, wanted: string): string {
  let at = 0;
  while (at < found.length && found[at] === wanted[at]) at++;
  const from = Math.max(0, at - 80);
  return `  at character ${at} of ${found.length} and ${wanted.length}\n  found ${found.slice(from, at + 120)}\n  wanted ${wanted.slice(from, at + 120)}`;
}
