// Plans how the rows of a file become nodes with attributes.

import type { NodeTable } from '../../client/index.ts';
import { keyProblem } from '../../model/node-refs.ts';
import { areIntegers, columnName, keyIn, USUAL_KEYS } from '../../tabular/node-columns.ts';
import { firstColumnOfTimes, guessTimeColumns } from '../../tabular/time-column.ts';
import { cellsIn } from './mapping.ts';
import type { Reject, SourceFile, SourceRow } from './read-file.ts';
import { isMissing, type ValueColumn, valueIn, valuesOf } from './value-cells.ts';

/** What the columns of a file mean for its nodes. */
export interface NodeMapping {
  readonly keyColumn: string;
  readonly attributeColumns: readonly string[];
}

export interface NodePlan {
  readonly key: NodeTable['key'];
  readonly columns: readonly { readonly name: string; readonly type: ValueColumn['type'] }[];
  readonly nodes: readonly Readonly<Record<string, unknown>>[];
  readonly rejected: readonly Reject[];
}

/** Returns whether the rows look like nodes: they have a key, and no time as edges have. */
export function looksLikeNodes({ table }: SourceFile): boolean {
  const [time] = guessTimeColumns(table, { members: [], format: undefined, isNeeded: true });
  return (time ?? firstColumnOfTimes(table)) === undefined && table.names.some(isUsualKey);
}

function isUsualKey(name: string): boolean {
  return USUAL_KEYS.includes(name.toLowerCase());
}

/** Guesses the column with the keys: that of the table, or one with a usual name. */
export function guessNodeMapping({ columns }: SourceFile, table: NodeTable | undefined): NodeMapping {
  const wanted = [...(table === undefined ? [] : [table.key.name.toLowerCase()]), ...USUAL_KEYS];
  const found = wanted.map((name) => columns.find((column) => column.toLowerCase() === name));
  const keyColumn = found.find((column) => column !== undefined) ?? columns[0]!;
  return { keyColumn, attributeColumns: columns.filter((column) => column !== keyColumn) };
}

/** Plans the nodes for a table that exists, or for a new one. */
export function planNodes(file: SourceFile, mapping: NodeMapping, table: NodeTable | undefined): NodePlan {
  const { keyColumn } = mapping;
  const taken = new Set<string>();
  const key = table?.key ?? {
    name: columnName(keyColumn, taken),
    type: areIntegers(cellsIn(file, keyColumn)) ? 'INTEGER' : 'TEXT',
  };
  const values = attributesOf(file, mapping, key.name, table);
  const isInteger = key.type === 'INTEGER';
  const trims = file.table.delimiter !== undefined;
  const nodes: Record<string, unknown>[] = [];
  const rejected: Reject[] = [...file.rejected];
  for (const [index, row] of file.rows.entries()) {
    try {
      const given = keyIn(row[keyColumn], isInteger, trims);
      if (given === undefined) throw new Error(`has no ${keyColumn}, which is the key of the node`);
      const problem = keyProblem(given, { name: table?.name ?? 'the table', isInteger });
      if (problem !== undefined) throw new Error(`has a key that ${problem}`);
      nodes.push(nodeOf(row, key.name, given, values));
    } catch (error) {
      rejected.push({ row: file.numbers[index]!, reason: (error as Error).message, source: row });
    }
  }
  const columns = values.map(({ name, type }) => ({ name, type }));
  return { key, columns, nodes, rejected: rejected.sort((a, b) => a.row - b.row) };
}

function attributesOf(
  file: SourceFile,
  { keyColumn, attributeColumns }: NodeMapping,
  key: string,
  table: NodeTable | undefined,
): ValueColumn[] {
  const nameOf = (header: string, taken: Set<string>) => {
    taken.add(key.toLowerCase());
    return columnName(header, taken);
  };
  const columns = attributeColumns.filter((column) => column !== keyColumn);
  // Columns of nodes have no built-in types, so the type follows from the cells alone.
  return valuesOf(file, columns, nameOf, () => '').map((value) => {
    const known = table?.columns.find(({ name }) => name.toLowerCase() === value.name.toLowerCase());
    return known === undefined ? value : { ...value, name: known.name, type: known.type };
  });
}

function nodeOf(row: SourceRow, key: string, given: unknown, values: readonly ValueColumn[]): Record<string, unknown> {
  // An object without a prototype, because a column may be called `__proto__`.
  const node: Record<string, unknown> = Object.create(null);
  node[key] = given;
  for (const column of values) {
    const cell = row[column.column];
    const value = isMissing(cell) ? undefined : valueIn(cell, column);
    if (value !== undefined) node[column.name] = value;
  }
  return node;
}
