// How the columns of a file with rows become edges: which is the time, which are the members, which
// are properties and of which type.

import type { ColumnType } from '../../../engine/index.ts';
import { builtInType, EDGE_FIELDS, IDENTIFIER, LONGEST_IDENTIFIER } from '../../../model/columns.ts';
import { didYouMean } from '../../../model/suggestions.ts';
import { ambiguousNumber, type Decimal, decimalOf, plainNumber } from '../../../tabular/number-style.ts';
import { guessTimeFormat, type TimeFormat, type TimePattern } from '../../../tabular/times.ts';
import { printable } from '../../table-text.ts';
import { UsageError } from '../../world.ts';
import { separatorOf } from '../csv/separators.ts';
import type { TableColumn } from '../targets/target.ts';
import { cellType, commonType, isNullWord } from './cell-types.ts';
import { guessTimeColumns, SOME_TIME_NAMES } from './time-column.ts';

/** What the flags say of rows. */
export interface RowFlags {
  readonly tsColumn?: string | undefined;
  readonly tsFormat?: TimeFormat | TimePattern | undefined;
  /** Seconds since 1970 of edges without a time. */
  readonly ts?: number | undefined;
  readonly memberColumns?: readonly string[] | undefined;
  readonly memberColumn?: string | undefined;
  readonly separator?: string | undefined;
  /** Which one it is where no other shows; default ;. */
  readonly usualSeparator?: string | undefined;
  /** Undefined: all that are neither time nor members. */
  readonly propertyColumns?: readonly string[] | undefined;
  readonly memberIds?: 'number' | 'name' | undefined;
  readonly types: ReadonlyMap<string, ColumnType>;
  /** Between whole and fraction of numbers in texts; undefined: what the cells show. */
  readonly decimal?: Decimal | undefined;
  /** Numbers with a decimal comma could be lists: commas part the cells. */
  readonly hasCommas?: boolean | undefined;
}

/** The first rows of a file. */
export interface Sample {
  readonly names: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Cells that are texts, though they look like numbers: by row and column. */
  readonly isText: (row: number, column: number) => boolean;
}

export interface PropertyColumn extends TableColumn {
  /** The type is what the first rows look like. */
  readonly isGuessed: boolean;
  /** Of the file. */
  readonly index: number;
  /** How numbers of the column are written; undefined: as programs write them. */
  readonly decimal: Decimal | undefined;
}

export interface RowPlan {
  readonly names: readonly string[];
  /** `index` undefined: no column holds it. `missing`: of rows that have none. */
  readonly time: {
    readonly index: number | undefined;
    readonly format: TimeFormat | TimePattern;
    readonly missing: number | undefined;
  };
  readonly members: {
    readonly indexes: readonly number[];
    readonly separator: string | undefined;
    readonly named: boolean;
  };
  readonly properties: readonly PropertyColumn[];
  /** Columns of the file that are not read. */
  readonly left: readonly string[];
  /** Columns of numbers whose style is not known: name and a cell. */
  readonly ambiguous: readonly (readonly [name: string, cell: string])[];
}

/**
 * `known`: columns that the table has, whose types are taken. Throws UsageError for columns that
 * are not there.
 */
export function planRows(sample: Sample, flags: RowFlags, known: readonly TableColumn[]): RowPlan {
  const { names } = sample;
  const cells = (index: number) => sample.rows.map((row) => row[index] ?? null);
  const timeIndex = timeColumn(sample, flags);
  const indexes = memberColumns(names, flags);
  const separator =
    flags.separator ??
    (flags.memberColumns === undefined ? separatorOf(indexes.flatMap(cells), flags.usualSeparator ?? ';') : undefined);
  const used = new Set([...(timeIndex === undefined ? [] : [timeIndex]), ...indexes]);
  const properties: PropertyColumn[] = [];
  const taken = new Set<string>();
  const left: string[] = [];
  const wanted = flags.propertyColumns?.map((name) => columnIndex(names, name, '--property-columns'));
  // Members are a set: who needs to know which column one came from asks for that column as a
  // property too.
  const isProperty = (index: number) => wanted?.includes(index) ?? !used.has(index);
  const texts = names.map((_, index) => (isProperty(index) ? textsOf(cells(index)) : []));
  const decimal =
    flags.decimal ??
    decimalOf(
      texts.filter((each) => each.length > 0),
      flags.hasCommas === true,
    );
  const ambiguous: [string, string][] = [];
  for (const [index, name] of names.entries()) {
    // Ids are given by the database: what an export says of them is not read.
    if (!isProperty(index) || (wanted === undefined && (name.toLowerCase() === 'id' || name === ''))) {
      if (!used.has(index)) left.push(name);
      continue;
    }
    const column = nameFor(name, taken);
    const given =
      known.find((one) => one.name.toLowerCase() === column.toLowerCase())?.type ??
      builtInType(column.toLowerCase()) ??
      flags.types.get(name);
    const type = given ?? typeOf(sample, index, decimal);
    const odd = given === undefined && decimal === undefined ? ambiguousNumber(texts[index]!) : undefined;
    if (odd !== undefined && type === 'TEXT') ambiguous.push([name, odd]);
    properties.push({ index, name: column, type, isGuessed: given === undefined, decimal });
  }
  const format =
    flags.tsFormat ?? (timeIndex === undefined ? 's' : guessTimeFormat(cells(timeIndex), names[timeIndex]));
  const named =
    flags.memberIds === undefined
      ? indexes.some((index) => hasNames(cells(index), separator))
      : flags.memberIds === 'name';
  const time = { index: timeIndex, format, missing: flags.ts };
  return { names, time, members: { indexes, separator, named }, properties, left, ambiguous };
}

