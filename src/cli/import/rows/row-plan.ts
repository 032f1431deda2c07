// Plans how the columns of a file with rows become edges: which column holds the time, which hold
// the members, which are properties, and of which type.

import type { ColumnType } from '../../../engine/index.ts';
import { builtInType } from '../../../model/columns.ts';
import { didYouMean } from '../../../model/suggestions.ts';
import { cellsOf, type ForeignTable } from '../../../tabular/foreign-table.ts';
import { separatorOf } from '../../../tabular/list-separators.ts';
import { guessMembers } from '../../../tabular/member-columns.ts';
import { hasNames } from '../../../tabular/nodes.ts';
import type { Decimal } from '../../../tabular/number-style.ts';
import { guessTimeColumns, SOME_TIME_NAMES } from '../../../tabular/time-column.ts';
import { guessTimeFormat, type TimeFormat, type TimePattern } from '../../../tabular/times.ts';
import { ambiguousCell, decimalIn, isValueName, propertyName, valueType } from '../../../tabular/value-columns.ts';
import { printable } from '../../table-text.ts';
import { UsageError } from '../../world.ts';
import type { TableColumn } from '../targets/target.ts';

/** The flags that concern rows. */
export interface RowFlags {
  readonly tsColumn?: string | undefined;
  readonly tsFormat?: TimeFormat | TimePattern | undefined;
  /** The column with the ends of intervals. */
  readonly endColumn?: string | undefined;
  /** The time for edges that have none, in seconds since 1970. */
  readonly ts?: number | undefined;
  readonly memberColumns?: readonly string[] | undefined;
  readonly memberColumn?: string | undefined;
  /** Columns that hold the members of a role, by role. */
  readonly roles?: ReadonlyMap<string, string> | undefined;
  readonly separator?: string | undefined;
  /** Undefined: all columns that are neither time nor members. */
  readonly propertyColumns?: readonly string[] | undefined;
  readonly memberIds?: 'number' | 'name' | undefined;
  readonly types: ReadonlyMap<string, ColumnType>;
  /** The decimal separator of numbers in texts; undefined when it is guessed from the cells. */
  readonly decimal?: Decimal | undefined;
}

export interface PropertyColumn extends TableColumn {
  /** True when the type was guessed from the first rows. */
  readonly isGuessed: boolean;
  /** Index of the column in the file. */
  readonly index: number;
  /**
   * The decimal separator of the column's numbers; undefined for numbers in the notation of
   * programming languages.
   */
  readonly decimal: Decimal | undefined;
}

export interface RoleColumn {
  readonly name: string;
  /** Index of the column in the file. */
  readonly index: number;
  readonly separator: string;
}

export interface RowPlan {
  readonly names: readonly string[];
  /**
   * `index` is undefined when no column holds the time. `missing` is the time for rows that have
   * none.
   */
  readonly time: {
    readonly index: number | undefined;
    readonly format: TimeFormat | TimePattern;
    readonly missing: number | undefined;
  };
  /** The column with the ends of intervals, if it is read. */
  readonly end: { readonly index: number; readonly format: TimeFormat | TimePattern } | undefined;
  readonly members: {
    readonly indexes: readonly number[];
    readonly separator: string | undefined;
    readonly named: boolean;
    /** True when the columns were chosen by their names and not by a flag. */
    readonly isGuessed: boolean;
  };
  /** Columns that hold the members of a role. */
  readonly roles: readonly RoleColumn[];
  readonly properties: readonly PropertyColumn[];
  /** Columns of the file that are not read. */
  readonly left: readonly string[];
  /**
   * Names of columns with numbers whose decimal separator is unclear, each with an example cell.
   */
  readonly ambiguous: readonly (readonly [name: string, cell: string])[];
}

/**
 * Makes the plan. `known` are the columns of the table; their types are used. `roles` are its
 * roles: a column with the name of one holds its members. Throws UsageError if a flag names a
 * column that does not exist, or if the columns for the time or the members cannot be determined.
 */
