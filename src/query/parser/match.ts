// Parses MATCH ... WHERE ... RETURN ... ORDER BY ... SKIP ... LIMIT.

import { MAX_ITEMS, MAX_ORDERS } from '../limits.ts';
import type { ItemNode, LiteralNode, MatchNode, OrderNode, ParameterNode } from './ast.ts';
import { acceptParameter, parseExpression } from './expressions.ts';
import { patternList } from './patterns.ts';
import type { TokenStream } from './token-stream.ts';

export function parseMatch(stream: TokenStream): MatchNode {
  const { start } = stream.current;
  stream.expectWord('MATCH');
  const patterns = patternList(stream, 'a MATCH');
  const where = stream.acceptWord('WHERE') ? parseExpression(stream) : undefined;
  stream.expectWord('RETURN');
  const distinct = isKeyword(stream, 'DISTINCT') && stream.acceptWord('DISTINCT');
  const items = stream.acceptSymbol('*') ? undefined : itemList(stream);
  const orderBy = stream.acceptWord('ORDER') ? orderList(stream) : [];
  let skip = stream.acceptWord('SKIP') || stream.acceptWord('OFFSET') ? count(stream) : undefined;
  const limit = stream.acceptWord('LIMIT') ? count(stream) : undefined;
  if (skip === undefined && (stream.acceptWord('SKIP') || stream.acceptWord('OFFSET'))) skip = count(stream);
  return { kind: 'match', patterns, where, distinct, items, orderBy, skip, limit, start, end: stream.lastEnd };
}

/**
 * Returns whether the current token is this keyword. A word that could also be an alias
 * (`distinct.id`) is a keyword only if no dot follows.
 */
function isKeyword(stream: TokenStream, word: string): boolean {
  const follows = stream.ahead(1);
  return stream.current.upper === word && !(follows.kind === 'symbol' && follows.value === '.');
}

function itemList(stream: TokenStream): ItemNode[] {
  const items: ItemNode[] = [];
  do {
    if (items.length === MAX_ITEMS)
      throw stream.failAt(stream.current.start, `a RETURN has at most ${MAX_ITEMS} items.`);
    items.push(item(stream));
  } while (stream.acceptSymbol(','));
  return items;
}

function item(stream: TokenStream): ItemNode {
  const expression = parseExpression(stream);
  const as = stream.acceptWord('AS') ? stream.expectName('a name') : undefined;
  return { expression, as, start: expression.start, end: stream.lastEnd };
}

function orderList(stream: TokenStream): OrderNode[] {
  stream.expectWord('BY');
  const orders: OrderNode[] = [];
  do {
    if (orders.length === MAX_ORDERS)
      throw stream.failAt(stream.current.start, `an ORDER BY has at most ${MAX_ORDERS} terms.`);
    const expression = parseExpression(stream);
    const descending = stream.acceptWord('DESC');
    if (!descending) stream.acceptWord('ASC');
    orders.push({ expression, descending });
  } while (stream.acceptSymbol(','));
  return orders;
}

/** Reads the number after LIMIT or SKIP: an integer of 0 or more, or a parameter. */
function count(stream: TokenStream): LiteralNode | ParameterNode {
  const token = stream.current;
  if (token.kind === 'integer') {
    stream.next();
    return { kind: 'literal', value: Number(token.value), type: 'integer', start: token.start, end: token.end };
  }
  const parameter = acceptParameter(stream);
  if (parameter === undefined) throw stream.fail('an integer of 0 or more');
  return parameter;
}
