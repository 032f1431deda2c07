// Makes the errors for statements that cannot be parsed or bound: the position, what was found, and
// what was expected.

import { HedgerowError } from '../errors.ts';
import { describeToken, lineAndColumn, type Token } from './lexer/token.ts';

const MOST_EXPECTED = 12;

/**
 * Returns an error at an offset in the statement's text. `detail` is the message without the
 * position.
 */
export function errorAt(
  text: string,
  offset: number,
  detail: string,
  expected?: readonly string[],
  code: 'syntax_error' | 'invalid_statement' | 'unknown_column' | 'table_not_found' = 'syntax_error',
): HedgerowError {
  const { line, column } = lineAndColumn(text, offset);
  return new HedgerowError(code, `Line ${line}, column ${column}: ${detail}`, {
    fields: { line, column, ...(expected === undefined ? {} : { expected: [...expected] }) },
  });
}

/**
 * Adds line and column to an error that a lower layer threw. Server faults (status 500 and above)
 * and errors that already have a position are returned unchanged.
 */
export function errorPlaced(text: string, offset: number, error: unknown): unknown {
  if (!(error instanceof HedgerowError) || error.status >= 500 || error.fields?.line !== undefined) return error;
  const { line, column } = lineAndColumn(text, offset);
  return new HedgerowError(error.code, `Line ${line}, column ${column}: ${error.message}`, {
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    fields: { ...error.fields, line, column },
    cause: error,
  });
}

/** Returns the error for a token that is not one of `expected`. */
export function unexpected(text: string, token: Token, expected: readonly string[]): HedgerowError {
  const unique = [...new Set(expected)];
  return errorAt(text, token.start, `found ${describeToken(token)}, but expected ${listed(unique)}.`, unique);
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'something else';
  if (names.length === 1) return names[0]!;
  const shown = names.slice(0, MOST_EXPECTED);
  if (shown.length < names.length) return `${shown.join(', ')} or others`;
  return `${shown.slice(0, -1).join(', ')} or ${shown[shown.length - 1]}`;
}
