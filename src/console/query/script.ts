// Splits a text into statements, because the service runs one at a time.

import { bare, isMatch } from '../statement-words.ts';

/**
 * Returns the statements. Each is preceded by line ends and blanks that keep its line and column,
 * so that errors of the server refer to places in the whole text. A text that contains only
 * comments has no statement.
 */
export function statementsOf(text: string): string[] {
  const plain = bare(text);
  const statements: string[] = [];
  let start = 0;
  for (let end = plain.indexOf(';'); start < text.length; end = plain.indexOf(';', start)) {
    const next = end < 0 ? text.length : end + 1;
    const own = plain.slice(start, next).replace(/;$/, '');
    const blanks = own.length - own.trimStart().length;
    if (blanks < own.length) statements.push(placed(text, start + blanks, next));
    start = next;
  }
  return statements;
}

function placed(text: string, start: number, end: number): string {
  const before = text.slice(0, start).split('\n');
  // Columns count characters, some of which are two UTF-16 units long.
  const column = [...before.at(-1)!].length;
  return `${'\n'.repeat(before.length - 1)}${' '.repeat(column)}${text.slice(start, end)}`;
}

/** Returns true when running the text again changes nothing. */
export function onlyReads(text: string): boolean {
  const statements = statementsOf(text);
  return statements.length > 0 && statements.every(isMatch);
}
