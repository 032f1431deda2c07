// Formats the error of a statement: its message and, if the place of the error is known, that line
// of the statement with a caret below the place.

import { HedgerowApiError, HedgerowConnectionError } from '../../client/index.ts';
import { messageWithSettings } from '../../config.ts';
import { HedgerowError } from '../../errors.ts';
import { displayWidth } from '../display-width.ts';
import { printable } from '../table-text.ts';

/** Number of characters shown on either side of the place. */
const AROUND = 60;

/** Returns one or more lines, each with a newline. */
export function errorText(error: unknown, statement: string): string {
  const place = placeOf(error);
  return `${printable(sentenceOf(error))}\n${place === undefined ? '' : placeText(statement, place.line, place.column)}`;
}

function sentenceOf(error: unknown): string {
  if (error instanceof HedgerowApiError) {
    // The HTTP parser of the server sent this answer, whose body is not in the format of the
    // service.
    if (error.statusCode === 431)
      return 'The path and headers of the request are too long for the server, which takes about 16 KB: a name or a query parameter is too long.';
    return error.statusCode === 401
      ? `${error.detail} Give a valid key with --api-key, or in HEDGEROW_API_KEY.`
      : error.detail;
  }
  if (error instanceof HedgerowConnectionError)
    return `${error.message} Start a server with hedgerow serve, or name its directory with --data DIR.`;
  if (error instanceof RangeError && error.message.includes('call stack'))
    return 'The given values are nested too deeply; give values with at most 100 levels.';
  if (error instanceof HedgerowError) return messageWithSettings(error);
  return error instanceof Error ? error.message : String(error);
}

function placeOf(error: unknown): { line: number; column: number } | undefined {
  const { line, column } =
    error instanceof HedgerowApiError ? error : error instanceof HedgerowError ? (error.fields ?? {}) : {};
  return typeof line === 'number' && typeof column === 'number' ? { line, column } : undefined;
}

/**
 * Returns the line of the statement and a caret below the place; cuts a long line around the place.
 * Columns count characters, from 1.
 */
export function placeText(statement: string, line: number, column: number): string {
  const text = statement.split('\n')[line - 1];
  if (text === undefined) return '';
  const characters = [...text.replace(/\r$/, '')];
  const at = Math.min(column - 1, characters.length);
  const start = Math.max(0, at - AROUND);
  const before = (start > 0 ? '…' : '') + shown(characters.slice(start, at));
  const behind = shown(characters.slice(at, at + AROUND)) + (characters.length > at + AROUND ? '…' : '');
  return `  ${before}${behind}\n  ${' '.repeat(displayWidth(before))}^\n`;
}

function shown(characters: readonly string[]): string {
  return printable(characters.join('').replaceAll('\t', ' '));
}
