// Writes the tables and indexes of a database as the statements that create them.

import type { NodeTableItem, TableItem } from '../../engine/index.ts';
import { optionWords } from '../../model/options.ts';
import { shapeWords } from '../../model/shape.ts';
import type { DumpedIndex } from './definitions.ts';
import { nameText, valueText } from './statement-values.ts';
import { tableOrder } from './table-order.ts';

export function indexStatement(index: DumpedIndex): string {
  const on = `ON ${nameText(index.table)}`;
  if (!('kind' in index)) return `CREATE INDEX ${on} (${nameText(index.column)})`;
  return `CREATE TEXT INDEX ${on} (${index.columns.map(nameText).join(', ')}) LANGUAGE ${index.language}`;
}

/**
 * Returns a script for `hedgerow shell`. There are no statements for rules and virtual graphs, so
 * comments in the script say where they are.
 */
export function schemaStatements(
  tables: readonly TableItem[],
  nodeTables: readonly NodeTableItem[],
  indexes: readonly DumpedIndex[],
): string {
  const primary = tables.find((table) => table.primary);
  const { first, later } = tableOrder(tables, nodeTables);
  const lines = [
    '// The tables and indexes of a dump, as statements for hedgerow shell. Edges are in tables/, rules and virtual graphs in hedgerow-dump.json;',
    '// hedgerow load creates all of them.',
    ...first.flatMap((table) => ['', ...tableStatements(table)]),
    ...nodeTables.flatMap((table) => ['', nodeTableStatement(table)]),
    ...later.flatMap((table) => ['', ...tableStatements(table)]),
    ...(indexes.length === 0 ? [] : ['']),
    ...indexes.map((index) => `${indexStatement(index)};`),
  ];
  if (primary !== undefined && primary.name !== 'hyperedges')
    lines.splice(2, 0, `// The primary table is ${primary.name}: HEDGEROW_PRIMARY_TABLE=${primary.name} names it.`);
  return `${lines.join('\n')}\n`;
}

/**
 * Returns statements that create a table, and then add the first column with a default and all
 * later columns one by one, because only ADD COLUMN can set a default. All columns of the primary
 * table are added in this way.
 */
function tableStatements(item: TableItem): string[] {
  const { name, member_tables, columns, primary } = item;
  const table = nameText(name);
  const first = primary ? 0 : columns.findIndex((column) => column.default !== undefined);
  const plain = first < 0 ? columns : columns.slice(0, first);
  const added = first < 0 ? [] : columns.slice(first);
  const properties =
    plain.length === 0
      ? ''
      : ` PROPERTIES (${plain.map((column) => `${nameText(column.name)} ${column.type}`).join(', ')})`;
  // The primary table exists in every database.
  const create = `CREATE HYPEREDGE TABLE ${primary ? 'IF NOT EXISTS ' : ''}${table} (${member_tables.map(nameText).join(', ')})`;
  return [
    `${create}${shapeWords(item, nameText)}${properties} ${optionWords({ ...item })};`,
    ...added.map((column) => `${addColumnStatement(name, column)};`),
  ];
}

function nodeTableStatement({ name, key, columns }: NodeTableItem): string {
  const properties = columns.map(
    ({ name: column, type, default: value }) =>
      `${nameText(column)} ${type}${value === undefined ? '' : ` DEFAULT ${valueText(value, type)}`}`,
  );
  const clause = properties.length === 0 ? '' : ` PROPERTIES (${properties.join(', ')})`;
  return `CREATE NODE TABLE ${nameText(name)} (${nameText(key.name)} ${key.type})${clause};`;
}

export function addColumnStatement(table: string, column: TableItem['columns'][number]): string {
  const fallback = column.default === undefined ? '' : ` DEFAULT ${valueText(column.default, column.type)}`;
  return `ALTER TABLE ${nameText(table)} ADD COLUMN ${nameText(column.name)} ${column.type}${fallback}`;
}
