// Finds the separator of lists in cells when the user does not specify it.

import { cellsOf, type ForeignTable } from './foreign-table.ts';

const CANDIDATES = [';', ',', '|', ' '];
/** Marks that rarely occur in names. */
const LIST_MARKS = [';', '|'] as const;
/** At least one in this many cells must contain a mark; fewer may contain it by chance. */
const LISTS_IN = 10;
/** If other columns contain nodes too, a mark in a single cell is taken for a part of a name. */
const LEAST_LISTS = 2;

export interface ListMark {
  readonly mark: string;
  /** Number of cells that contain the mark, out of `of` cells. */
  readonly count: number;
  readonly of: number;
}

/** Returns the separator for one column that is known to contain lists. */
export function separatorOf(table: ForeignTable, column: number): string {
  const usual = table.delimiter === ';' ? ',' : ';';
  const texts = textsIn(cellsOf(table, column));
  if (texts.some((text) => text.includes(usual))) return usual;
  // Names may contain commas and spaces, so a mark counts only if all cells are numbers between
  // such marks.
  const between = CANDIDATES.find(
    (mark) => texts.some((text) => text.includes(mark)) && texts.every((text) => isNumbers(text, mark)),
  );
  if (between !== undefined) return between;
  return texts.some((text) => text.includes('|')) ? '|' : usual;
}

/**
 * Returns the separator for several columns, some of which may contain lists, or undefined if each
 * cell is one node.
 */
export function commonSeparator(table: ForeignTable, columns: readonly number[]): string | undefined {
  const marks = columns.flatMap((column) => listMark(cellsOf(table, column), LEAST_LISTS) ?? []);
  return LIST_MARKS.find((mark) => marks.some((found) => found.mark === mark));
}

/**
 * Returns the mark that separates names in many of these cells, or undefined if no mark is
 * frequent.
 */
export function listMark(cells: readonly unknown[], least = 1): ListMark | undefined {
  const texts = textsIn(cells);
  const counts = LIST_MARKS.map((mark) => ({
    mark,
    count: texts.filter((text) => isBetween(text, mark)).length,
    of: texts.length,
  }));
  const [most] = counts.sort((a, b) => b.count - a.count);
  return most !== undefined && most.count >= least && most.count * LISTS_IN >= texts.length ? most : undefined;
}

function textsIn(cells: readonly unknown[]): string[] {
  return cells.flatMap((cell) => (typeof cell === 'string' && cell.trim() !== '' ? [cell.trim()] : []));
}

function isBetween(text: string, mark: string): boolean {
  return text.includes(mark) && text.split(mark).filter((part) => part.trim() !== '').length > 1;
}

function isNumbers(text: string, mark: string): boolean {
  return text.split(mark).every((part) => /^\s*[+-]?\d+\s*$/.test(part) || (part === '' && mark === ' '));
}
