// Examines the beginning of a file of cells: its delimiter, the names of its columns, and whether
// the first line contains names at all.

import { dayAndMonth, secondsIn } from './times.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** A first line that names the delimiter. Excel writes and accepts such lines. */
export const DELIMITER_LINE = /^"?sep=(.)"?(?:\r?\n|\r)/i;
const HEAD_LINES = 50;

/**
 * Returns the delimiter that is most frequent, outside quotes, in the first line that is not blank.
 */
export function delimiterOf(head: string, isHeadless: boolean): string {
  const line = head.split(head.includes('\n') ? '\n' : '\r', HEAD_LINES).find((each) => each.trim() !== '') ?? '';
  const parts = line.split('"');
  // A lone quote is part of a name, or belongs to a cell of several lines.
  const outside = parts.length % 2 === 0 ? line : parts.filter((_, index) => index % 2 === 0).join('');
  // A row of numbers may contain as many decimal commas as delimiters. The comma is then the last
  // candidate, so that it does not win a tie.
  const candidates = isHeadless ? DELIMITERS.toReversed() : DELIMITERS;
  const counts = candidates.map((each) => outside.split(each).length - 1);
  return candidates[counts.indexOf(Math.max(...counts))]!;
}

/** True if the line is empty or contains only spaces. */
export function isBlank(cells: readonly (string | null)[]): boolean {
  return cells.length === 1 && (cells[0] === null || cells[0]!.trim() === '');
}

/**
 * True if a first line contains no column names: it consists of numbers and times only, or one of
 * its cells is a time.
 */
export function looksLikeRow(names: readonly string[]): boolean {
  return isOfNumbers(names) || names.some(isTime);
}

/**
 * True if the line consists of numbers and times only. Use this instead of `looksLikeRow` when one
 * of the names is known to be a column.
 */
export function isOfNumbers(names: readonly string[]): boolean {
  return names.every((name) => /^[+-]?[\d.:TZ/ -]*$/.test(name));
}

function isTime(name: string): boolean {
  return dayAndMonth(name) !== undefined || !Number.isNaN(secondsIn(name, 'iso'));
}

export interface ColumnNames {
  readonly names: readonly string[];
  /** The changes that were made to the names, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Makes the names unique without regard to case: the second `note` becomes `note_2`. Empty names
 * stay empty.
 */
export function columnNames(given: readonly string[]): ColumnNames {
  const taken = new Set(given.map((name) => name.toLowerCase()));
  const seen = new Set<string>();
  const warnings: string[] = [];
  const names = given.map((name, index) => {
    if (name === '' || !seen.has(name.toLowerCase())) {
      seen.add(name.toLowerCase());
      return name;
    }
    const own = ownName(name, taken);
    warnings.push(`Column ${index + 1} is called ${name} like one before it, and is read as ${own}.`);
    return own;
  });
  return { names, warnings };
}

function ownName(name: string, taken: Set<string>): string {
  for (let number = 2; ; number++) {
    const own = `${name}_${number}`;
    if (taken.has(own.toLowerCase())) continue;
    taken.add(own.toLowerCase());
    return own;
  }
}
