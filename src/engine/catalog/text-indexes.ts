// Creates and drops the text index of a table. Like an order of a column (indexes.ts), it consists
// of a catalog entry and, in each segment, a section: the words of the rows (assembly/FORMAT.md,
// section 19). The sections are built first; then the index is entered in the catalog. A segment
// without the section, or with one of another index, is searched row by row until the next
// compaction of the table.

import { HedgerowError } from '../../errors.ts';
import type { Attach } from '../../model/kept-answer.ts';
import { isLanguage, LANGUAGES } from '../../text/index.ts';
import type { Table } from '../table/table.ts';
import type { TextIndexInput, TextIndexItem } from '../types.ts';
import type { TextIndex } from './catalog.ts';
import type { IndexesOptions } from './indexes.ts';

export class TextIndexes {
  readonly #options: IndexesOptions;

  constructor(options: IndexesOptions) {
    this.#options = options;
  }

  /**
   * Lists the text indexes of one table or of all tables, ordered by table. Throws
   * `table_not_found`.
   */
  list(tableName?: string): TextIndexItem[] {
    const { tables } = this.#options;
    const chosen = tableName === undefined ? tables.sorted() : [tables.get(tableName)];
    return chosen.flatMap((table) => {
      const { text } = table.definition;
      return text === undefined ? [] : [textIndexItem(table, text)];
    });
  }

  /**
   * Builds the index over the existing rows and then enters it in the catalog. Reads and writes
   * continue meanwhile. Rejects with `table_not_found`, `unknown_column`, `invalid_input`,
   * `index_exists`, `table_corrupt`, `disk_full`, `disk_failed` or `log_failed`.
   */
  async create(tableName: string, input: TextIndexInput, attach?: Attach<TextIndexItem>): Promise<TextIndexItem> {
    const { context, tables, ddl, mutex, compactor } = this.#options;
    const table = tables.get(tableName);
    table.assertUsable();
    const defined = () => definitionOf(table, input, Math.floor(context.now() / 1000));
    defined();
    const commit = () =>
      mutex.run(async () => {
        table.assertUsable();
        const text = defined();
        const item = textIndexItem(table, text);
        await ddl.change([{ op: 'create_text_index', id: table.id, text }], attach?.(item));
        return item;
      });
    return compactor.buildText(table, defined, commit);
  }

  /**
   * Removes the index from the catalog. The sections in the segments disappear when the segments
   * are rewritten. Rejects with `table_not_found` or `index_not_found`.
   */
  drop(tableName: string, attach?: Attach<{ table: string; kind: 'text' }>): Promise<{ table: string; kind: 'text' }> {
    const { tables, ddl, mutex } = this.#options;
    return mutex.run(async () => {
      const table = tables.get(tableName);
      if (table.definition.text === undefined)
        throw new HedgerowError('index_not_found', `Table ${table.name} has no text index.`, {
          fields: { listed: 'indexes' },
        });
      const dropped = { table: table.name, kind: 'text' as const };
      await ddl.change([{ op: 'drop_text_index', id: table.id }], attach?.(dropped));
      return dropped;
    });
  }
}

/** Returns the text index of a table in the form for clients. */
export function textIndexItem(table: Table, { columns, language, createdAt }: TextIndex): TextIndexItem {
  const names = columns.map((id) => table.columns.withId(id)!.name);
  return { table: table.name, kind: 'text', columns: names, language, created_at: createdAt };
}

/** Throws `unknown_column`, `invalid_input` or `index_exists`. */
function definitionOf(
  table: Table,
  { columns: names, language = 'none' }: TextIndexInput,
  createdAt: number,
): TextIndex {
  if (table.isOfNodes) throw wrong('table', 'must be a hyperedge table; node tables have no text index');
  if (table.definition.text !== undefined)
    throw new HedgerowError(
      'index_exists',
      `Table ${table.name} has a text index already. A table has one; drop it first.`,
    );
  if (!isLanguage(language)) throw wrong('language', `must be one of ${LANGUAGES.join(', ')}`);
  if (names.length === 0) throw wrong('columns', 'must name at least one TEXT column');
  const columns = names.map((name) => {
    const column = table.columns.find(name);
    if (column === undefined)
      throw new HedgerowError('unknown_column', `Table ${table.name} has no column ${JSON.stringify(name)}.`);
    if (column.type !== 'TEXT') throw wrong('columns', `must be TEXT columns; ${column.name} is ${column.type}`);
    return column.id;
  });
  if (new Set(columns).size < columns.length) throw wrong('columns', 'must name each column once');
  return { columns, language, createdAt };
}

function wrong(field: string, msg: string): HedgerowError {
  return new HedgerowError('invalid_input', `${field} ${msg}.`, { errors: [{ loc: [field], msg }] });
}
