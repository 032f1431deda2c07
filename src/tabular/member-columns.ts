// Guesses which columns of a table contain the nodes of its edges when the user does not specify
// them.
//
// Unambiguous names are tried first: a list called `members` or `nodes`, or both sides of an edge
// (`sender` and `recipient`). Likely columns are tried next: a column of lists, then several
// columns named after things (`customer`, `product_id`), then two columns of integers that share
// values.

import { cellType, isNullWord } from './cell-types.ts';
import { cellsOf, type ForeignTable } from './foreign-table.ts';
import { commonSeparator, listMark, separatorOf } from './list-separators.ts';
import { nodeNumber } from './nodes.ts';
import { dayAndMonth, secondsIn } from './times.ts';
import { isValueName } from './value-columns.ts';
import { ROLES, saysAmount, saysId, saysList, saysOwnId, sideOf, wordsOf } from './words.ts';

export interface MemberGuess {
  /** Indexes of columns. Empty if none of the columns looks like nodes. */
  readonly indexes: readonly number[];
  /**
   * True if the names leave no doubt. A guess must be certain if it is used before a person has
   * seen it.
   */
  readonly isCertain: boolean;
  /** The separator between the nodes in one cell, or undefined if each cell is one node. */
  readonly separator: string | undefined;
}

const LOOKED_AT = 200;
/**
 * Two columns of numbers are taken for nodes if one in this many values of one column occurs in the
 * other.
 */
const SHARED_IN = 10;
const NONE: MemberGuess = { indexes: [], isCertain: false, separator: undefined };

export interface MemberSearch {
  /** Columns that may contain nodes: neither the time nor the row's own id. */
  readonly free: readonly number[];
  /** Whether cells may contain lists, as in files. Cells of a database hold one value each. */
  readonly mayHoldLists: boolean;
}

export function guessMembers(table: ForeignTable, { free, mayHoldLists }: MemberSearch): MemberGuess {
  const sample = { ...table, rows: table.rows.slice(0, LOOKED_AT) };
  const possible = free.filter((index) => isValueName(table.names[index]!) && canBeNode(sample, index));
  const isMembers = (index: number) => table.names[index]!.toLowerCase() === 'members';
  const list = mayHoldLists
    ? (free.find(isMembers) ?? possible.find((index) => saysList(table.names[index]!)))
    : undefined;
  if (list !== undefined) {
    const isCertain = isMembers(list) || holdsLists(sample, list);
    return { indexes: [list], isCertain, separator: separatorOf(table, list) };
  }
  const sides = sidesOf(table.names, possible);
  if (sides.length > 0) return { indexes: sides, isCertain: true, separator: commonSeparator(table, sides) };
  const lists = mayHoldLists ? possible.find((index) => holdsLists(sample, index)) : undefined;
  if (lists !== undefined) return { indexes: [lists], isCertain: false, separator: separatorOf(table, lists) };
  const things = possible.filter((index) => saysId(table.names[index]!) && !saysAmount(table.names[index]!));
  if (things.length > 1) return { indexes: things, isCertain: false, separator: commonSeparator(table, things) };
  const [first, second, ...more] = possible.filter((index) => holdsNumbers(sample, index));
  if (second === undefined || more.length > 0 || !shareValues(sample, first!, second)) return NONE;
  return { indexes: [first!, second], isCertain: false, separator: undefined };
}

/**
 * Returns the columns for both sides of an edge and for what is between them, or an empty list if
 * one side is missing.
 */
function sidesOf(names: readonly string[], possible: readonly number[]): number[] {
  const [from, to, between] = ROLES.map((role) => {
    const found = possible.filter((index) => sideOf(names[index]!) === role && !saysAmount(names[index]!));
    // Only one of `from_station_id` and `from_station_name` is the node.
    const bare = found.filter((index) => wordsOf(names[index]!).length === 1);
    const ids = found.filter((index) => saysOwnId(names[index]!));
    return bare.length > 0 ? bare : ids.length > 0 ? ids : found.slice(0, 1);
  });
  if (from!.length === 0 || to!.length === 0) return [];
  return [...from!, ...to!, ...between!].sort((a, b) => a - b);
}

/** True unless more than half of the cells are times, fractions or booleans. */
function canBeNode(table: ForeignTable, index: number): boolean {
  const cells = presentCells(table, index);
  const others = cells.filter((cell) => {
    const type = cellType(cell, false);
    return type === 'BOOLEAN' || (type === 'REAL' && Number.isNaN(nodeNumber(String(cell)))) || isTime(cell);
  });
  return others.length * 2 <= cells.length;
}

function isTime(cell: unknown): boolean {
  return typeof cell === 'string' && (dayAndMonth(cell) !== undefined || !Number.isNaN(secondsIn(cell, 'iso')));
}

function holdsLists(table: ForeignTable, index: number): boolean {
  const cells = cellsOf(table, index);
  return cells.some((cell) => Array.isArray(cell) || ArrayBuffer.isView(cell)) || listMark(cells) !== undefined;
}

/**
 * Returns whether a column contains only integers and is not named like an amount. A single such
 * column is more often an amount than a node, so the caller needs two of them.
 */
function holdsNumbers(table: ForeignTable, index: number): boolean {
  const cells = presentCells(table, index);
  const areNumbers = cells.every((cell) => !Number.isNaN(nodeNumber(String(cell))));
  return cells.length > 0 && areNumbers && !saysAmount(table.names[index]!);
}

/**
 * True if the two columns share values. The two ends of edges do; a temperature and a humidity
 * hardly do.
 */
function shareValues(table: ForeignTable, first: number, second: number): boolean {
  const [one, other] = [first, second].map((index) => new Set(presentCells(table, index).map(String)));
  const shared = [...one!].filter((value) => other!.has(value)).length;
  return shared > 0 && shared * SHARED_IN >= Math.min(one!.size, other!.size);
}

function presentCells(table: ForeignTable, index: number): unknown[] {
  return cellsOf(table, index).filter((cell) => cell !== null && !isNothing(cell));
}

function isNothing(cell: unknown): boolean {
  return typeof cell === 'string' && (cell.trim() === '' || isNullWord(cell.trim()));
}
