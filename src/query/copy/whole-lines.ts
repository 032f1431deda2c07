// Splits the bytes of a text file into blocks of whole lines, and by default checks that they are
// valid UTF-8. A byte order mark at the start is removed.

import { isUtf8 } from 'node:buffer';
import { HedgerowError } from '../../errors.ts';
import { errorAtRow } from './rows.ts';

/** Maximum size in bytes of a line. */
export const MAX_LINE_BYTES = 64 * 2 ** 20;

export interface LineBlock {
  /** Whole lines: they end after a line break or at the end of the file. */
  readonly bytes: Buffer;
  /** The 1-based number of the first line. */
  readonly firstLine: number;
}

const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Yields blocks of whole lines. Throws `invalid_input`, with the line number, for a line that is
 * too long or not UTF-8. If `isUtf8Only` is false, UTF-8 is not checked.
 */
export async function* wholeLines(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  maxLineBytes: number = MAX_LINE_BYTES,
  isUtf8Only = true,
): AsyncGenerator<LineBlock, void, undefined> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let line = 1;
  let isFirst = true;
  const take = (last: Buffer): LineBlock => {
    const all = rest.length === 0 ? last : Buffer.concat([...rest, last]);
    const bytes = isFirst && all.subarray(0, 3).equals(BYTE_ORDER_MARK) ? all.subarray(3) : all;
    isFirst = false;
    if (isUtf8Only) checkUtf8(bytes, line);
    const block = { bytes, firstLine: line };
    line += newlinesIn(bytes);
    return block;
  };
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      yield take(chunk.subarray(0, end));
      rest = [];
      restBytes = 0;
    }
    if (end === chunk.length) continue;
    rest.push(chunk.subarray(end));
    restBytes += chunk.length - end;
    if (restBytes > maxLineBytes) throw badLine(line, `the line is longer than ${maxLineBytes} bytes.`);
  }
  if (restBytes > 0) yield take(Buffer.alloc(0));
}

function checkUtf8(bytes: Buffer, firstLine: number): void {
  if (isUtf8(bytes)) return;
  let line = firstLine;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(NEWLINE, start);
    const piece = bytes.subarray(start, end < 0 ? bytes.length : end);
    if (!isUtf8(piece)) break;
    start += piece.length + 1;
  }
  throw badLine(line, 'the line is not valid UTF-8.');
}

function newlinesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

function badLine(line: number, what: string): HedgerowError {
  return errorAtRow(new HedgerowError('invalid_input', what), 'line', line);
}
