// Lays out a table for people: each column is as wide as its widest cell, and control characters
// are escaped.

import { displayWidth, padEnd } from './display-width.ts';

const GAP = '  ';

/** Returns a line for the header and for each row; the last column is not padded. */
export function tableText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((cells) => cells.map(printable));
  const widths = header.map((_, column) => Math.max(...lines.map((cells) => displayWidth(cells[column] ?? ''))));
  return lines
    .map((cells) => {
      const padded = cells.map((cell, column) => padEnd(cell, widths[column]!));
      return `${padded.join(GAP).trimEnd()}\n`;
    })
    .join('');
}

/**
 * Escapes control characters, line separators, and characters that change the direction of text as
 * \uXXXX, so that text from an untrusted source cannot forge lines or control the terminal.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
