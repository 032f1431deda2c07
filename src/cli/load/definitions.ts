// Creates what a dump defines: the tables before edges are inserted, everything else afterwards.

import type { TableItem } from '../../engine/index.ts';
import {
  ALTERABLE_OPTIONS,
  completeOptions,
  OPTION_NAMES,
  optionsIn,
  TABLE_OPTIONS,
  type TableOptions,
} from '../../model/options.ts';
import type { DefinitionStore, DumpedIndex } from '../dump/definitions.ts';
import type { DumpFile } from '../dump/dump-file.ts';

/**
 * Creates the missing tables and columns. Resolves with the number of rows that each table of the
 * dump already held. A table may exist already if it matches the table in the dump and is empty;
 * when a load is being resumed, it need not be empty. Throws before anything is created if a table
 * violates this.
 */
export async function makeTables(
  store: DefinitionStore,
  dump: DumpFile,
  resume: boolean,
): Promise<ReadonlyMap<string, number>> {
  const { tables } = await store.read();
  const pairs = dump.tables.map((table) => ({ table, there: tables.find(({ name }) => isSame(name, table.name)) }));
  for (const { table, there } of pairs) if (there !== undefined) checkTable(there, table, resume);
  for (const { table, there } of pairs) {
    if (there === undefined) await store.createTable(table);
    else for (const column of missing(there, table)) await store.addColumn(there.name, column);
  }
  return new Map(pairs.map(({ table, there }) => [table.name, there?.row_count ?? 0]));
}

/**
 * Creates the missing node tables. A node table may exist already if it has the same key and
 * columns and is empty; when a load is being resumed, it need not be empty. Throws before anything
 * is created if a node table violates this.
 */
export async function makeNodeTables(store: DefinitionStore, dump: DumpFile, resume: boolean): Promise<void> {
  const { node_tables: known } = await store.read();
  const missing = dump.node_tables.filter((table) => {
    const there = known.find(({ name }) => isSame(name, table.name));
    if (there === undefined) return true;
    if (there.row_count > 0 && !resume)
      throw new Error(
        `The node table ${table.name} already exists and holds ${there.row_count} nodes. Load into a new database, or continue an interrupted load with --resume.`,
      );
    if (JSON.stringify([there.key, there.columns]) !== JSON.stringify([table.key, table.columns]))
      throw new Error(
        `The node table ${table.name} already exists with another key or other columns. Load into a new database.`,
      );
    return false;
  });
  for (const table of missing) await store.createNodeTable(table);
}

function checkTable(there: TableItem, table: TableItem, resume: boolean): void {
  if (there.row_count > 0 && !resume)
    throw new Error(
      `The table ${table.name} already exists and holds ${there.row_count} edges. Load into a new database, or continue an interrupted load with --resume.`,
    );
  const [here, dumped] = [optionsOf(there), optionsOf(table)];
  for (const option of OPTION_NAMES) {
    const { isFixed, said } = TABLE_OPTIONS[option];
    if (isFixed && here[option] !== dumped[option])
      throw new Error(
        `The table ${there.name} already exists with ${said(here[option])}, but has ${said(dumped[option])} in the dump.${there.primary ? ` It is the primary table here: load where HEDGEROW_PRIMARY_TABLE names another.` : ' Load into a new database.'}`,
      );
  }
  for (const column of table.columns) {
    const known = there.columns.find(({ name }) => isSame(name, column.name));
    if (known === undefined) continue;
    if (known.type !== column.type)
      throw new Error(
        `The column ${column.name} of ${there.name} is ${known.type} here, and ${column.type} in the dump.`,
      );
    if (known.default !== column.default)
      throw new Error(
        `The column ${column.name} of ${there.name} has ${defaultText(known.default)} here, and ${defaultText(column.default)} in the dump.`,
      );
  }
}

function defaultText(value: TableItem['columns'][number]['default']): string {
  return value === undefined ? 'no default' : `the default ${JSON.stringify(value)}`;
}

function missing(there: TableItem, { columns }: TableItem): TableItem['columns'] {
  return columns.filter((column) => !there.columns.some(({ name }) => isSame(name, column.name)));
}

async function setOptions(store: DefinitionStore, there: TableItem, item: TableItem): Promise<void> {
  const [here, dumped] = [optionsOf(there), optionsOf(item)];
  for (const option of ALTERABLE_OPTIONS)
    if (here[option] !== dumped[option]) await store.setOption(there.name, option, dumped[option]);
}

/** Returns the options of a table, with defaults for options that an older version lacks. */
function optionsOf(item: TableItem): TableOptions {
  return completeOptions(optionsIn(item));
}

/** A table has one text index at most. */
function isSameIndex(a: DumpedIndex, b: DumpedIndex): boolean {
  if (!isSame(a.table, b.table)) return false;
  return 'kind' in a || 'kind' in b ? 'kind' in a && 'kind' in b : isSame(a.column, b.column);
}

/**
 * Sets the options of the tables, and creates the indexes, rules and virtual graphs that are
 * missing.
 */
export async function makeOthers(store: DefinitionStore, dump: DumpFile): Promise<void> {
  const there = await store.read();
  for (const item of dump.tables) {
    const table = there.tables.find((each) => isSame(each.name, item.name));
    if (table !== undefined) await setOptions(store, table, item);
  }
  for (const index of dump.indexes) {
    if (!there.indexes.some((each) => isSameIndex(each, index))) await store.createIndex(index);
  }
  for (const rule of dump.rules) if (!there.rules.some(({ id }) => id === rule.id)) await store.putRule(rule);
  for (const graph of dump.virtual_graphs)
    if (!there.virtual_graphs.some(({ id }) => id === graph.id)) await store.createGraph(graph);
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
