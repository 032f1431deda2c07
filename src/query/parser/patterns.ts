// Parses the patterns of MATCH and EXISTS, and EXISTS itself.

import { MAX_PATTERNS } from '../limits.ts';
import type { ExistsNode, PatternNode } from './ast.ts';
import { acceptParameter, parseExpression, parseList } from './expressions.ts';
import type { TokenStream } from './token-stream.ts';

/** Reads one pattern or several, separated by commas. `of` is what has them, for the error. */
export function patternList(stream: TokenStream, of: string): PatternNode[] {
  const patterns = [pattern(stream)];
  while (stream.acceptSymbol(',')) {
    if (patterns.length === MAX_PATTERNS)
      throw stream.failAt(stream.current.start, `${of} has at most ${MAX_PATTERNS} patterns.`);
    patterns.push(pattern(stream));
  }
  return patterns;
}

function pattern(stream: TokenStream): PatternNode {
  const { start } = stream.current;
  stream.acceptWord('HYPEREDGE');
  stream.expectSymbol('(');
  const alias = stream.expectName('an alias');
  stream.expectSymbol(':');
  const table = stream.expectName('a table name');
  stream.expectSymbol(')');
  const members = stream.acceptWord('MEMBERS') ? memberList(stream) : undefined;
  return { alias, table, members, start, end: stream.lastEnd };
}

function memberList(stream: TokenStream): PatternNode['members'] {
  return acceptParameter(stream) ?? parseList(stream);
}

/** Reads `EXISTS (pattern, ... [WHERE condition])`. The current token is EXISTS. */
export function parseExists(stream: TokenStream): ExistsNode {
  const { start } = stream.next();
  return stream.nested(() => {
    stream.expectSymbol('(');
    const follows = stream.ahead(1);
    if (stream.isName && follows.kind === 'symbol' && follows.value === ':')
      throw stream.failAt(
        stream.current.start,
        'a pattern of EXISTS has parentheses of its own: EXISTS ((alias:Table) WHERE condition).',
      );
    const patterns = patternList(stream, 'an EXISTS');
    const where = stream.acceptWord('WHERE') ? parseExpression(stream) : undefined;
    stream.expectSymbol(')');
    return { kind: 'exists', patterns, where, start, end: stream.lastEnd };
  });
}
