// What a statement takes away without naming it, from its text alone: the shell and the console ask
// before they run it.

import { bare } from './bare-statement.ts';

const DELETE_WHERE = /^\s*DELETE\s+FROM\s+\w+\s+WHERE\b/i;
const UPDATE_SET = /^\s*UPDATE\s+\w+\s+SET\b/i;
/**
 * A clause after a value, not a column of that name: a column follows an operator or a word that
 * needs a value, or precedes an equals sign.
 */
const WHERE = /(?<!(?:^|[,=+\-*/%(.<>[$]|\b(?:AND|OR|NOT|IN|BETWEEN|CONTAINS|WITH))\s*)\bWHERE\b(?!\s*(?:=|;|$))/i;
const SHOWN = 100;

/**
 * Why to ask before one statement runs: it drops something, or changes or removes every edge of a
 * table. Undefined: it does not.
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
