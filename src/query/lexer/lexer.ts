// Splits the text of a statement into tokens.

import type { HedgerowError } from '../../errors.ts';
import { isWellFormed } from '../../model/text.ts';
import { finish } from '../../schedule/steps.ts';
import { LONG_LIST, MAX_LIST_ITEMS, MAX_LITERAL_LENGTH, MAX_STATEMENT_LENGTH } from '../limits.ts';
import { errorAt } from '../syntax-error.ts';
import type { PlainList, Token, TokenKind } from './token.ts';

/**
 * Returns all tokens; the last one is an `end` token. Throws `syntax_error`. The time is linear in
 * the length of the text.
 */
export function tokenize(text: string): Token[] {
  return finish(tokenizing(text));
}

/** Number of tokens that are read between two pauses. This takes a millisecond or two. */
const TOKENS_A_STEP = 4096;

/**
 * Does the same as `tokenize`, but yields null at pauses. If `readsLists` is true, each long list
 * of plain values of one type is one token.
 */
export function* tokenizing(text: string, readsLists = false): Generator<null, Token[], void> {
  if (text.length > MAX_STATEMENT_LENGTH) {
    throw errorAt(
      text,
      0,
      `the statement has ${text.length} characters, more than the limit of ${MAX_STATEMENT_LENGTH}.`,
    );
  }
  // In an ASCII text, capitals have the same offsets as the original characters, so the whole text
  // is converted to capitals once instead of word by word.
  const capitals = ASCII.test(text) ? text.toUpperCase() : undefined;
  const tokens: Token[] = [];
  let at = 0;
  while (true) {
    at = skipBlanks(text, at);
    if (at >= text.length) {
      tokens.push(token('end', '', text.length, text.length));
      return tokens;
    }
    const code = text.charCodeAt(at);
    const list = readsLists && code === BRACKET ? yield* readList(text, at) : undefined;
    const next = list ?? (isLetter(code) ? readWord(text, at, capitals) : readOther(text, at));
    at = next.end;
    if (tokens.push(next) % TOKENS_A_STEP === 0) yield null;
  }
}

function token(kind: TokenKind, value: string, start: number, end: number): Token {
  return { kind, value, upper: '', start, end };
}

/**
 * Reads a long list of plain values of one type as one token, without a token for each value and
 * comma: a statement may contain a hundred thousand. Returns undefined for any other list, which
 * the parser reads from its single tokens.
 */
function* readList(text: string, start: number): Generator<null, Token | undefined, void> {
  const values: (number | string)[] = [];
  const places: number[] = [];
  let type: PlainList['type'] | undefined;
  let at = start;
  do {
    const from = skipBlanks(text, at + 1);
    const isNegative = text.charCodeAt(from) === MINUS;
    const next = plainToken(text, isNegative ? skipBlanks(text, from + 1) : from);
    if (next === undefined || (type !== undefined && next.type !== type)) return undefined;
    const { value, end } = next;
    if (isNegative && typeof value === 'string') return undefined;
    type = next.type;
    // -0 is 0: the integer zero has no sign.
    values.push(!isNegative ? value : type === 'integer' && value === 0 ? 0 : -(value as number));
    places.push(from, end);
    at = skipBlanks(text, end);
    if (values.length > MAX_LIST_ITEMS) return undefined;
    if (values.length % TOKENS_A_STEP === 0) yield null;
  } while (text.charCodeAt(at) === COMMA);
  if (text.charCodeAt(at) !== CLOSING_BRACKET || values.length < LONG_LIST) return undefined;
  return { ...token('symbol', '[', start, at + 1), list: { values, type, places } };
}

interface PlainToken {
  readonly value: number | string;
  readonly type: PlainList['type'];
  readonly end: number;
}

/** Reads a number or a text. Returns undefined for anything else, and for `'$name'`. */
function plainToken(text: string, at: number): PlainToken | undefined {
  const code = text.charCodeAt(at);
  if (code === QUOTE || code === DOUBLE_QUOTE) {
    const { value, end } = readText(text, at, code);
    return value.startsWith('$') ? undefined : { value, type: 'text', end };
  }
  if (!isDigit(code) && !(code === DOT && isDigit(text.charCodeAt(at + 1)))) return undefined;
  const { kind, value, end } = readNumber(text, at);
  return { value: Number(value), type: kind === 'integer' ? 'integer' : 'real', end };
}

/** Reads a token that is not a word. */
function readOther(text: string, at: number): Token {
  const code = text.charCodeAt(at);
  if (isDigit(code) || (code === DOT && isDigit(text.charCodeAt(at + 1)))) return readNumber(text, at);
  if (code === QUOTE || code === DOUBLE_QUOTE) return readText(text, at, code);
  if (code === DOLLAR) return readParameter(text, at);
  if (code === BACKQUOTE) return readName(text, at);
  if (isDoubled(code, text.charCodeAt(at + 1))) return token('symbol', text.slice(at, at + 2), at, at + 2);
  if (SYMBOLS.includes(text[at]!)) return token('symbol', text[at]!, at, at + 1);
  const character = String.fromCodePoint(text.codePointAt(at)!);
  throw errorAt(text, at, `the character ${JSON.stringify(character)} has no meaning here.`);
}

/** Returns whether two characters form one symbol: <= >= <> !=. */
function isDoubled(first: number, second: number): boolean {
  if (second === EQUAL) return first === LESS || first === GREATER || first === EXCLAMATION;
  return second === GREATER && first === LESS;
}

