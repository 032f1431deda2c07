// Finds the tokens to colour: words by kind, texts, numbers, comments. Splits the text as the
// server's lexer does, but continues after errors.

import { FUNCTIONS, KEYWORDS } from '../statement-words.ts';

export type TokenKind = 'comment' | 'text' | 'parameter' | 'number' | 'function' | 'keyword' | 'table' | 'symbol';

export interface Token {
  readonly kind: TokenKind;
  /** Positions in UTF-16 units; the end is the position after the last unit. */
  readonly start: number;
  readonly end: number;
}

const keywords = new Set(KEYWORDS);
const functions = new Set(FUNCTIONS.map((name) => name.toLowerCase()));

/**
 * Matches the parts of a statement. A text, quoted name or block comment without an end reaches to
 * the end of the statement. Except for words, the kind follows from the first character of a part
 * and its length, not from groups in the expression: groups would be slower than all the rest.
 */
const PARTS =
  /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|'(?:[^'\\]|\\[\s\S]?|'')*(?:'|$)|"(?:[^"\\]|\\[\s\S]?|"")*(?:"|$)|`[^`]*(?:`|$)|\$\w+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|[^\s\w]/g;

/**
 * Returns the tokens that begin before `until`, without the parts that have no colour. Linear in
 * the length of the text.
 */
export function tokensOf(text: string, until = text.length): Token[] {
  const tokens: Token[] = [];
  let before = '';
  for (const { 0: part, index: start } of text.matchAll(PARTS)) {
    if (start >= until) break;
    const end = start + part.length;
    const kind = kindOf(part, before, text, end);
    if (kind !== undefined) tokens.push({ kind, start, end });
    if (kind !== 'comment') before = part;
  }
  return tokens;
}

function kindOf(part: string, before: string, text: string, end: number): TokenKind | undefined {
  const first = part[0]!;
  if (/[A-Za-z_]/.test(first)) return kindOfWord(part, before, text, end);
  if (first >= '0' && first <= '9') return 'number';
  if (first === "'" || first === '"') return 'text';
  if (first === '`') return undefined;
  if (part.length === 1) return 'symbol';
  return first === '/' ? 'comment' : first === '$' ? 'parameter' : 'number';
}

/** Returns the kind of a word. In `e.column` and `e:table` a keyword is just a name. */
function kindOfWord(word: string, before: string, text: string, end: number): TokenKind | undefined {
  if (before === ':') return 'table';
  if (before === '.') return undefined;
  if (functions.has(word.toLowerCase()) && /^\s*\(/.test(text.slice(end, end + 20))) return 'function';
  return keywords.has(word.toUpperCase()) ? 'keyword' : undefined;
}
