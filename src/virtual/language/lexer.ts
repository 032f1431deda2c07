// Splits the text of a query into tokens.

import type { HedgerowError } from '../../errors.ts';
import { isWellFormed } from '../../model/text.ts';
import { MAX_DIGITS, MAX_LITERAL_LENGTH, MAX_QUERY_LENGTH, MAX_WIDE_INTEGER } from './limits.ts';
import { errorAt, shown, type Token, type TokenKind } from './token.ts';

/**
 * Returns all tokens, of which the last is an `end` token. Throws `syntax_error`. Takes time linear
 * in the length of the text.
 */
export function tokenize(text: string): Token[] {
  if (text.length > MAX_QUERY_LENGTH)
    throw errorAt(text, 0, `the query has ${text.length} characters, more than the limit of ${MAX_QUERY_LENGTH}.`);
  const tokens: Token[] = [];
  let at = 0;
  while (true) {
    at = skipBlanks(text, at);
    if (at >= text.length) {
      tokens.push(token('end', '', text.length, text.length));
      return tokens;
    }
    const next = readToken(text, at);
    tokens.push(next);
    at = next.end;
  }
}

function token(kind: TokenKind, value: string, start: number, end: number): Token {
  return { kind, value, upper: kind === 'word' ? value.toUpperCase() : '', start, end };
}

function readToken(text: string, at: number): Token {
  const word = matched(WORD, text, at);
  if (word !== undefined) return token('word', word, at, at + word.length);
  const number = matched(NUMBER, text, at);
  if (number !== undefined) return readNumber(text, at, number);
  const first = text[at]!;
  if (first === "'" || first === '"') return readText(text, at, first);
  if (first === '`') return readName(text, at);
  const symbol = matched(SYMBOL, text, at);
  if (symbol !== undefined) return token('symbol', symbol, at, at + symbol.length);
  if (first === '$') throw errorAt(text, at, 'a query of a virtual graph has no parameters; write the value itself.');
  const character = String.fromCodePoint(text.codePointAt(at)!);
  throw errorAt(text, at, `the character ${JSON.stringify(character)} has no meaning here.`);
}

/** Returns the text that a sticky pattern matches exactly at `at`. */
function matched(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?/y;
const SYMBOL = /<=|>=|<>|!=|[()[\]{},:.;=<>+*/%-]/y;
const BLANKS = /[ \t\n\v\f\r\u00a0\ufeff]*/y;

/** Returns the first position from `at` on that is neither blank nor inside a comment. */
function skipBlanks(text: string, at: number): number {
  let next = at;
  while (true) {
    next += matched(BLANKS, text, next)!.length;
    if (text.startsWith('//', next)) {
      const end = text.indexOf('\n', next);
      next = end < 0 ? text.length : end + 1;
    } else if (text.startsWith('/*', next)) {
      const end = text.indexOf('*/', next + 2);
      if (end < 0) throw errorAt(text, next, 'this comment does not end; close it with */.', ['*/']);
      next = end + 2;
    } else {
      return next;
    }
  }
}

function readNumber(text: string, start: number, value: string): Token {
  const end = start + value.length;
  const rest = matched(WORD, text, end);
  if (rest !== undefined)
    throw errorAt(
      text,
      start,
      `${JSON.stringify(shown(value + rest))} is neither a number nor a name; names start with a letter or _.`,
    );
  const isFloat = /[.eE]/.test(value);
  if (isFloat && !Number.isFinite(Number(value)))
    throw errorAt(text, start, `the number ${shown(value)} is too large.`);
  if (!isFloat && value.length > MAX_DIGITS)
    throw errorAt(text, start, `the integer ${shown(value)} has more than ${MAX_DIGITS} digits.`);
  if (!isFloat && BigInt(value) > MAX_WIDE_INTEGER)
    throw errorAt(text, start, `the integer ${value} is larger than ${MAX_WIDE_INTEGER}, the largest one of 128 bits.`);
  return token(isFloat ? 'float' : 'integer', value, start, end);
}

function readName(text: string, start: number): Token {
  const end = text.indexOf('`', start + 1);
  if (end < 0) throw errorAt(text, start, 'this name does not end; close it with a backquote.', ['`']);
  if (end === start + 1) throw errorAt(text, start, 'a name in backquotes has at least one character.', ['a name']);
  return token('name', text.slice(start + 1, end), start, end + 1);
}

/**
 * Reads a quoted text. It has the escapes that texts in statements have: \\ \' \" \n \r \t \uXXXX
 * and a doubled quotation mark.
 */
function readText(text: string, start: number, quote: string): Token {
  const stop = quote === "'" ? /['\\]/g : /["\\]/g;
  let value = '';
  let from = start + 1;
  while (true) {
    stop.lastIndex = from;
    const found = stop.exec(text);
    if (found === null) throw errorAt(text, start, `this text does not end; close it with ${quote}.`, [quote]);
    const at = found.index;
    value += text.slice(from, at);
    if (found[0] === '\\') {
      value += escaped(text, at);
      from = at + (text[at + 1] === 'u' ? 6 : 2);
    } else if (text[at + 1] === quote) {
      value += quote;
      from = at + 2;
    } else {
      return textToken(text, value, start, at + 1);
    }
  }
}

function textToken(text: string, value: string, start: number, end: number): Token {
  if (value.length > MAX_LITERAL_LENGTH)
    throw errorAt(text, start, `this text has more than ${MAX_LITERAL_LENGTH} characters, the limit of a literal.`);
  if (!isWellFormed(value))
    throw errorAt(text, start, 'this text is not valid Unicode: it holds half of a surrogate pair.');
  return token('text', value, start, end);
}

/** Returns the character that the escape at `at` denotes. */
function escaped(text: string, at: number): string {
  const simple = ESCAPES.get(text[at + 1] ?? '');
  if (simple !== undefined) return simple;
  const hex = text.slice(at + 2, at + 6);
  if (text[at + 1] === 'u' && /^[0-9A-Fa-f]{4}$/.test(hex)) return String.fromCharCode(Number.parseInt(hex, 16));
  throw unknownEscape(text, at);
}

const ESCAPES = new Map([
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

function unknownEscape(text: string, at: number): HedgerowError {
  const expected = ['\\\\', "\\'", '\\"', '\\n', '\\r', '\\t', '\\uXXXX'];
  return errorAt(text, at, `this escape is unknown; there are ${expected.join(' ')}.`, expected);
}