export function planRows(
  table: ForeignTable,
  flags: RowFlags,
  known: readonly TableColumn[],
  tableRoles: readonly string[],
): RowPlan {
  const { names } = table;
  const endIndex = endColumn(names, flags, known);
  const timeIndex = timeColumn(table, flags, endIndex);
  const roles = roleColumns(table, flags, tableRoles);
  const members = memberColumns(table, flags, [timeIndex, endIndex], roles);
  const { indexes, separator } = members;
  const used = new Set(
    [timeIndex, endIndex, ...indexes, ...roles.map(({ index }) => index)].filter((index) => index !== undefined),
  );
  const wanted = flags.propertyColumns?.map((name) => columnIndex(names, name, '--property-columns'));
  // Members are a set, which does not record from which column a member came. For that purpose a
  // user can name a member column as a property column too.
  const places = names.flatMap((name, index) =>
    (wanted?.includes(index) ?? (!used.has(index) && isValueName(name))) ? [index] : [],
  );
  const decimal = flags.decimal ?? decimalIn(table, places);
  const taken = new Set<string>();
  const properties = places.map((index): PropertyColumn => {
    const name = propertyName(names[index]!, taken);
    const isNamed = (one: TableColumn) => one.name.toLowerCase() === name.toLowerCase();
    const given = known.find(isNamed)?.type ?? builtInType(name.toLowerCase()) ?? flags.types.get(names[index]!);
    const type = given ?? valueType(table, index, name, decimal);
    return { index, name, type, isGuessed: given === undefined, decimal };
  });
  const ambiguous = properties.flatMap(({ index, type, isGuessed }) => {
    const odd = isGuessed && decimal === undefined && type === 'TEXT' ? ambiguousCell(table, index) : undefined;
    return odd === undefined ? [] : [[names[index]!, odd] as const];
  });
  const left = names.filter((_, index) => !used.has(index) && !places.includes(index));
  const format =
    flags.tsFormat ?? (timeIndex === undefined ? 's' : guessTimeFormat(cellsOf(table, timeIndex), names[timeIndex]));
  const named =
    flags.memberIds === undefined
      ? indexes.some((index) => hasNames(cellsOf(table, index), separator)) ||
        roles.some((role) => hasNames(cellsOf(table, role.index), role.separator))
      : flags.memberIds === 'name';
  const time = { index: timeIndex, format, missing: flags.ts };
  const end =
    endIndex === undefined
      ? undefined
      : { index: endIndex, format: flags.tsFormat ?? guessTimeFormat(cellsOf(table, endIndex), names[endIndex]) };
  return { names, time, end, members: { ...members, named }, roles, properties, left, ambiguous };
}

/** Returns the columns that flags give to roles, and those with the names of the table's roles. */
function roleColumns(table: ForeignTable, flags: RowFlags, tableRoles: readonly string[]): RoleColumn[] {
  const { names } = table;
  const columns = new Map<string, RoleColumn>();
  const add = (name: string, index: number): void => {
    const separator = flags.separator ?? separatorOf(table, index);
    columns.set(name.toLowerCase(), { name, index, separator });
  };
  for (const [role, column] of flags.roles ?? []) add(role, columnIndex(names, column, '--role'));
  for (const role of tableRoles) {
    const index = names.findIndex((name) => name.toLowerCase() === role.toLowerCase());
    if (index >= 0 && !columns.has(role.toLowerCase())) add(role, index);
  }
  return [...columns.values()];
}

/** A table with intervals takes the ends from a column of their name. */
function endColumn(
  names: readonly string[],
  { endColumn: named }: RowFlags,
  known: readonly TableColumn[],
): number | undefined {
  if (named !== undefined) return columnIndex(names, named, '--end-column');
  const own = known.find(({ isEnd }) => isEnd);
  const index = names.findIndex((name) => name.toLowerCase() === own?.name);
  return index >= 0 ? index : undefined;
}

