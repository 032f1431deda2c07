// Cuts a statement into what is coloured: words by their kind, texts, numbers, comments. Reads as
// the server does, and continues after faults.

import { FUNCTIONS, KEYWORDS } from '../statement-words.ts';

export type TokenKind = 'comment' | 'text' | 'parameter' | 'number' | 'function' | 'keyword' | 'table' | 'symbol';

export interface Token {
  readonly kind: TokenKind;
  /** In UTF-16 units; the end is the place after its last unit. */
  readonly start: number;
  readonly end: number;
}

const keywords = new Set(KEYWORDS);
const functions = new Set(FUNCTIONS.map((name) => name.toLowerCase()));

/**
 * A text, name or comment without an end reaches to the end of the statement. The first character
 * of a part tells its kind: regular expression groups would take most of the time.
 */
const PARTS =
  /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|'(?:[^'\\]|\\[\s\S]?|'')*(?:'|$)|"(?:[^"\\]|\\[\s\S]?|"")*(?:"|$)|`[^`]*(?:`|$)|\$\w+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|[^\s\w]/g;

/** Up to a place; what has no colour of its own is left out. Linear in the length of the text. */
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

/** `e.table` and `e:order` name a column and a table, whatever the words are. */
function kindOfWord(word: string, before: string, text: string, end: number): TokenKind | undefined {
  if (before === ':') return 'table';
  if (before === '.') return undefined;
  if (functions.has(word.toLowerCase()) && /^\s*\(/.test(text.slice(end, end + 20))) return 'function';
  return keywords.has(word.toUpperCase()) ? 'keyword' : undefined;
}