function textsOf(cells: readonly unknown[]): string[] {
  return cells.flatMap((cell) => {
    const text = typeof cell === 'string' ? cell.trim() : '';
    return text === '' || isNullWord(text) ? [] : [text];
  });
}

function timeColumn(sample: Sample, flags: RowFlags): number | undefined {
  const { names, rows } = sample;
  const { tsColumn, tsFormat, memberColumn, memberColumns } = flags;
  if (tsColumn !== undefined) return columnIndex(names, tsColumn, '--ts-column');
  const members = [...(memberColumns ?? []), ...(memberColumn === undefined ? [] : [memberColumn])];
  const guessed = guessTimeColumns({ names, rows, members, format: tsFormat, isNeeded: flags.ts === undefined });
  if (guessed.length === 1) return guessed[0]!;
  if (guessed.length === 0 && flags.ts !== undefined) return undefined;
  if (guessed.length > 1)
    throw new UsageError(
      `Columns ${shown(guessed.map((index) => names[index]!))} could each be the time; name the one that is in --ts-column.`,
    );
  throw new UsageError(
    `None of the columns (${shown(names)}) is called ${SOME_TIME_NAMES.join(', ')} or the like, in some languages, and holds times; name the one with the time in --ts-column, or give all edges one with --ts.`,
  );
}

function memberColumns(names: readonly string[], { memberColumn, memberColumns: several }: RowFlags): number[] {
  if (memberColumn !== undefined) return [columnIndex(names, memberColumn, '--member-column')];
  if (several !== undefined) return several.map((name) => columnIndex(names, name, '--member-columns'));
  const index = names.findIndex((name) => name.toLowerCase() === 'members');
  if (index >= 0) return [index];
  throw new UsageError(
    `None of the columns (${shown(names)}) is called members; name those with the nodes in --member-columns a,b, or the one with a list in --member-column.`,
  );
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

function typeOf(sample: Sample, index: number, decimal: Decimal | undefined): ColumnType {
  const types = new Set<ColumnType>();
  sample.rows.forEach((row, at) => {
    const cell = row[index] ?? null;
    const plain = decimal === undefined || typeof cell !== 'string' ? cell : plainNumber(cell, decimal);
    // A number with a comma has its quotes for the sake of the comma.
    const type = plain === undefined ? 'TEXT' : cellType(plain, plain === cell && sample.isText(at, index));
    if (type !== undefined) types.add(type);
  });
  return commonType(types);
}

const INTEGERS = /^\s*[+-]?\d{1,16}(\.0*)?\s*$/;

/** Some cell holds a node that is no integer. */
function hasNames(cells: readonly unknown[], separator: string | undefined): boolean {
  return cells.some((cell) => {
    if (cell === null || cell === '' || typeof cell === 'number' || typeof cell === 'bigint') return false;
    const parts =
      Array.isArray(cell) || ArrayBuffer.isView(cell)
        ? Array.from(cell as ArrayLike<unknown>)
        : partsOf(String(cell), separator);
    return parts.some((part) => {
      const text = String(part ?? '').trim();
      return text !== '' && !isNullWord(text) && !INTEGERS.test(text);
    });
  });
}

/** The nodes in one cell. `[1,2]` is a list of integers whatever the separator is. */
export function partsOf(cell: string, separator: string | undefined): string[] {
  if (separator === undefined) return [cell];
  const text = cell.trim();
  if (/^\[[\d\s,+-]*\]$/.test(text)) return text.slice(1, -1).split(',');
  return text.split(separator);
}

/**
 * `Total (EUR)` -> `Total_EUR`; with a number appended when that is taken. Compared without case.
 */
export function nameFor(header: string, taken: Set<string>): string {
  const words = header.match(/[A-Za-z0-9_]+/g)?.join('_') ?? '';
  const start = /^[A-Za-z_]/.test(words) ? words : `p_${words}`;
  for (let number = EDGE_FIELDS.has(start.toLowerCase()) ? 2 : 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const name = start.slice(0, LONGEST_IDENTIFIER - suffix.length) + suffix;
    if (taken.has(name.toLowerCase()) || !IDENTIFIER.test(name)) continue;
    taken.add(name.toLowerCase());
    return name;
  }
}
