// Tokens of a query, and errors that point to a place in it.

import { HedgerowError } from '../../errors.ts';

export type TokenKind = 'word' | 'name' | 'integer' | 'float' | 'text' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /**
   * `word`: as written. `name`: without its backquotes. `text`: the value, with escapes resolved.
   * Numbers: as written. `symbol`: itself. `end`: empty.
   */
  readonly value: string;
  /** A word in upper case; empty for other kinds. */
  readonly upper: string;
  /** Offset of the first character, in UTF-16 units from 0. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
}

/** An error at `offset`. `expected` is omitted from errors about the meaning of a name. */
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

/** The error for a token that is none of those expected. */
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

/** A text as shown in messages: truncated if long. */
export function shown(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}...`;
}

/** Both are 1-based. Columns count characters, not UTF-16 units. */
function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: [...lines[lines.length - 1]!].length + 1 };
}

const MOST_CHARACTERS = 60;
