// Writes the rows of a table as INSERT statements of up to 500 rows, one row per line.

import type { PropertyValue, TableItem } from '../../engine/index.ts';
import { builtInColumns } from '../../model/columns.ts';
import { MAX_STATEMENT_LENGTH } from '../../query/language.ts';
import type { Row } from '../run/runner.ts';
import { memberText, nameText, valueText } from './statement-values.ts';

/** Each statement is one commit, so these limits bound the size of a commit. */
const ROWS = 500;
const CHARACTERS = 2 ** 18;

type Columns = readonly Pick<TableItem['columns'][number], 'name' | 'type'>[];

/**
 * Builds the statements. They depend only on the rows and their order, not on how the rows are
 * split into batches.
 */
export class InsertStatements {
  readonly #head: string;
  readonly #table: string;
  readonly #columns: Columns;
  readonly #roles: readonly string[];
  #rows: string[] = [];
  #characters = 0;
  /** Number of rows added so far. */
  count = 0;

  constructor({
    name,
    columns,
    intervals,
    roles = [],
  }: Pick<TableItem, 'name' | 'columns' | 'intervals'> & Partial<Pick<TableItem, 'roles'>>) {
    this.#roles = roles;
    this.#table = name;
    this.#columns = [...builtInColumns(intervals), ...columns];
    const names = [
      'event_ts',
      'members',
      ...roles.map(nameText),
      ...this.#columns.map((column) => nameText(column.name)),
    ];
    this.#head = `INSERT INTO ${nameText(name)} (${names.join(', ')}) VALUES\n`;
  }

  /**
   * Adds rows and returns the statements that are complete by then. Throws an Error for a row that
   * is too long for a statement.
   */
  add(rows: readonly Row[]): string {
    let text = '';
    for (const row of rows) {
      const line = this.#rowText(row);
      if (this.#head.length + line.length >= MAX_STATEMENT_LENGTH)
        throw new Error(
          `The edge ${row.id} of ${this.#table} is longer than a statement can be (${MAX_STATEMENT_LENGTH} characters). Dump with --format ndjson or parquet.`,
        );
      if (this.#rows.length > 0 && this.#characters + line.length > CHARACTERS) text += this.end();
      this.#rows.push(line);
      this.#characters += line.length + 2;
      this.count++;
      if (this.#rows.length === ROWS) text += this.end();
    }
    return text;
  }

  /** Ends the unfinished statement and returns it; empty when there is none. */
  end(): string {
    if (this.#rows.length === 0) return '';
    const text = `${this.#head}${this.#rows.join(',\n')};\n`;
    this.#rows = [];
    this.#characters = 0;
    return text;
  }

  /** Writes every column even if it is null, because an omitted column would get its default. */
  #rowText(row: Row): string {
    const values = this.#columns.map(({ name, type }) => valueText((row[name] ?? null) as PropertyValue, type));
    const lists = ['members', ...this.#roles].map(
      (name) => `[${(row[name] as readonly unknown[]).map(memberText).join(', ')}]`,
    );
    return `(${[String(row.event_ts), ...lists, ...values].join(', ')})`;
  }
}
