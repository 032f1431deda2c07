// Creates what a dump defines: the tables before edges are inserted, everything else afterwards.

import type { NodeTableItem, TableItem } from '../../engine/index.ts';
import {
  ALTERABLE_OPTIONS,
  completeOptions,
  OPTION_NAMES,
  optionsIn,
  TABLE_OPTIONS,
  type TableOptions,
} from '../../model/options.ts';
import { shapeWords } from '../../model/shape.ts';
import type { DefinitionStore, DumpedIndex } from '../dump/definitions.ts';
import type { DumpFile } from '../dump/dump-file.ts';
import { namesake, tableOrder } from '../dump/table-order.ts';

/**
 * Creates the missing tables, node tables and columns. Resolves with the number of rows that each
 * table of the dump already held. A table may exist already if it matches the table in the dump and
 * is empty; when a load is being resumed, it need not be empty. Throws before anything is created
 * if a table violates this.
 */
export async function makeTables(
  store: DefinitionStore,
  dump: DumpFile,
  resume: boolean,
): Promise<ReadonlyMap<string, number>> {
  const { tables, node_tables: known } = await store.read();
  const tableLike = ({ name }: TableItem) => tables.find((there) => isSame(there.name, name));
  const nodeTables = dump.node_tables.filter((table) => isNodeTableMissing(table, known, resume));
  for (const table of dump.tables) {
    const there = tableLike(table);
    if (there !== undefined) checkTable(there, table, resume);
    else checkNames(table, known);
  }
  const { first, later } = tableOrder(dump.tables, dump.node_tables);
  const make = async (table: TableItem) => {
    const there = tableLike(table);
    if (there === undefined) await store.createTable(table);
    else for (const column of missing(there, table)) await store.addColumn(there.name, column);
  };
  for (const table of first) await make(table);
  for (const table of nodeTables) await store.createNodeTable(table);
  for (const table of later) await make(table);
  return new Map(dump.tables.map((table) => [table.name, tableLike(table)?.row_count ?? 0]));
}

/**
 * A node table may exist already if it has the same key and columns and is empty; when a load is
 * being resumed, it need not be empty. Throws an Error for another one.
 */
function isNodeTableMissing(table: NodeTableItem, known: readonly NodeTableItem[], resume: boolean): boolean {
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
}

/** Throws an Error if a table of numbers would be created as one whose members are nodes. */
function checkNames(table: TableItem, known: readonly NodeTableItem[]): void {
  const found = table.nodes === 'named' ? undefined : namesake(table, known);
  if (found === undefined) return;
  throw new Error(
    `The members of ${table.name} are numbers in the dump, but the node table ${found.name} already exists, so that they would be its nodes. Load into a new database.`,
  );
}

function checkTable(there: TableItem, table: TableItem, resume: boolean): void {
  if (there.row_count > 0 && !resume)
    throw new Error(
      `The table ${table.name} already exists and holds ${there.row_count} edges. Load into a new database, or continue an interrupted load with --resume.`,
    );
  if (shapeText(there).toLowerCase() !== shapeText(table).toLowerCase())
    throw new Error(
      `The table ${there.name} already exists as ${shapeText(there)}, but is ${shapeText(table)} in the dump. Load into a new database.`,
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

/**
 * Returns the shape of a table as it is written in statements: its kinds of nodes, or none if its
 * members are numbers, and its clauses. A dump of an older version may lack some of the fields.
 */
function shapeText(table: TableItem): string {
  const kinds = table.nodes === 'named' ? table.member_tables : [];
  return `(${kinds.join(', ')})${shapeWords(table, String)}`;
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
