// Rows as the core writes them, with ISO 8601 in place of their seconds.

import { isoTime } from '../iso-time.ts';

const NEWLINE = 10;
const COMMA = 44;
/** `{"id":`, and from the comma after the id on `,"event_ts":`. */
const BEFORE_ID = '{"id":'.length;
const BEFORE_TIME = ',"event_ts":'.length;
/** What a time may take beyond its digits: those of the year 285,428,751, a sign, quotes, and all that stands around. */
const MORE_BYTES = 32;

/** `lines`: whole rows, each with a newline after it. In JSON commas stand between rows, before the first one too where `rowsBefore` are not 0. */
export function isoRows(lines: Uint8Array, rowsBefore: number, ndjson: boolean): Uint8Array {
  const from = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  const text = Buffer.allocUnsafe(lines.length + MORE_BYTES * rowsOf(from));
  let length = 0;
  for (let at = 0; at < from.length; ) {
    const time = from.indexOf(COMMA, at + BEFORE_ID) + BEFORE_TIME;
    const afterTime = from.indexOf(COMMA, time);
    const end = from.indexOf(NEWLINE, afterTime);
    if (!ndjson && (at > 0 || rowsBefore > 0)) text[length++] = COMMA;
    length += from.copy(text, length, at, time);
    length += text.write(`"${isoTime(Number(from.toString('latin1', time, afterTime)))}"`, length, 'latin1');
    length += from.copy(text, length, afterTime, end);
    if (ndjson) text[length++] = NEWLINE;
    at = end + 1;
  }
  return text.subarray(0, length);
}

function rowsOf(lines: Buffer): number {
  let rows = 0;
  for (let at = lines.indexOf(NEWLINE); at >= 0; at = lines.indexOf(NEWLINE, at + 1)) rows++;
  return rows;
}
