// Formats what inspectors show to people: problems, tables of cells, times.

import type { Problem } from '../../engine/verify/index.ts';

export function problemText({ file, offset, what }: Problem): string {
  return what.includes(file) ? `PROBLEM ${what}` : `PROBLEM ${file} at offset ${offset}: ${what}`;
}

/** Formats rows of cells as lines; columns of numbers are aligned to the right. */
export function tableText(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const isNumber = head.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  return cells.map((row) =>
    row
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}

/** Formats epoch seconds as UTC; a number outside the range of dates stays a number. */
export function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace('.000Z', 'Z');
}
