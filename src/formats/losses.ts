// Finds statements that delete or change data on a large scale, from the text of a statement alone.
// The shell and the console ask for confirmation before they run such a statement.

import { bare } from './bare-statement.ts';

const DELETE_WHERE = /^\s*DELETE\s+FROM\s+\w+\s+WHERE\b/i;
const UPDATE_SET = /^\s*UPDATE\s+\w+\s+SET\b/i;
/**
 * Matches the keyword WHERE but not a column of that name. The keyword follows a value. A column
 * name follows an operator or a word that needs a value, or precedes an equals sign.
 */
const WHERE = /(?<!(?:^|[,=+\-*/%(.<>[$]|\b(?:AND|OR|NOT|IN|BETWEEN|CONTAINS|WITH))\s*)\bWHERE\b(?!\s*(?:=|;|$))/i;
const SHOWN = 100;

/**
 * Returns the reason to ask before the statement runs: it drops something, or it changes or removes
 * every edge of a table. Returns undefined for other statements.
 */
export function lossOf(statement: string): string | undefined {
  const plain = bare(statement);
  const start = plain.search(/\S/);
  const [, word = '', rest = ''] = /^\s*(\w+)([\s\S]*)$/.exec(plain) ?? [];
  const shown = statement
    .slice(Math.max(0, start))
    .replaceAll(/\s+/g, ' ')
    .replace(/ ?;? ?$/, '');
  const text = shown.length > SHOWN ? `${shown.slice(0, SHOWN)} ...` : shown;
  switch (word.toUpperCase()) {
    case 'DROP':
      return `${text}: this cannot be undone.`;
    case 'ALTER':
      return /^\s+TABLE\s+\S+\s+DROP\b/i.test(rest) ? `${text}: this cannot be undone.` : undefined;
    case 'DELETE':
      return DELETE_WHERE.test(plain) ? undefined : `${text}: without WHERE this removes every edge of the table.`;
    case 'UPDATE':
      return WHERE.test(plain.replace(UPDATE_SET, ''))
        ? undefined
        : `${text}: without WHERE this changes every edge of the table.`;
    default:
      return undefined;
  }
}
