// Simulates transactions in a random history: they stage writes of every kind, read their own
// writes, set marks, and commit, sometimes in conflict with other writes.

import type { CommitResult, EdgeRow, Table, Transaction } from '../../src/engine/index.ts';
import { inOrder, isEdge, NaiveRow, type NaiveTable, select } from '../model/naive-table.ts';
import { compareColumns, compareSums } from './column-rows.ts';
import { type HistoryWorld, refused, refusedBy, tableOf } from './history-world.ts';

type Staged = { table: Table; model: NaiveTable } & (
  | { kind: 'insert'; version: NaiveRow; answer: EdgeRow }
  | { kind: 'delete'; eventTs: number; members: readonly number[] }
  | { kind: 'update'; target: NaiveRow; version: NaiveRow; answer: EdgeRow }
  | { kind: 'remove'; target: NaiveRow }
);

/** Committed state of a table on which a transaction's reads are based. */
interface Base {
  lsn: number;
  versions: NaiveRow[];
}

interface OpenTransaction {
  tx: Transaction;
  pinned: boolean;
  staged: Staged[];
  /** A pinned transaction takes all bases when it begins, any other takes each at its first use. */
  bases: Map<NaiveTable, Base>;
}

export class TransactionHistory {
  readonly #world: HistoryWorld;
  #open: OpenTransaction[] = [];

  constructor(world: HistoryWorld) {
    this.#world = world;
  }

  /** Forgets all open transactions, because the machine crashed. */
  forget(): void {
    this.#open = [];
  }

