// The beginning of a file of cells: what parts them, what its columns are called, and whether its
// first line names them at all.

import { dayAndMonth, secondsIn } from './times.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** A first line that names the delimiter, as Excel writes and takes it. */
export const DELIMITER_LINE = /^"?sep=(.)"?(?:\r?\n|\r)/i;
const HEAD_LINES = 50;

/** The one that the first line that is not blank has most of, outside of quotes. */
export function delimiterOf(head: string, isHeadless: boolean): string {
  const line = head.split(head.includes('\n') ? '\n' : '\r', HEAD_LINES).find((each) => each.trim() !== '') ?? '';
  const parts = line.split('"');
  // A quote that is alone is part of a name, or its cell has several lines.
  const outside = parts.length % 2 === 0 ? line : parts.filter((_, index) => index % 2 === 0).join('');
  // Between rows with decimal commas, as many of another character are more.
  const candidates = isHeadless ? DELIMITERS.toReversed() : DELIMITERS;
  const counts = candidates.map((each) => outside.split(each).length - 1);
  return candidates[counts.indexOf(Math.max(...counts))]!;
}

/** Nothing, or nothing but spaces. */
export function isBlank(cells: readonly (string | null)[]): boolean {
  return cells.length === 1 && (cells[0] === null || cells[0]!.trim() === '');
}

/** A first line that names no columns: it is all numbers and times, or holds a time. */
export function looksLikeRow(names: readonly string[]): boolean {
  return isOfNumbers(names) || names.some(isTime);
}

/** The same where one of the names is known to be that of a column. */
export function isOfNumbers(names: readonly string[]): boolean {
  return names.every((name) => /^[+-]?[\d.:TZ/ -]*$/.test(name));
}

function isTime(name: string): boolean {
  return dayAndMonth(name) !== undefined || !Number.isNaN(secondsIn(name, 'iso'));
}

export interface ColumnNames {
  readonly names: readonly string[];
  /** What was done to them, a sentence each. */
  readonly warnings: readonly string[];
}

/** Each name but the empty one once, compared without case: `note` -> `note_2`. */
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
