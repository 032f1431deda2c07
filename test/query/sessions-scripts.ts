// Makes scripts of what a session does in one transaction: its statements one after the other, and
// how the transaction ends.

import type { Random } from '../support/random.ts';
import { pick } from './sessions-conditions.ts';
import type { ModelTable, ModelTransaction, Row } from './sessions-rows.ts';
import {
  deleteOf,
  deleteStatement,
  explainStatement,
  failingStatement,
  insertOf,
  insertStatement,
  joinStatement,
  readAll,
  readStatement,
  type Sender,
  type SessionStatement,
  updateStatement,
} from './sessions-statements.ts';

/** The sum of `n` over the two rows of a pair, in every snapshot. */
export const PAIR_SUM = 100;
export const PAIRS = 24;

export interface Tables {
  readonly items: ModelTable;
  /** Pairs of rows with the same time; amounts move between the two rows of a pair. */
  readonly pairs: ModelTable;
}

export interface Step {
  readonly make: (sender: Sender) => SessionStatement;
  /**
   * Whether after this step an amount has left one row of a pair and has not yet reached the other.
   */
  readonly halfway: boolean;
}

export interface Script {
  readonly steps: Step[];
  /**
   * With `leave`, the session stops, and the service rolls the transaction back after its idle
   * timeout.
   */
  readonly end: 'COMMIT' | 'ROLLBACK' | 'leave';
}

export function newScript(random: Random, tables: Tables): Script {
  const end = random.chance(0.78) ? 'COMMIT' : random.chance(0.9) ? 'ROLLBACK' : 'leave';
  const steps: Step[] = [];
  const isTransfer = random.chance(0.35);
  for (let count = 1 + random.below(4); count > 0; count--) steps.push(anyStep(random, tables, false));
  if (!isTransfer) return { steps, end };
  const place = random.below(steps.length + 1);
  steps.splice(place, 0, ...(random.chance(0.7) ? transfer(random, tables) : replacement(tables)));
  return { steps, end };
}

/**
 * Returns a step that leaves pairs unchanged, or that changes both rows of a pair in one statement.
 */
function anyStep(random: Random, tables: Tables, halfway: boolean): Step {
  const { items } = tables;
  const dice = random.below(20);
  const make = (sender: Sender): SessionStatement => {
    if (dice < 8) return anyRead(sender, tables);
    if (dice < 12) return insertStatement(sender, items);
    if (dice < 15) return updateStatement(sender, items);
    if (dice < 17) return deleteStatement(sender, items);
    if (dice < 18) return turnRound(sender, tables);
    return failingStatement(random, items, true);
  };
  return { make, halfway };
}

export function anyRead(sender: Sender, tables: Tables): SessionStatement {
  const { random } = sender;
  const dice = random.below(16);
  if (dice < 2) return readAll(tables.pairs);
  if (dice < 3) return readAll(tables.items);
  if (dice < 4) return joinStatement(tables.items, tables.pairs);
  if (dice < 6) return readStatement(sender, tables.pairs);
  if (dice < 7) return explainStatement(deleteStatement(sender, tables.items));
  return readStatement(sender, tables.items);
}

/**
 * Returns a statement for a session without an open transaction: the statement is its own commit.
 */
export function aloneWrite(sender: Sender, tables: Tables): SessionStatement {
  const { items } = tables;
  switch (sender.random.below(6)) {
    case 0:
      return insertStatement(sender, items);
    case 1:
      return updateStatement(sender, items);
    case 2:
      return deleteStatement(sender, items);
    case 3:
      return turnRound(sender, tables);
    case 4:
      return failingStatement(sender.random, items, false);
    default:
      return insertStatement(sender, items);
  }
}

function pairsIn(view: ModelTransaction, table: ModelTable): [Row, Row][] {
  const rows = view.rows(table);
  const times = [...new Set(rows.map((row) => row.event_ts))];
  return times.map((time) => rows.filter((row) => row.event_ts === time) as [Row, Row]);
}

