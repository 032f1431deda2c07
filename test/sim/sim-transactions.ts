// Transactions and statements in a simulation: staged inserts, updates and deletes by id, removals
// by members, and commits that conflict with other writes.

import type { CommitOutcome, CommitResult, Table, Transaction } from '../../src/engine/index.ts';
import type { EdgeInput, EdgeRow, PropertyValue, RowKey } from '../../src/engine/types.ts';
import { drain } from '../support/sim-engine.ts';
import type { IdOf, SimOp } from './sim-ledger.ts';
import { type SimModel, type SimTable, Violation } from './sim-model.ts';
import { failureOf } from './sim-perils.ts';
import type { SimWorld } from './sim-world.ts';
import { keyed, type SimWriters } from './sim-writers.ts';

interface Written {
  edge: EdgeInput;
  token: number;
  values: ReadonlyMap<number, PropertyValue>;
  /** The row that was returned when the edge was staged. */
  row: EdgeRow;
}

type Staged = { name: string; shapeLsn: number } & (
  | ({ kind: 'insert' } & Written)
  | ({ kind: 'update'; target: number } & Written)
  | { kind: 'remove'; target: number }
  | { kind: 'delete'; eventTs: number; members: readonly number[] }
);

interface OpenTransaction {
  tx: Transaction;
  staged: Staged[];
}

const REFUSALS = ['conflict', 'table_not_found', 'invalid_input'];

export class SimTransactions {
  readonly #world: SimWorld;
  readonly #writers: SimWriters;
  #open: OpenTransaction[] = [];

  constructor(world: SimWorld, writers: SimWriters) {
    this.#world = world;
    this.#writers = writers;
  }

  /** Begins a transaction. Returns undefined if a fault of memory or disk explains its refusal. */
  #begin(): OpenTransaction | undefined {
    const { db, random, onEnd } = this.#world;
    let tx: Transaction;
    try {
      tx = db.begin({ pinned: random.chance(0.5) });
    } catch (error) {
      this.#world.assertExcused(failureOf(error), 'begin');
      return undefined;
    }
    const open: OpenTransaction = { tx, staged: [] };
    onEnd.push(() => {
      this.#open = this.#open.filter((other) => other !== open);
      open.tx.rollback();
    });
    return open;
  }

  /** Stages another write in one of the open transactions. */
  stage(): void {
    const { random, source } = this.#world;
    if (this.#open.length === 0 || (this.#open.length < 3 && random.chance(0.3))) {
      const begun = this.#begin();
      if (begun === undefined) return;
      this.#open.push(begun);
    }
    const open = source.pick(this.#open);
    for (let count = 1 + random.below(4); count > 0; count--) this.#stage(open);
  }

  /** Ends one of the open transactions, mostly with a commit. */
  end(): void {
    const { random, source } = this.#world;
    if (this.#open.length === 0) {
      this.stage();
      return;
    }
    const open = source.pick(this.#open);
    this.#open = this.#open.filter((other) => other !== open);
    if (random.chance(0.15)) {
      open.tx.rollback();
      return;
    }
    this.#commit(open);
  }

  /** Changes one row by its id and commits at once, as an UPDATE or DELETE statement does. */
  change(): void {
    const name = this.#world.anyTable();
    if (name === undefined) return;
    const open = this.#begin();
    if (open === undefined) return;
    this.#changeRow(open, name);
    this.#commit(open);
  }

  /**
   * Lets two transactions each change one of the same few rows. If they change the same row, at
   * most one may succeed.
   */
  duel(): void {
    const name = this.#world.anyTable();
    if (name === undefined) return;
    const both = [this.#begin(), this.#begin()].filter((open) => open !== undefined);
    for (const open of both) this.#changeRow(open, name, 0);
    for (const open of both) this.#commit(open);
    this.#world.saw('duel');
  }

  #stage(open: OpenTransaction): void {
    const { random } = this.#world;
    const name = this.#world.anyTable();
    if (name === undefined) return;
    const dice = random.below(10);
    try {
      if (dice < 4) this.#insert(open, name);
      else if (dice < 8) this.#changeRow(open, name);
      else this.#delete(open, name);
    } catch (error) {
      this.#refused(error);
    }
  }

  /**
   * Checks a refusal. A staged write may be refused if its table was created or changed since the
   * transaction began, or if memory ran out.
   */
  #refused(error: unknown): void {
    if (error instanceof Violation || this.#world.fs.stopped) throw error;
    const failure = failureOf(error);
    if (!REFUSALS.includes(failure.code) && failure.code !== 'unknown_column')
      this.#world.assertExcused(failure, 'a staged write');
  }

  #insert({ tx, staged }: OpenTransaction, name: string): void {
    const model = this.#world.ledger.model.table(name);
    const { edge, token } = this.#writers.edge(name);
    const row = tx.insert(this.#world.table(name), edge);
    staged.push({
      ...{ kind: 'insert', name, shapeLsn: model.shapeLsn },
      ...{ edge, token, values: model.valuesOf(edge), row },
    });
  }

  #delete({ tx, staged }: OpenTransaction, name: string): void {
    const { source, ledger } = this.#world;
    const model = ledger.model.table(name);
    if (model.live.length === 0) return;
    const { event_ts, members } = source.pick(model.live).row;
    tx.delete(this.#world.table(name), event_ts, members);
    staged.push({ kind: 'delete', name, shapeLsn: model.shapeLsn, eventTs: event_ts, members });
  }

  /**
   * Updates or removes a known row: number `place`, or a random one. If the transaction does not
   * see the row, the change must be refused.
   */
  #changeRow(open: OpenTransaction, name: string, place?: number): void {
    const { random, source, ledger } = this.#world;
    const model = ledger.model.table(name);
    const own = open.staged.flatMap((each) => (each.name === name && 'row' in each ? [each.row] : []));
    const rows = own.length > 0 && random.chance(0.3) ? own : model.live.map(({ row }) => row);
    const row = place === undefined ? rows.length > 0 && source.pick(rows) : rows[place];
    if (!row) return;
    const key = { eventTs: row.event_ts, id: row.id };
    const newest = open.staged.findLast((each) => each.name === name && 'row' in each && each.row.id === row.id);
    const { tx, staged } = open;
    const table = this.#world.table(name);
    try {
      // Uses the row that the transaction sees, because the model learns of a commit some turns
      // later than readers do.
      const target = newest !== undefined && 'row' in newest ? newest.token : tokenSeen(tx, table, key);
      if (random.chance(0.3)) {
        tx.deleteRow(table, key);
        staged.push({ kind: 'remove', name, shapeLsn: model.shapeLsn, target });
        return;
      }
      const { edge: made, token } = this.#writers.edge(name);
      const edge = random.chance(0.5) ? { ...made, event_ts: row.event_ts, members: row.members } : made;
      const written = tx.updateRow(table, key, edge);
      const values = model.valuesOf(edge);
      staged.push({ kind: 'update', name, shapeLsn: model.shapeLsn, target, edge, token, values, row: written });
    } catch (error) {
      this.#refused(error);
    }
  }

  #commit({ tx, staged }: OpenTransaction): void {
    const world = this.#world;
    if (staged.length === 0) {
      tx.rollback();
      return;
    }
    const answer = this.#writers.answer();
    const operations = staged.reduce((sum, { kind }) => sum + (kind === 'update' ? 2 : 1), 0);
    let results: CommitResult['results'] | undefined;
    const op: SimOp = {
      what: `commit [${staged.map(describe).join(', ')}]${keyed(answer)}`,
      operations: operations + (answer ? 1 : 0),
      answer,
      state: 'open',
      tables: new Set(staged.map(({ name }) => name)),
      // Readers see a frame as a whole, so the whole frame has one LSN.
      apply: (model, firstLsn, idOf) => apply(op.what, model, staged, firstLsn + operations - 1, idOf, results),
    };
    world.note(op.what);
    world.saw('commit');
    const attach = this.#writers.attach<CommitOutcome>(answer);
    const taken = (result: CommitResult): number => {
      results = [...result.results];
      return result.lsn - operations + 1;
    };
    world.submit(op, () => tx.commit(attach), taken, REFUSALS);
  }
}

