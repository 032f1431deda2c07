// What the database must contain: a naive model, to which the operations of the history are applied
// in LSN order.

import type { Database } from '../../src/engine/index.ts';
import type { EdgeInput, EdgeRow, PropertyValue } from '../../src/engine/types.ts';
import { NaiveRow, NaiveTable } from '../model/naive-table.ts';
import type { SimLanguage } from './sim-words.ts';

/** Thrown when the engine broke a guarantee. The message starts with the name of the rule. */
export class Violation extends Error {
  readonly rule: string;

  constructor(rule: string, what: string) {
    super(`${rule}: ${what}`);
    this.rule = rule;
  }
}

/** An answer stored under a key, as it was passed to the engine. */
export interface SimAnswer {
  id: string;
  bodyHash: string;
  body: string;
}

export interface SimTextIndex {
  readonly columns: readonly number[];
  readonly language: SimLanguage;
  /** LSN at which it was created. */
  readonly lsn: number;
}

/** A table that remembers every id that was assigned in it by a commit that happened. */
export class SimTable extends NaiveTable {
  /** The text index: the keys of its columns in their order. */
  text: SimTextIndex | undefined;
  readonly usedIds = new Set<number>();
  /** Keys of the indexed columns. */
  readonly indexes = new Set<number>();
  threshold = 10_000;
  bucketSeconds = 3600;

  /** Returns the properties of an edge, by the keys of the table's current columns. */
  valuesOf(edge: EdgeInput): Map<number, PropertyValue> {
    const values = new Map<number, PropertyValue>();
    for (const { key, name } of this.allColumns) {
      const value = edge.properties?.[name];
      if (value !== undefined) values.set(key, value);
    }
    return values;
  }

  /**
   * Returns the row for an edge whose properties were named before a possible change of columns.
   */
  rowWith(id: number, edge: EdgeInput, values: ReadonlyMap<number, PropertyValue>): EdgeRow {
    const row = this.rowOf(id, { event_ts: edge.event_ts, members: edge.members });
    for (const { key, name } of this.allColumns) if (values.has(key)) row[name] = values.get(key)!;
    return row;
  }

  /** Drops a column with its index, and the text index that has the column. */
  override dropColumn(name: string): void {
    for (const { key } of this.columns.filter((column) => column.name === name)) {
      this.indexes.delete(key);
      if (this.text?.columns.includes(key)) this.text = undefined;
    }
    super.dropColumn(name);
  }

  add(row: EdgeRow, lsn: number, isNew: boolean): void {
    if (isNew && row.id >= 0) {
      if (this.usedIds.has(row.id)) throw new Violation('id-reused', `id ${row.id} is given out twice`);
      this.usedIds.add(row.id);
    }
    this.bear(new NaiveRow(this, row), lsn);
  }

  get live(): NaiveRow[] {
    return this.rows.filter(({ died }) => died === Infinity);
  }

  withToken(token: number): NaiveRow | undefined {
    return this.rows.findLast(({ row, died }) => died === Infinity && row.weight === token);
  }
}

export class SimModel {
  readonly tables = new Map<string, SimTable>();
  readonly documents = new Map<string, unknown>();
  /** The stored answers in LSN order. */
  readonly answers = new Map<string, SimAnswer>();
  /** The model includes everything up to this LSN. */
  lsn = 0;

  /**
   * Tables by their former names, including dropped tables. In the log, a commit that was staged
   * before a drop or a rename may follow it. Names are never reused.
   */
  readonly #former = new Map<string, SimTable>();

  drop(name: string): void {
    this.#former.set(name, this.table(name));
    this.tables.delete(name);
  }

  rename(name: string, to: string): void {
    const table = this.table(name);
    this.drop(name);
    this.tables.set(to, table);
  }

  table(name: string): SimTable {
    const table = this.tables.get(name) ?? this.#former.get(name);
    if (table === undefined) throw new Violation('wrong-answer', `there is no table ${name} at LSN ${this.lsn}`);
    return table;
  }

  get records(): number {
    let records = 0;
    for (const table of this.tables.values()) records += table.live.length;
    return records;
  }

  /** Returns the most recent answers, which must be kept whatever their size is. */
  lastAnswers(count: number): SimAnswer[] {
    return [...this.answers.values()].slice(-count);
  }
}

/** The document stores to which the simulation writes. Keys, rules and specs are such documents. */
export const STORES = ['keys', 'rules', 'specs'] as const;

/** Returns the current names of the columns of a table's text index. */
export function textColumns({ text, allColumns }: SimTable): string[] {
  return text!.columns.map((wanted) => allColumns.find(({ key }) => key === wanted)?.name ?? 'a dropped column');
}

/** Returns the shape of all tables, in a form that `shapeOfDatabase` returns too. */
export function shapeOfModel(model: SimModel): string {
  const tables = [...model.tables].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    tables.map(([name, table]) => ({
      name,
      bucket: table.bucketSeconds,
      threshold: table.threshold,
      columns: table.columns.map((column) => ({
        name: column.name,
        type: column.type,
        default: column.default ?? null,
      })),
      indexes: table.allColumns
        .filter(({ key }) => table.indexes.has(key))
        .map(({ name: column }) => column)
        .sort(),
      text: table.text === undefined ? null : { columns: textColumns(table), language: table.text.language },
    })),
  );
}

export function shapeOfDatabase(db: Database): string {
  const indexes = db.indexes();
  const tables = [...db.tables()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return JSON.stringify(
    tables.map((table) => {
      const { definition, columns, name } = table;
      const own = columns.columns.filter(({ name: each }) => !['weight', 'mean_dist_m', 'formation'].includes(each));
      return {
        name,
        bucket: definition.bucketSeconds,
        threshold: definition.compactThreshold,
        columns: own.map((column) => ({ name: column.name, type: column.type, default: column.default ?? null })),
        indexes: indexes
          .filter((index) => index.table === name)
          .map(({ column }) => column)
          .sort(),
        text: textOf(db, name),
      };
    }),
  );
}

function textOf(db: Database, table: string): { columns: readonly string[]; language: string } | null {
  const [item] = db.textIndexes.list(table);
  return item === undefined ? null : { columns: item.columns, language: item.language };
}