/** Returns a statement that changes both rows of a pair and leaves their sum unchanged. */
function turnRound({ random, view }: Sender, { pairs }: Tables): SessionStatement {
  const [{ event_ts: time }] = pick(random, pairsIn(view, pairs));
  return {
    text: `UPDATE ${pairs.name} SET n = ${PAIR_SUM} - n WHERE event_ts = $time`,
    parameters: { time },
    meaning: (seen) => {
      const found = seen.rows(pairs).filter((row) => row.event_ts === time);
      for (const row of found) seen.update(pairs, { ...row, n: PAIR_SUM - row.n! });
      return { rows: [{ operation: 'UPDATE', rows_affected: found.length }], ordered: false };
    },
  };
}

function move({ pairs }: Tables, id: number, sum: number): SessionStatement {
  return {
    text: `UPDATE ${pairs.name} SET n = n + $sum WHERE id = $id`,
    parameters: { id, sum },
    meaning: (seen) => {
      const found = seen.rows(pairs).filter((row) => row.id === id);
      for (const row of found) seen.update(pairs, { ...row, n: row.n! + sum });
      return { rows: [{ operation: 'UPDATE', rows_affected: found.length }], ordered: false };
    },
  };
}

/**
 * Returns the steps that move an amount from one row of a pair to the other, with other steps in
 * between.
 */
function transfer(random: Random, tables: Tables): Step[] {
  const sum = 1 + random.below(20);
  let to = 0;
  const take = (sender: Sender) => {
    const [from, other] = pick(random, pairsIn(sender.view, tables.pairs));
    to = other.id;
    return move(tables, from.id, -sum);
  };
  const between = Array.from({ length: random.below(3) }, () => quietStep(random, tables));
  const give = () => move(tables, to, sum);
  return [{ make: take, halfway: true }, ...between, { make: give, halfway: false }];
}

/** Returns a step between the halves of a transfer. It reads, changes rows of `items`, or fails. */
function quietStep(random: Random, tables: Tables): Step {
  const dice = random.below(4);
  const make = (sender: Sender) => {
    if (dice === 0) return failingStatement(random, tables.items, true);
    if (dice === 1) return updateStatement(sender, tables.items);
    return anyRead(sender, tables);
  };
  return { make, halfway: true };
}

/** Returns the steps that delete both rows of a pair and insert a new pair with the same time. */
function replacement(tables: Tables): Step[] {
  const { pairs } = tables;
  let time = 0;
  const remove = ({ random, view }: Sender) => {
    time = pick(random, pairsIn(view, pairs))[0].event_ts;
    const at = time;
    return deleteOf(pairs, ' WHERE event_ts = $at', { at }, (row) => row.event_ts === at);
  };
  const insert = ({ random }: Sender) => insertOf(pairs, newPair(time, random.below(PAIR_SUM)), {});
  return [
    { make: remove, halfway: true },
    { make: insert, halfway: false },
  ];
}

export function newPair(time: number, n: number): Omit<Row, 'id'>[] {
  return [n, PAIR_SUM - n].map((part) => ({ event_ts: time, members: [1, 2], n: part, note: null }));
}

/**
 * Returns the times of the pairs that do not consist of two rows with the sum PAIR_SUM. `rows` are
 * all rows of the table. In every snapshot there must be no such pair.
 */
export function brokenPairs(rows: readonly { event_ts: number; n: number | null }[]): number[] {
  const sums = new Map<number, { sum: number; rows: number }>();
  for (const { event_ts, n } of rows) {
    const before = sums.get(event_ts) ?? { sum: 0, rows: 0 };
    sums.set(event_ts, { sum: before.sum + n!, rows: before.rows + 1 });
  }
  return [...sums].filter(([, pair]) => pair.sum !== PAIR_SUM || pair.rows !== 2).map(([time]) => time);
}