/** Returns the first offset at or after `at` that is neither blank nor inside a comment. */
function skipBlanks(text: string, at: number): number {
  let next = at;
  while (next < text.length) {
    const code = text.charCodeAt(next);
    if (code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0xfeff) {
      next += 1;
    } else if (code === SLASH && text.charCodeAt(next + 1) === SLASH) {
      const end = text.indexOf('\n', next);
      next = end < 0 ? text.length : end + 1;
    } else if (code === SLASH && text.charCodeAt(next + 1) === STAR) {
      const end = text.indexOf('*/', next + 2);
      if (end < 0) throw errorAt(text, next, 'this comment does not end; close it with */.', ['*/']);
      next = end + 2;
    } else {
      return next;
    }
  }
  return next;
}

function readWord(text: string, start: number, capitals: string | undefined): Token {
  const end = wordEnd(text, start);
  const value = text.slice(start, end);
  return { kind: 'word', value, upper: capitals?.slice(start, end) ?? value.toUpperCase(), start, end };
}

function wordEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && isWordCharacter(text.charCodeAt(end))) end += 1;
  return end;
}

function readNumber(text: string, start: number): Token {
  let end = digitsEnd(text, start);
  let isFloat = false;
  if (text.charCodeAt(end) === DOT && isDigit(text.charCodeAt(end + 1))) {
    isFloat = true;
    end = digitsEnd(text, end + 1);
  }
  const code = text.charCodeAt(end) | 32;
  if (code === LETTER_E) {
    const sign = text.charCodeAt(end + 1);
    const digits = sign === PLUS || sign === MINUS ? end + 2 : end + 1;
    if (isDigit(text.charCodeAt(digits))) {
      isFloat = true;
      end = digitsEnd(text, digits);
    }
  }
  if (isWordCharacter(text.charCodeAt(end))) {
    const word = text.slice(start, wordEnd(text, end));
    throw errorAt(
      text,
      start,
      `${JSON.stringify(word.slice(0, 40))} is neither a number nor a name; names start with a letter or _.`,
    );
  }
  const value = text.slice(start, end);
  checkNumber(text, start, value, isFloat);
  return token(isFloat ? 'float' : 'integer', value, start, end);
}

function checkNumber(text: string, start: number, value: string, isFloat: boolean): void {
  const number = Number(value);
  if (isFloat ? Number.isFinite(number) : Number.isSafeInteger(number)) return;
  throw errorAt(
    text,
    start,
    isFloat
      ? `the number ${value.slice(0, 40)} is too large.`
      : `the integer ${value.slice(0, 40)} is larger than ${Number.MAX_SAFE_INTEGER}, the largest one there is here.`,
  );
}

function digitsEnd(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

function readParameter(text: string, start: number): Token {
  const end = isLetter(text.charCodeAt(start + 1)) ? wordEnd(text, start + 1) : start + 1;
  if (end === start + 1) throw errorAt(text, start, 'a parameter has a name: $name.', ['a name']);
  return token('parameter', text.slice(start + 1, end), start, end);
}

function readName(text: string, start: number): Token {
  const end = text.indexOf('`', start + 1);
  if (end < 0) throw errorAt(text, start, 'this name does not end; close it with a backquote.', ['`']);
  if (end === start + 1) throw errorAt(text, start, 'a name in backquotes has at least one character.', ['a name']);
  return token('name', text.slice(start + 1, end), start, end + 1);
}

/** Reads a text in quotes with the escapes \\ \' \" \n \r \t \uXXXX and doubled quotes. */
function readText(text: string, start: number, quote: number): Token {
  let value = '';
  let from = start + 1;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      value += text.slice(from, at);
      if (text.charCodeAt(at + 1) !== quote) return textToken(text, value, start, at + 1);
      value += text[at];
      at += 2;
      from = at;
    } else if (code === BACKSLASH) {
      value += text.slice(from, at) + escaped(text, at);
      at += text[at + 1] === 'u' ? 6 : 2;
      from = at;
    } else {
      at += 1;
    }
  }
  const closing = String.fromCharCode(quote);
  throw errorAt(text, start, `this text does not end; close it with ${closing}.`, [closing]);
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
  const simple = ESCAPES[text[at + 1] ?? ''];
  if (simple !== undefined) return simple;
  const hex = text.slice(at + 2, at + 6);
  if (text[at + 1] === 'u' && /^[0-9A-Fa-f]{4}$/.test(hex)) return String.fromCharCode(Number.parseInt(hex, 16));
  throw unknownEscape(text, at);
}

function unknownEscape(text: string, at: number): HedgerowError {
  const expected = ['\\\\', "\\'", '\\"', '\\n', '\\r', '\\t', '\\uXXXX'];
  return errorAt(text, at, `this escape is unknown; there are ${expected.join(' ')}.`, expected);
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\', "'": "'", '"': '"', n: '\n', r: '\r', t: '\t' };
const ASCII = /^[\0-\x7f]*$/;
const SYMBOLS = '()[],:.;=<>+-*/%';
const EXCLAMATION = 33;
const LESS = 60;
const EQUAL = 61;
const GREATER = 62;
const QUOTE = 39;
const DOUBLE_QUOTE = 34;
const DOLLAR = 36;
const BACKQUOTE = 96;
const BACKSLASH = 92;
const SLASH = 47;
const STAR = 42;
const DOT = 46;
const COMMA = 44;
const BRACKET = 91;
const CLOSING_BRACKET = 93;
const PLUS = 43;
const MINUS = 45;
const LETTER_E = 101;

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || code === 95;
}

function isWordCharacter(code: number): boolean {
  return isLetter(code) || isDigit(code);
}
