// Rewrites rows that the core has encoded: replaces their epoch seconds by times in ISO 8601.

import type { AnswerFormat } from '../http/index.ts';
import { isoTime } from '../iso-time.ts';
import { isoRow } from './edge-body.ts';

const NEWLINE = 10;
const COMMA = 44;
/** Lengths of the texts before the id and between the id and the time. */
const BEFORE_ID = '{"id":'.length;
const BEFORE_TIME = ',"event_ts":'.length;
/**
 * Upper bound for the bytes that a time adds: the digits of the year 285,428,751, a sign, quotes
 * and the fixed characters.
 */
const MORE_BYTES = 32;

/**
 * Returns the rewritten rows. `lines` contains complete rows, each followed by a newline. In the
 * format `json`, the result has commas between rows, and one before the first row if `rowsBefore`
 * is not 0. `end` is the column of the ends of intervals, if the table has them; its rows are then
 * parsed, because the end may stand after any text.
 */
export function isoRows(
  lines: Uint8Array,
  rowsBefore: number,
  format: AnswerFormat['rows'],
  end: string | undefined,
): Uint8Array {
  if (end !== undefined) return parsedRows(lines, rowsBefore, format, end);
  const from = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  const text = Buffer.allocUnsafe(lines.length + MORE_BYTES * rowsOf(from));
  let length = 0;
  for (let at = 0; at < from.length; ) {
    const time = from.indexOf(COMMA, at + BEFORE_ID) + BEFORE_TIME;
    const afterTime = from.indexOf(COMMA, time);
    const end = from.indexOf(NEWLINE, afterTime);
    if (format === 'json' && (at > 0 || rowsBefore > 0)) text[length++] = COMMA;
    length += from.copy(text, length, at, time);
    length += text.write(`"${isoTime(Number(from.toString('latin1', time, afterTime)))}"`, length, 'latin1');
    length += from.copy(text, length, afterTime, end);
    if (format === 'ndjson') text[length++] = NEWLINE;
    at = end + 1;
  }
  return text.subarray(0, length);
}

function parsedRows(lines: Uint8Array, rowsBefore: number, format: AnswerFormat['rows'], end: string): Uint8Array {
  const rows = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString().split('\n').slice(0, -1);
  const texts = rows.map((row) => JSON.stringify(isoRow(JSON.parse(row) as Record<string, unknown>, end)));
  if (format === 'ndjson') return Buffer.from(texts.map((text) => `${text}\n`).join(''));
  return Buffer.from(`${rowsBefore > 0 && texts.length > 0 ? ',' : ''}${texts.join(',')}`);
}

function rowsOf(lines: Buffer): number {
  let rows = 0;
  for (let at = lines.indexOf(NEWLINE); at >= 0; at = lines.indexOf(NEWLINE, at + 1)) rows++;
  return rows;
}
