// Defines the tokens of a query, and makes errors that give a place in the query.

import { HedgerowError } from '../../errors.ts';

export type TokenKind = 'word' | 'name' | 'integer' | 'float' | 'text' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /**
   * The text as written, except that a `name` lacks its backquotes and a `text` lacks its quotation
   * marks and has its escapes resolved. Empty for `end`.
   */
  readonly value: string;
  /** The value in upper case if the token is a word, otherwise empty. */
  readonly upper: string;
  /** Offset of the first character, in UTF-16 units from 0. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
}

/** Returns an error at `offset`. Errors about the meaning of a name have no `expected`. */
export function errorAt(
  text: string,
  offset: number,
  detail: string,
  expected?: readonly string[],
  code: 'syntax_error' | 'invalid_statement' | 'unknown_column' = 'syntax_error',
): HedgerowError {
  const { line, column } = lineAndColumn(text, offset);
  return new HedgerowError(code, `Line ${line}, column ${column}: ${detail}`, {
    fields: { line, column, ...(expected === undefined ? {} : { expected: [...expected] }) },
  });
}

/** Returns the error for a token that is not one of those expected. */
export function unexpected(text: string, token: Token, expected: readonly string[]): HedgerowError {
  const unique = [...new Set(expected)];
  return errorAt(text, token.start, `found ${describeToken(token)}, but expected ${listed(unique)}.`, unique);
}

function listed(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? 'something else';
  return `${names.slice(0, -1).join(', ')} or ${names[names.length - 1]}`;
}

function describeToken({ kind, value }: Token): string {
  if (kind === 'end') return 'the end of the query';
  if (kind === 'name') return `the name ${JSON.stringify(shown(value))}`;
  return kind === 'text' ? `the text ${JSON.stringify(shown(value))}` : JSON.stringify(shown(value));
}

/** Returns a text as messages show it, truncated if it is long. */
export function shown(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}...`;
}

/** Returns line and column, counted from 1. Columns count characters, not UTF-16 units. */
function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: [...lines[lines.length - 1]!].length + 1 };
}

const MOST_CHARACTERS = 60;
