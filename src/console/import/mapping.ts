// What the columns of a file mean for the edges of its rows. The user checks and changes it.

import { END_COLUMN } from '../../model/columns.ts';
import { cellsOf } from '../../tabular/foreign-table.ts';
import { commonSeparator, separatorOf } from '../../tabular/list-separators.ts';
import { guessMembers } from '../../tabular/member-columns.ts';
import { hasNames } from '../../tabular/nodes.ts';
import { firstColumnOfTimes, guessTimeColumns } from '../../tabular/time-column.ts';
import { guessTimeFormat, type TimeFormat } from '../../tabular/times.ts';
import type { SourceFile } from './read-file.ts';

/** The columns that make an edge, and how to read them. */
export interface Mapping {
  readonly timeColumn: string;
  readonly timeFormat: TimeFormat;
  /** Columns whose cells hold one node or a list of nodes. */
  readonly memberColumns: readonly string[];
  /**
   * Separator between the nodes of a list, in all member columns; empty when each cell is one node.
   */
  readonly separator: string;
  /** True when nodes have names, which become keys of a node table. */
  readonly hasNames: boolean;
  /** The column with the ends of edges; empty when edges have none. */
  readonly endColumn: string;
  /** The role of the members in a column, by column. A member of other columns has none. */
  readonly roles: ReadonlyMap<string, string>;
  /**
   * The node table of the members in a column, by column, where it is not that of the others.
   */
  readonly kinds: ReadonlyMap<string, string>;
  readonly propertyColumns: readonly string[];
}

/** Guesses the mapping from the names of the columns and the first values. */
export function guessMapping(file: SourceFile): Mapping {
  const { table, columns, valueColumns } = file;
  // The user reviews the guess, so any of several candidates is better than none.
  const [time] = guessTimeColumns(table, { members: [], format: undefined, isNeeded: true });
  const timeColumn = table.names[time ?? firstColumnOfTimes(table) ?? -1] ?? columns[0]!;
  const endColumn = columns.find((name) => name.toLowerCase() === END_COLUMN && name !== timeColumn) ?? '';
  const free = table.names.flatMap((name, index) => (name === timeColumn || name === endColumn ? [] : [index]));
  const members = guessMembers(table, { free, mayHoldLists: true });
  const memberColumns = members.indexes.map((index) => table.names[index]!);
  const separator = members.separator ?? '';
  return {
    timeColumn,
    timeFormat: guessTimeFormat(cellsIn(file, timeColumn), timeColumn),
    memberColumns,
    separator,
    hasNames: looksNamed(file, { memberColumns, separator }),
    endColumn,
    roles: new Map(),
    kinds: new Map(),
    propertyColumns: valueColumns.filter(
      (column) => column !== timeColumn && column !== endColumn && !memberColumns.includes(column),
    ),
  };
}

export function cellsIn({ table }: SourceFile, column: string): unknown[] {
  return cellsOf(table, table.names.indexOf(column));
}

/** Guesses the separator between the nodes in these columns; empty when each cell is one node. */
export function guessSeparator({ table }: SourceFile, memberColumns: readonly string[]): string {
  const indexes = memberColumns.map((column) => table.names.indexOf(column));
  return (indexes.length === 1 ? separatorOf(table, indexes[0]!) : commonSeparator(table, indexes)) ?? '';
}

/** Returns whether some member is not an integer. */
export function looksNamed(
  file: SourceFile,
  { memberColumns, separator }: Pick<Mapping, 'memberColumns' | 'separator'>,
): boolean {
  return memberColumns.some((column) => hasNames(cellsIn(file, column), markOf(separator)));
}

/** Returns the separator as the functions of `tabular` take it. */
export function markOf(separator: string): string | undefined {
  return separator === '' ? undefined : separator;
}
