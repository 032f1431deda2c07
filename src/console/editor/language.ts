// Colours of statements: a small reader of tokens, line by line.

import { FUNCTIONS, KEYWORDS } from '../statement-words.ts';
import { HighlightStyle, StreamLanguage, type StringStream, tags } from './code-mirror.ts';

const keywords = new Set(KEYWORDS);
const functions = new Set(FUNCTIONS.map((name) => name.toLowerCase()));

interface Reading {
  /** Inside a comment that goes on over the end of its line. */
  isComment: boolean;
}

function token(stream: StringStream, state: Reading): string | null {
  if (state.isComment || stream.match('/*')) {
    state.isComment = !stream.match(/.*?\*\//);
    if (state.isComment) stream.skipToEnd();
    return 'comment';
  }
  if (stream.eatSpace()) return null;
  if (stream.match('//')) {
    stream.skipToEnd();
    return 'comment';
  }
  if (stream.match(/'(?:[^'\\]|\\.|'')*'?/) || stream.match(/"(?:[^"\\]|\\.|"")*"?/)) return 'string';
  if (stream.match(/`[^`]*`?/)) return 'variableName';
  if (stream.match(/\$\w+/)) return 'atom';
  if (stream.match(/\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return 'number';
  const word = stream.match(/[A-Za-z_]\w*/) as RegExpMatchArray | null;
  if (word !== null) return kindOfWord(word[0], stream);
  stream.next();
  return 'operator';
}

function kindOfWord(word: string, stream: StringStream): string {
  if (functions.has(word.toLowerCase()) && stream.match(/\s*\(/, false)) return 'function';
  // `e.table` and `e:order` name a column and a table, whatever the words are.
  const before = stream.string.slice(0, stream.start).trimEnd();
  if (keywords.has(word.toUpperCase()) && !before.endsWith('.')) return 'keyword';
  return before.endsWith(':') ? 'typeName' : 'variableName';
}

export const statementLanguage = StreamLanguage.define<Reading>({
  startState: () => ({ isComment: false }),
  token,
  tokenTable: { function: tags.function(tags.variableName) },
});

export const statementColours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--leaf-text)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--berry-text)' },
  { tag: tags.number, color: 'var(--sky-text)' },
  { tag: tags.atom, color: 'var(--sky-text)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.function(tags.variableName), color: 'var(--bark-text)' },
  { tag: tags.typeName, color: 'var(--bark-text)' },
  { tag: tags.operator, color: 'var(--quiet)' },
]);
