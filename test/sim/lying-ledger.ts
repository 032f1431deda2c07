// What the clients of a lying log know: which writes they sent, and how each was answered. After a
// restart, it judges what the database holds.

import type { Database } from '../../src/engine/index.ts';
import { rowsOf } from '../support/sim-engine.ts';
import { Violation } from './sim-model.ts';

/**
 * `open`: no answer yet, or an error that leaves the outcome open. `done` and `undone`: known, by
 * an answer or by what a restart found.
 */
export type Fate = 'open' | 'done' | 'undone';

export interface LedgerWrite {
  what: string;
  fate: Fate;
  /** Whether the client was told that it is done. */
  answered: boolean;
  /** Times of the inserted edges. Each is used once. */
  inserts: readonly number[];
  /** Time of an edge to delete. */
  deletes?: number;
  document?: string;
  /** Idempotency-Key. */
  key?: string | undefined;
}

export class LyingLedger {
  readonly writes: LedgerWrite[] = [];
  /** Deletes by the time of their edge. */
  readonly #deletes = new Map<number, LedgerWrite>();
  /** Times of edges that a reader has seen. */
  readonly #shown = new Set<number>();

  add(write: LedgerWrite): LedgerWrite {
    this.writes.push(write);
    if (write.deletes !== undefined) this.#deletes.set(write.deletes, write);
    return write;
  }

  /** Returns the times of single edges that are known to be there and that nobody deletes. */
  deletable(): number[] {
    return this.writes
      .filter(({ fate, inserts }) => fate === 'done' && inserts.length === 1 && !this.#deletes.has(inserts[0]!))
      .map(({ inserts }) => inserts[0]!);
  }

  /** Checks a read while writes are running. */
  read(database: Database): void {
    const found = timesIn(database);
    for (const write of this.writes)
      if (write.inserts.length > 1) wholeOrNot(write, write.inserts.filter((time) => found.has(time)).length);
    for (const time of found) this.#shown.add(time);
    for (const { what, answered, fate, inserts } of this.writes)
      for (const time of inserts)
        if (answered && fate === 'done' && !this.#deletes.has(time) && !found.has(time))
          throw new Violation('lost', `a read does not see the acknowledged ${what}`);
  }

  /** Compares everything after a restart, and settles what was open. */
  judge(database: Database): void {
    const found = timesIn(database);
    const shown = new Set([...this.#shown].filter((time) => !found.has(time)));
    for (const write of this.writes) {
      if (write.inserts.length > 0) this.#judgeInsert(write, found);
      else if (write.document !== undefined)
        settle(write, database.documents.get('specs', write.document) !== undefined);
      for (const time of write.inserts) found.delete(time);
    }
    if (found.size > 0) throw new Violation('unknown-row', `edges that nobody wrote: ${[...found]}`);
    for (const time of shown)
      if (this.#deletes.get(time)?.fate !== 'done')
        throw new Violation('lost', `the edge of ${time}, which a reader has seen`);
    for (const write of this.writes) judgeAnswer(database, write);
  }

  #judgeInsert(write: LedgerWrite, found: ReadonlySet<number>): void {
    const { inserts } = write;
    const there = inserts.filter((time) => found.has(time)).length;
    wholeOrNot(write, there);
    const deletion = this.#deletes.get(inserts[0]!);
    // Only edges that were known to be there are deleted.
    if (deletion === undefined) settle(write, there > 0);
    else settle(deletion, there === 0);
  }
}

function timesIn(database: Database): Set<number> {
  const times = rowsOf(database.table()).map((row) => row.event_ts as number);
  const found = new Set(times);
  if (found.size !== times.length) throw new Violation('doubled', `edges are there twice: ${times}`);
  return found;
}

function wholeOrNot({ what, inserts }: LedgerWrite, there: number): void {
  if (there !== 0 && there !== inserts.length)
    throw new Violation('half-commit', `${there} of ${inserts.length} edges of ${what}`);
}

/** Compares the fate of a write with what was found; an open write gets its fate. */
function settle(write: LedgerWrite, isDone: boolean): void {
  if (write.fate === 'done' && !isDone)
    throw new Violation('lost', `${write.answered ? 'the acknowledged ' : ''}${write.what}`);
  if (write.fate === 'undone' && isDone) throw new Violation('unexplained', `${write.what} was not there before`);
  write.fate = isDone ? 'done' : 'undone';
}

function judgeAnswer(database: Database, { what, key, fate }: LedgerWrite): void {
  if (key === undefined) return;
  const kept = database.replays.find(key);
  if (fate === 'done' && kept?.body !== key) throw new Violation('answer-lost', `no answer is kept for ${what}`);
  if (fate === 'undone' && kept !== undefined) throw new Violation('answer-without-write', what);
}