function describe(staged: Staged): string {
  if (staged.kind === 'insert') return `insert ${staged.name} ${staged.row.id} token ${staged.token}`;
  if (staged.kind === 'update') return `update ${staged.name} token ${staged.target} to ${staged.token}`;
  if (staged.kind === 'remove') return `remove ${staged.name} token ${staged.target}`;
  return `delete ${staged.name} @${staged.eventTs} [${staged.members.slice(0, 4)}]`;
}

function apply(
  what: string,
  model: SimModel,
  staged: readonly Staged[],
  lsn: number,
  idOf: IdOf,
  results: CommitResult['results'] | undefined,
): void {
  for (const [place, each] of staged.entries()) {
    const table = model.table(each.name);
    const found = results?.[place];
    if (each.kind === 'delete') {
      const matched = table.delete(each.eventTs, each.members, lsn);
      if (found !== undefined && 'matched' in found && found.matched !== matched)
        throw new Violation('wrong-answer', `${what}: ${found.matched} rows were deleted, not ${matched}`);
      continue;
    }
    if (each.kind !== 'insert') kill(what, table, each.target, lsn);
    if (each.kind === 'remove') continue;
    const row = table.rowWith(each.row.id, each.edge, each.values);
    if (found !== undefined && 'row' in found && each.shapeLsn === table.shapeLsn)
      if (JSON.stringify(found.row) !== JSON.stringify(row))
        throw new Violation(
          'wrong-answer',
          `${what} answered ${JSON.stringify(found.row)}, not ${JSON.stringify(row)}`,
        );
    table.add(row, lsn, each.kind === 'insert');
  }
  void idOf;
}

/**
 * Returns the token of the row with that key as the transaction sees it. If there is no such row, a
 * change of it is refused.
 */
function tokenSeen(tx: Transaction, table: Table, { eventTs, id }: RowKey): number {
  const text = drain(tx.scan(table, { format: 'json', startTs: eventTs, endTs: eventTs }));
  const rows = JSON.parse(`[${text}]`) as { id: number; weight: number }[];
  return rows.find((row) => row.id === id)?.weight ?? Number.NaN;
}

function kill(what: string, table: SimTable, token: number, lsn: number): void {
  const row = table.withToken(token);
  if (row === undefined)
    throw new Violation('lost-update', `${what}: the row with token ${token} was changed or removed before`);
  row.died = lsn;
}
