// Runs queries on SQLite and produces JSON text in two ways: SQLite builds it, or `JSON.stringify`
// builds it from row objects.

import type Sqlite from 'better-sqlite3';
import { sink } from './measure.ts';

/** A statement's `from` clause and what follows, except `order by`; the edge table has alias e. */
export type SqliteForm = string;

const COLUMNS = 'e.id, e.ts as event_ts, e.members, e.weight';
const ORDER = 'order by e.ts, e.id';
const JSON_ROW = "json_object('id', id, 'event_ts', event_ts, 'members', json(members), 'weight', weight)";

export interface SqliteAnswer {
  text: string;
  rows: number;
}

export class SqliteReader {
  readonly #database: Sqlite.Database;
  readonly #statements = new Map<string, Sqlite.Statement<unknown[], unknown>>();

  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  /** Lets SQLite build the text (`json_group_array`) and return it as one string. */
  json(form: SqliteForm, parameters: readonly number[]): SqliteAnswer {
    const statement = this.#prepare(
      `select count(*), json_group_array(${JSON_ROW}) from (select ${COLUMNS} ${form} ${ORDER})`,
      true,
    );
    const [rows, text] = statement.get(...parameters) as [number, string];
    sink(text.length);
    return { text, rows };
  }

  /**
   * Answers in the usual way: one object per row, then `JSON.stringify`. Members stay strings: the
   * JSON text that is stored.
   */
  usual(form: SqliteForm, parameters: readonly number[]): SqliteAnswer {
    const rows = this.#prepare(`select ${COLUMNS} ${form} ${ORDER}`, false).all(...parameters);
    const text = JSON.stringify(rows);
    sink(text.length);
    return { text, rows: rows.length };
  }

  #prepare(sql: string, raw: boolean): Sqlite.Statement<unknown[], unknown> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare<unknown[], unknown>(sql);
      if (raw) statement.raw(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  close(): void {
    this.#database.close();
  }
}
