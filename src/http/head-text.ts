// Status lines and header values as text.

import { STATUS_CODES } from 'node:http';

const STATUS_LINES = new Map<number, string>();

export function statusLine(status: number): string {
  let line = STATUS_LINES.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    STATUS_LINES.set(status, line);
  }
  return line;
}

/** A line break in a value would start a header of its own. */
export function headerValue(value: string): string {
  let clean = '';
  for (const character of value) clean += character < ' ' || character > '~' ? ' ' : character;
  return clean;
}