  rollBack(): void {
    for (const { tx } of this.#open.splice(0)) tx.rollback();
  }

  async step(): Promise<void> {
    const { random, source } = this.#world;
    if (this.#open.length === 0 || (this.#open.length < 3 && random.chance(0.25))) this.#open.push(this.#begin());
    const open = source.pick(this.#open);
    for (let count = 1 + random.below(5); count > 0; count--) this.#stage(open);
    if (random.chance(0.2)) this.#stageInVain(open);
    if (random.chance(0.5)) return;
    this.#open = this.#open.filter((other) => other !== open);
    if (random.chance(0.25)) {
      this.#world.note('rollback');
      open.tx.rollback();
      this.#world.saw('rollback');
    } else await this.#commit(open);
  }

  /** Changes one row by its id, in a transaction that commits at once. */
  async changeRow(): Promise<void> {
    const open = this.#begin();
    const name = this.#world.name();
    this.#changeRow(open, name, false);
    await this.#commit(open);
  }

  /**
   * Lets two transactions change rows among the same few, with a compaction between their
   * commits.
   */
  async duel(): Promise<void> {
    const name = this.#world.name();
    const both = [this.#begin(), this.#begin()];
    for (const open of both) this.#changeRow(open, name, false);
    await this.#commit(both[0]!);
    await this.#world.compact();
    this.#stage(both[1]!);
    await this.#commit(both[1]!);
    this.#world.saw('duel');
  }

  #begin(): OpenTransaction {
    const { random, models } = this.#world;
    const db = this.#world.db();
    const pinned = random.chance(0.6);
    const open: OpenTransaction = { tx: db.begin({ pinned }), pinned, staged: [], bases: new Map() };
    if (open.tx.lsn !== db.lastLsn) throw new Error(`a transaction begins at ${open.tx.lsn}, not ${db.lastLsn}`);
    if (pinned) for (const model of models.values()) this.#base(open, model);
    this.#world.note(`begin${pinned ? ' pinned' : ''} at ${open.tx.lsn}`);
    return open;
  }

  #base(open: OpenTransaction, model: NaiveTable): Base {
    let base = open.bases.get(model);
    if (base === undefined) {
      // To a pinned transaction, a table created after BEGIN is empty.
      const lsn = open.pinned ? open.tx.lsn : this.#world.db().lastLsn;
      const isThere = !open.pinned || model.shapeLsn <= lsn;
      base = { lsn, versions: isThere ? model.versionsAt(lsn) : [] };
      open.bases.set(model, base);
    }
    return base;
  }

  /** Returns the rows that the transaction sees. */
  #view(open: OpenTransaction, model: NaiveTable): NaiveRow[] {
    let versions = [...this.#base(open, model).versions];
    for (const staged of open.staged) {
      if (staged.model !== model) continue;
      if (staged.kind === 'delete')
        versions = versions.filter(({ row }) => !isEdge(row, staged.eventTs, staged.members));
      else if (staged.kind !== 'insert') versions = versions.filter((version) => version !== staged.target);
      if (staged.kind === 'insert' || staged.kind === 'update') versions.push(staged.version);
    }
    return inOrder(versions);
  }

  #stage(open: OpenTransaction): void {
    const { random } = this.#world;
    const name = this.#world.name();
    const dice = random.below(16);
    if (dice < 4) this.#insert(open, name);
    else if (dice < 6) this.#delete(open, name);
    else if (dice < 12) this.#changeRow(open, name, true);
    else if (dice < 13) {
      const { table } = tableOf(this.#world, name);
      refusedBy(() => open.tx.insert(table, { event_ts: 1, members: [] }), 'empty_members');
      this.#touch(open, name);
    } else this.#read(open, name);
  }

  /**
   * Fixes the base of a table in a pinned transaction, as every write does, even one that fails.
   */
  #touch(open: OpenTransaction, name: string): void {
    if (open.pinned) this.#base(open, this.#world.models.get(name)!);
  }

  /** Stages a few operations and rewinds them, like a failed statement. No trace may remain. */
  #stageInVain(open: OpenTransaction): void {
    const mark = open.tx.mark();
    const { length } = open.staged;
    for (let count = 1 + this.#world.random.below(4); count > 0; count--) this.#stage(open);
    open.tx.rewind(mark);
    open.staged.length = length;
    if (open.tx.operations !== length) throw new Error(`${open.tx.operations} operations are staged, not ${length}`);
    this.#world.note('rewind');
    this.#world.saw('rewind');
  }

  #insert(open: OpenTransaction, name: string): void {
    const { table, model } = tableOf(this.#world, name);
    const edge = this.#world.source.edge(model);
    const row = model.rowOf(table.nextId, edge);
    this.#world.assertFresh(model, row.id);
    this.#world.note(`tx insert ${name} ${row.id}@${row.event_ts}`);
    sameText(open.tx.insert(table, edge), row);
    this.#touch(open, name);
    open.staged.push({ kind: 'insert', table, model, version: new NaiveRow(model, row), answer: row });
  }

  #delete(open: OpenTransaction, name: string): void {
    const { random, source } = this.#world;
    const { table, model } = tableOf(this.#world, name);
    const own = open.staged.filter((staged) => 'version' in staged && staged.model === model);
    const live = model.rows.filter(({ died }) => died === Infinity);
    const rows =
      own.length > 0 && random.chance(0.4) ? own.map((staged) => (staged as { version: NaiveRow }).version) : live;
    const row = rows.length === 0 ? undefined : source.pick(rows).row;
    const eventTs = row?.event_ts ?? source.time();
    const members = row?.members ?? source.members();
    this.#world.note(`tx delete ${name} @${eventTs} [${members.slice(0, 5)}]`);
    open.tx.delete(table, eventTs, members);
    this.#touch(open, name);
    open.staged.push({ kind: 'delete', table, model, eventTs, members });
  }

  /**
   * Updates or removes one row that the transaction sees. With `mayRepeat`, this is sometimes a row
   * that the transaction created itself.
   */
  #changeRow(open: OpenTransaction, name: string, mayRepeat: boolean): void {
    const { random, source } = this.#world;
    const { table, model } = tableOf(this.#world, name);
    const view = this.#view(open, model);
    const own = mayRepeat && random.chance(0.4) ? view.filter(({ born }) => born === Infinity) : [];
    // Often picks from the same few rows, so that transactions conflict.
    const wanted = own.length > 0 ? own : random.chance(0.5) ? view.slice(0, 2) : view;
    const target = view.length === 0 ? undefined : source.pick(wanted);
    const key = target && { eventTs: target.row.event_ts, id: target.row.id };
    if (target === undefined || key === undefined || random.chance(0.05)) {
      const absent = { eventTs: key?.eventTs ?? 0, id: table.nextId + 5 };
      refusedBy(() => open.tx.deleteRow(table, absent), 'invalid_input');
      return;
    }
    if (random.chance(0.35)) {
      this.#world.note(`tx remove ${name} ${key.id}@${key.eventTs}`);
      open.tx.deleteRow(table, key);
      open.staged.push({ kind: 'remove', table, model, target });
      return;
    }
    const made = source.edge(model);
    const { event_ts, members } = target.row;
    const edge = {
      ...made,
      ...(random.chance(0.5) ? { event_ts } : {}),
      ...(random.chance(0.4) ? { members } : {}),
    };
    const end = edge.properties?.end_ts;
    if (typeof end === 'number' && end < edge.event_ts) {
      refusedBy(() => open.tx.updateRow(table, key, edge), 'invalid_input');
      edge.properties = { ...edge.properties, end_ts: edge.event_ts };
    }
    const row = model.rowOf(key.id, edge);
    this.#world.note(`tx update ${name} ${key.id}@${key.eventTs} to @${row.event_ts}`);
    sameText(open.tx.updateRow(table, key, edge), row);
    open.staged.push({ kind: 'update', table, model, target, version: new NaiveRow(model, row), answer: row });
  }

  #read(open: OpenTransaction, name: string): void {
    const { table, model } = tableOf(this.#world, name);
    const rows = this.#view(open, model).map(({ row }) => row);
    const request = this.#world.request(rows);
    const what = `in a transaction: ${name} ${JSON.stringify(request)}`;
    this.#world.note(`tx read ${name} ${JSON.stringify(request)}`);
    const format = this.#world.format();
    const { tx } = open;
    this.#world.compare(tx.scan(table, { ...request, format }), select(rows, request), format, what);
    compareColumns(table, select(rows, request).rows, (asked) => tx.scan(table, { ...request, ...asked }), what);
    compareSums(table, rows, request, tx.snapshotOf(table), tx.overlayOf(table));
    this.#world.saw('own read');
  }

  async #commit(open: OpenTransaction): Promise<void> {
    const { staged, tx } = open;
    const refusal = this.#refusal(open);
    if (refusal !== undefined) {
      this.#world.note(`commit x${staged.length} meets ${refusal}`);
      const committed = tx.commit().then(
        () => Promise.reject(new Error(`a commit that should be refused: ${refusal}`)),
        (error: unknown) => refused(error, refusal),
      );
      await this.#world.wait(committed);
      this.#world.saw(refusal === 'conflict' ? 'conflict' : 'commit into a dropped table');
      return;
    }
    if (staged.length === 0) {
      await this.#world.wait(tx.commit());
      return;
    }
    const wanted: unknown[] = [];
    const operations = lsnsOf(staged, this.#world.keepsHistory);
    const check = (result: CommitResult, firstLsn: number): void => {
      if (result.lsn !== firstLsn + operations - 1) throw new Error(`commit answered LSN ${result.lsn}`);
      sameText(
        result.results.map((each) => ('row' in each ? each.row : each.matched)),
        wanted,
      );
    };
    // Readers see a frame as a whole, so one LSN is enough for all of it.
    const apply = (firstLsn: number): void => {
      for (const each of staged) wanted.push(this.#apply(each, firstLsn + operations - 1));
    };
    const what = `commit x${staged.length}`;
    const inflight = this.#world.follow(what, operations, tx.commit(), check, apply, this.#world.refuses());
    this.#world.saw('commit');
    await this.#world.maybeWait(inflight);
  }

  #apply(staged: Staged, lsn: number): unknown {
    const { model } = staged;
    if (staged.kind === 'delete') return model.delete(staged.eventTs, staged.members, lsn);
    if (staged.kind !== 'insert') {
      if (!model.isLive(staged.target)) throw new Error('the model changes a row that is gone');
      staged.target.died = lsn;
    }
    if (staged.kind === 'remove') {
      this.#world.saw('removal of a row');
      return 1;
    }
    const { row } = staged.version;
    if (staged.kind === 'insert') this.#world.assertFresh(model, row.id);
    else this.#world.saw(staged.target.row.event_ts === row.event_ts ? 'update in place' : 'update that moves');
    model.bear(staged.version, lsn);
    // This is the answer given when the write was staged. A column may have been added since then,
    // if the transaction read nothing.
    return staged.answer;
  }

  /** Returns the error with which the commit must fail, or undefined if it must succeed. */
  #refusal({ staged, bases }: OpenTransaction): 'conflict' | 'table_not_found' | undefined {
    const models = new Set(this.#world.models.values());
    for (const model of new Set(staged.map((each) => each.model))) {
      const base = bases.get(model);
      const isDropped = !models.has(model);
      if (base !== undefined && (isDropped || model.shapeLsn > base.lsn)) return 'conflict';
      if (isDropped) return 'table_not_found';
    }
    const isLost = (each: Staged): boolean =>
      'target' in each && each.target.born !== Infinity && !each.model.isLive(each.target);
    return staged.some(isLost) ? 'conflict' : undefined;
  }
}

/** Returns the number of LSNs that a commit takes. With a history, every deleted row takes one. */
function lsnsOf(staged: readonly Staged[], keepsHistory: boolean): number {
  const lives = new Map<NaiveTable, NaiveRow[]>();
  let lsns = 0;
  for (const each of staged) {
    lsns += each.kind === 'update' ? 2 : 1;
    if (!keepsHistory) continue;
    let live = lives.get(each.model) ?? each.model.rows.filter(({ died }) => died === Infinity);
    const { length } = live;
    if (each.kind === 'delete') {
      live = live.filter(({ row }) => !isEdge(row, each.eventTs, each.members));
      lsns += Math.max(0, length - live.length - 1);
    }
    if ('target' in each) live = live.filter((version) => version !== each.target);
    if ('version' in each) live = [...live, each.version];
    lives.set(each.model, live);
  }
  return lsns;
}

function sameText(found: unknown, wanted: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`the transaction answered ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}
