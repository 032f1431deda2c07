// A token: the smallest unit of a statement, with its position in the text.

import { shown } from '../shown.ts';

export type TokenKind = 'word' | 'name' | 'integer' | 'float' | 'text' | 'parameter' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /**
   * For a `word`, the word as written; `upper` contains it in capitals. For a `name`, the name
   * inside the backquotes. For a `text`, its value with escapes resolved. For a `parameter`, its
   * name without `$`. For a `symbol`, the symbol itself. For `integer` and `float`, the number as
   * written. Empty for `end`.
   */
  readonly value: string;
  /** A word in capitals; empty for other kinds. */
  readonly upper: string;
  /** Offset of the first character, in UTF-16 units from 0. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
  /**
   * For the symbol `[`, if lists are read whole: the long list of plain values that it begins. The
   * token then ends after the closing bracket.
   */
  readonly list?: PlainList;
}

/** The items of a list, which are plain values of one type. */
export interface PlainList {
  readonly values: readonly (number | string)[];
  readonly type: 'integer' | 'real' | 'text';
  /** Start and end of each value in the statement's text: two offsets per value. */
  readonly places: readonly number[];
}

/** Returns the 1-based line and column of an offset. Columns count characters, not UTF-16 units. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  let column = 1;
  for (const _ of text.slice(lineStart, offset)) column += 1;
  return { line, column };
}

/** Returns a token as error messages show it. */
export function describeToken(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'the end of the statement';
    case 'text':
      return `the text ${JSON.stringify(shown(token.value))}`;
    case 'parameter':
      return `$${shown(token.value)}`;
    case 'name':
      return `\`${shown(token.value)}\``;
    default:
      return JSON.stringify(shown(token.value));
  }
}
