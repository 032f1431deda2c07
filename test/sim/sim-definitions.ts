// Changes of definitions in a simulation: tables, columns, names, indexes and thresholds.

import type { AlterAction, Table } from '../../src/engine/index.ts';
import type { NaiveColumn } from '../model/naive-table.ts';
import type { SimOp } from './sim-ledger.ts';
import { type SimModel, SimTable } from './sim-model.ts';
import { PRIMARY, type SimWorld } from './sim-world.ts';
import { keyed, type SimWriters } from './sim-writers.ts';

const REFUSALS = [
  'table_not_found',
  'table_exists',
  'column_exists',
  'unknown_column',
  'index_exists',
  'invalid_input',
];
/**
 * Compaction thresholds in operations. 0 means on request only; low thresholds compact often, in
 * the background.
 */
const THRESHOLDS = [0, 3, 20, 10_000];

export class SimDefinitions {
  readonly #world: SimWorld;
  readonly #writers: SimWriters;
  readonly #mostTables: number;
  #names = 0;

  constructor(world: SimWorld, writers: SimWriters, mostTables: number) {
    this.#world = world;
    this.#writers = writers;
    this.#mostTables = mostTables;
  }

  /** Creates or drops a table. */
  table(): void {
    const { ledger, random } = this.#world;
    const count = ledger.model.tables.size;
    if (count < 2 || (count < this.#mostTables && random.chance(0.75))) this.#create();
    else this.#drop();
  }

  #create(): void {
    const world = this.#world;
    const { source } = world;
    const name = `t${++this.#names}`;
    const columns = source.columns();
    const bucketSeconds = source.pick([1, 10, 3600, 1_000_000]);
    const compactThreshold = source.pick(THRESHOLDS);
    const answer = this.#writers.answer();
    const op: SimOp = {
      what: `create ${name}${keyed(answer)}`,
      operations: 1 + (answer ? 1 : 0),
      answer,
      state: 'open',
      tables: new Set([name]),
      apply: (model, lsn) => {
        const table = new SimTable(columns);
        table.shapeLsn = lsn;
        table.bucketSeconds = bucketSeconds;
        table.threshold = compactThreshold;
        model.tables.set(name, table);
      },
    };
    world.note(op.what);
    const call = () =>
      world.db.createTable({ name, bucketSeconds, columns, compactThreshold }, this.#writers.attach(answer));
    world.submit(op, call, (table: Table) => table.shapeLsn, []);
    world.saw('create');
  }

  /**
   * Returns a table whose definition may change now, because no operation in flight touches the
   * table.
   */
  #freeTable(): string | undefined {
    const world = this.#world;
    const names = world.tableNames().filter((name) => world.hasTable(name) && !world.isTouched(name));
    return names.length === 0 ? undefined : world.source.pick(names);
  }

  #drop(): void {
    const world = this.#world;
    const name = this.#freeTable();
    if (name === undefined || name === PRIMARY) return;
    const table = world.table(name);
    this.#define(
      name,
      `drop ${name}`,
      (model) => model.drop(name),
      async (attach) => {
        await world.db.dropTable(name, attach);
        return table;
      },
    );
    world.saw('drop');
  }

  /**
   * Logs a change of a table's definition. No write to the table starts until the change is done.
   */
  #define(
    name: string,
    what: string,
    apply: (model: SimModel, lsn: number) => void,
    change: (attach: ReturnType<SimWriters['attach']>) => Promise<Table>,
  ): void {
    const world = this.#world;
    const answer = this.#writers.answer();
    const op: SimOp = {
      what: `${what}${keyed(answer)}`,
      operations: 1 + (answer ? 1 : 0),
      answer,
      state: 'open',
      tables: new Set([name]),
      apply,
    };
    world.note(op.what);
    world.altering.add(name);
    const call = () => change(this.#writers.attach(answer)).finally(() => world.altering.delete(name));
    world.submit(op, call, (table) => table.shapeLsn, REFUSALS);
  }

  alter(): void {
    const world = this.#world;
    const { random, source, ledger } = world;
    const name = this.#freeTable();
    if (name === undefined) return;
    const table = ledger.model.table(name);
    // A table with a text index mostly has a column renamed or dropped.
    const dice = table.text !== undefined && random.chance(0.6) ? 5 + random.below(2) : random.below(10);
    if (dice < 4) {
      const column = { name: `a${++this.#names}`, type: source.pick(source.columnTypes) };
      const value = random.chance(0.6) ? source.value(column) : null;
      const wanted = value === null ? column : { ...column, default: value };
      this.#alter(name, { kind: 'addColumn', column: wanted }, (model) => model.addColumn(wanted));
    } else if (dice < 8 && table.columns.length > 0) {
      const { name: column, key } = source.pick(this.#changeable(table));
      const to = `r${++this.#names}`;
      if (dice < 6) this.#alter(name, { kind: 'renameColumn', column, to }, (model) => model.renameColumn(column, to));
      else {
        if (table.text?.columns.includes(key)) world.saw('drop of a text index with its column');
        this.#alter(name, { kind: 'dropColumn', column }, (model) => model.dropColumn(column));
      }
    } else if (name !== PRIMARY) this.#rename(name);
  }

  /** Returns columns to rename or drop: mostly those of the table's text index, if it has any. */
  #changeable({ columns, text }: SimTable): readonly NaiveColumn[] {
    const indexed = text === undefined ? [] : columns.filter(({ key }) => text.columns.includes(key));
    return indexed.length > 0 && this.#world.random.chance(0.7) ? indexed : columns;
  }

  #alter(name: string, action: AlterAction, change: (table: SimTable) => void): void {
    const apply = (model: SimModel, lsn: number): void => {
      const table = model.table(name);
      change(table);
      table.shapeLsn = lsn;
    };
    const what = `alter ${name} ${JSON.stringify(action).slice(0, 120)}`;
    this.#define(name, what, apply, (attach) => this.#world.db.alterTable(name, action, attach));
    this.#world.saw(action.kind);
  }

  #rename(name: string): void {
    const to = `n${++this.#names}`;
    const apply = (model: SimModel, lsn: number): void => {
      const table = model.table(name);
      table.shapeLsn = lsn;
      model.rename(name, to);
    };
    this.#define(name, `rename ${name} to ${to}`, apply, (attach) =>
      this.#world.db.alterTable(name, { kind: 'renameTable', to }, attach),
    );
    this.#world.saw('renameTable');
  }

  /**
   * Creates or drops an index while nothing else is in flight, because the call does not return its
   * LSN.
   */
  async index(): Promise<void> {
    const world = this.#world;
    await world.settle();
    const name = world.anyTable();
    if (name === undefined || world.refuses) return;
    const table = world.ledger.model.table(name);
    const numeric = table.allColumns.filter(({ type }) => type === 'REAL' || type === 'INTEGER');
    const { key, name: column } = world.source.pick(numeric);
    const isThere = table.indexes.has(key);
    const apply = (model: SimModel): void => {
      const { indexes } = model.table(name);
      if (isThere) indexes.delete(key);
      else indexes.add(key);
    };
    const call = (): Promise<unknown> =>
      isThere ? world.db.dropIndex(name, column) : world.db.createIndex(name, column);
    await this.#alone(`${isThere ? 'drop' : 'create'} index ${name}.${column}`, name, apply, call);
  }

  async threshold(): Promise<void> {
    const world = this.#world;
    await world.settle();
    const name = world.anyTable();
    if (name === undefined || world.refuses) return;
    const threshold = world.source.pick(THRESHOLDS);
    const apply = (model: SimModel): void => {
      model.table(name).threshold = threshold;
    };
    await this.#alone(`threshold ${name} ${threshold}`, name, apply, () =>
      world.db.setCompactThreshold(threshold, name),
    );
  }

  async #alone(
    what: string,
    name: string,
    apply: (model: SimModel) => void,
    call: () => Promise<unknown>,
  ): Promise<void> {
    const world = this.#world;
    const op: SimOp = { what, operations: 1, state: 'open', tables: new Set([name]), apply };
    world.note(what);
    const next = world.db.lastLsn + 1;
    world.submit(op, call, () => next, REFUSALS);
    await world.settle();
    world.saw(what.startsWith('threshold') ? 'threshold' : 'index');
  }
}
