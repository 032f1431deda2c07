// The separator of lists in cells, where nobody names it.

import { cellsOf, type ForeignTable } from './foreign-table.ts';

const CANDIDATES = [';', ',', '|', ' '];
/** Marks that hardly a name holds. */
const LIST_MARKS = [';', '|'] as const;
/** One cell in this many may contain a mark by chance. */
const LISTS_IN = 10;
/** Where other columns hold nodes too, a single cell with a mark is a name that holds one. */
const LEAST_LISTS = 2;

export interface ListMark {
  readonly mark: string;
  /** Cells that hold it. */
  readonly count: number;
  readonly of: number;
}

/** Of one column that is known to hold lists. */
export function separatorOf(table: ForeignTable, column: number): string {
  const usual = table.delimiter === ';' ? ',' : ';';
  const texts = textsIn(cellsOf(table, column));
  if (texts.some((text) => text.includes(usual))) return usual;
  // Names may hold commas and spaces: those count between numbers alone.
  const between = CANDIDATES.find(
    (mark) => texts.some((text) => text.includes(mark)) && texts.every((text) => isNumbers(text, mark)),
  );
  if (between !== undefined) return between;
  return texts.some((text) => text.includes('|')) ? '|' : usual;
}

/** Of several columns, some of which may hold lists; undefined: each cell is one node. */
export function commonSeparator(table: ForeignTable, columns: readonly number[]): string | undefined {
  const marks = columns.flatMap((column) => listMark(cellsOf(table, column), LEAST_LISTS) ?? []);
  return LIST_MARKS.find((mark) => marks.some((found) => found.mark === mark));
}

/** The mark between names in many of these cells; undefined: in few of them. */
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