function timeColumn(table: ForeignTable, flags: RowFlags, end: number | undefined): number | undefined {
  const { names } = table;
  const { tsColumn, tsFormat, memberColumn, memberColumns: several } = flags;
  if (tsColumn !== undefined) return columnIndex(names, tsColumn, '--ts-column');
  const isNotTime = [memberColumn, end === undefined ? undefined : names[end]].filter((name) => name !== undefined);
  const members = [...(several ?? []), ...isNotTime];
  const guessed = guessTimeColumns(table, { members, format: tsFormat, isNeeded: flags.ts === undefined });
  if (guessed.length === 1) return guessed[0]!;
  if (guessed.length === 0 && flags.ts !== undefined) return undefined;
  if (guessed.length > 1)
    throw new UsageError(
      `Columns ${shown(guessed.map((index) => names[index]!))} could each be the time; name the one that is in --ts-column.`,
    );
  throw new UsageError(
    `None of the columns (${shown(names)}) has a name such as ${SOME_TIME_NAMES.join(', ')} (in several languages) and holds times; name the column with the time in --ts-column, or give all edges one time with --ts.`,
  );
}

/**
 * Returns the columns that the flags name. Without such a flag, chooses columns only by names that
 * leave no doubt, because the user is not asked before edges are written.
 */
function memberColumns(
  table: ForeignTable,
  flags: RowFlags,
  times: readonly (number | undefined)[],
  roles: readonly RoleColumn[],
): Omit<RowPlan['members'], 'named'> {
  const { names } = table;
  const { memberColumn, memberColumns: several, separator } = flags;
  if (several !== undefined) {
    const indexes = several.map((name) => columnIndex(names, name, '--member-columns'));
    return { indexes, separator, isGuessed: false };
  }
  if (memberColumn !== undefined) {
    const index = columnIndex(names, memberColumn, '--member-column');
    return { indexes: [index], separator: separator ?? separatorOf(table, index), isGuessed: false };
  }
  if (roles.length > 0) {
    // The members are those of the roles, and those of a column that is called members.
    const index = names.findIndex((name) => name.toLowerCase() === 'members');
    if (index < 0) return { indexes: [], separator, isGuessed: false };
    return { indexes: [index], separator: separator ?? separatorOf(table, index), isGuessed: false };
  }
  const free = names.flatMap((_, index) => (times.includes(index) ? [] : [index]));
  const guess = guessMembers(table, { free, mayHoldLists: true });
  if (guess.isCertain) return { indexes: guess.indexes, separator: separator ?? guess.separator, isGuessed: true };
  const likely = guess.indexes.map((index) => names[index]!);
  const advice =
    likely.length === 0
      ? 'name those with the nodes in --member-columns a,b, or the one with a list in --member-column.'
      : `${shown(likely)} may hold the nodes: ${memberFlag(likely, guess.separator)} takes them from there.`;
  throw new UsageError(
    `None of the columns (${shown(names)}) is called members, and no two of them are the two sides of an edge, such as from and to; ${advice}`,
  );
}

function memberFlag(columns: readonly string[], separator: string | undefined): string {
  const names = columns.map(printable).join(',');
  // Quoted as a shell requires.
  const flag = `--member-columns ${/^[\w,]+$/.test(names) ? names : `'${names.replaceAll("'", String.raw`'\''`)}'`}`;
  return separator === undefined ? flag : `${flag} --separator '${separator}'`;
}

function columnIndex(names: readonly string[], name: string, flag: string): number {
  const exact = names.indexOf(name);
  const index = exact >= 0 ? exact : names.findIndex((other) => other.toLowerCase() === name.toLowerCase());
  if (index >= 0) return index;
  throw new UsageError(
    `${flag} names ${JSON.stringify(name)}, but the columns are ${shown(names)}.${didYouMean(name, names)}`,
  );
}

function shown(names: readonly string[]): string {
  const first = names.slice(0, 30).map((name) => printable(name.length > 40 ? `${name.slice(0, 40)}...` : name));
  return names.length > 30 ? `${first.join(', ')}, ...` : first.join(', ');
}
