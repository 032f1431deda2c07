// Parses a query over a virtual graph, which has this form:
//
//   MATCH (alias:Label){member:NodeLabel, ..} [WHERE conditions] RETURN alias [LIMIT n]

import type { HedgerowError } from '../../errors.ts';
import type { Condition, Literal, Name, Operator, Query, Subject } from './ast.ts';
import { MAX_CONDITIONS, MAX_LITERALS } from './limits.ts';
import { TokenStream } from './token-stream.ts';

/**
 * Parses a query. Throws `syntax_error` with the line, the column, the token found and the tokens
 * expected. Takes time linear in the length of the text.
 */
export function parseQuery(text: string): Query {
  const stream = new TokenStream(text);
  stream.expectWord('MATCH');
  const { alias, label } = edgePattern(stream);
  const members = stream.acceptSymbol('{') ? memberPatterns(stream) : [];
  refuseMorePatterns(stream);
  const conditions = stream.acceptWord('WHERE') ? conditionsOf(stream) : [];
  returned(stream, alias);
  const limit = stream.acceptWord('LIMIT') ? limitOf(stream) : undefined;
  stream.acceptSymbol(';');
  if (stream.current.kind !== 'end') throw stream.fail('the end of the query');
  return { text, alias, label, members, conditions, limit };
}

function edgePattern(stream: TokenStream): { alias: Name; label: Name } {
  stream.expectSymbol('(');
  const alias = stream.expectName('a name for the edge');
  stream.expectSymbol(':');
  const label = stream.expectName('an edge label');
  stream.expectSymbol(')');
  return { alias, label };
}

function memberPatterns(stream: TokenStream): { member: Name; label: Name }[] {
  const patterns: { member: Name; label: Name }[] = [];
  if (stream.acceptSymbol('}')) return patterns;
  do {
    const member = stream.expectName('the name of a member');
    stream.expectSymbol(':');
    patterns.push({ member, label: stream.expectName('a node label') });
  } while (stream.acceptSymbol(','));
  stream.expectSymbol('}');
  return patterns;
}

function refuseMorePatterns(stream: TokenStream): void {
  const { start } = stream.current;
  const isAnother = ['(', ',', '-', '<'].some((symbol) => stream.isSymbol(symbol)) || stream.current.upper === 'MATCH';
  if (isAnother)
    throw stream.failAt(start, 'one pattern is supported, but there are several here; send a query for each of them.');
}

function conditionsOf(stream: TokenStream): Condition[] {
  const conditions: Condition[] = [];
  let literalCount = 0;
  do {
    const { start } = stream.current;
    if (conditions.length >= MAX_CONDITIONS)
      throw stream.failAt(
        start,
        `there are more than ${MAX_CONDITIONS} conditions; use IN [..] or send several queries.`,
      );
    const condition = conditionOf(stream, MAX_LITERALS - literalCount);
    literalCount += condition.literals.length;
    conditions.push(condition);
  } while (stream.acceptWord('AND'));
  if (stream.current.upper === 'OR')
    throw stream.failAt(
      stream.current.start,
      'conditions are joined by AND only; use IN [..] or send several queries.',
    );
  return conditions;
}

function conditionOf(stream: TokenStream, mostLiterals: number): Condition {
  const subject = subjectOf(stream);
  const operator = operatorOf(stream);
  if (operator === 'IN') return { subject, operator, literals: listOf(stream, mostLiterals) };
  const first = literalOf(stream);
  if (operator !== 'BETWEEN') return { subject, operator, literals: [first] };
  stream.expectWord('AND');
  return { subject, operator, literals: [first, literalOf(stream)] };
}

function subjectOf(stream: TokenStream): Subject {
  const { kind, upper, start } = stream.current;
  if (kind === 'word' && upper === 'NOT')
    throw stream.failAt(start, 'NOT is not supported; turn the comparison around, or use <>.');
  const owner = stream.expectName('a member, the edge, or size(..)');
  if (kind === 'word' && upper === 'SIZE' && stream.acceptSymbol('(')) {
    const edge = stream.expectName('the name of the edge');
    stream.expectSymbol(')');
    return { kind: 'size', owner: edge, field: undefined, start };
  }
  stream.expectSymbol('.');
  return { kind: 'field', owner, field: stream.expectName('id, event_ts or a column'), start };
}

const COMPARISONS: Readonly<Record<string, Operator>> = {
  '=': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

function operatorOf(stream: TokenStream): Operator {
  const { kind, value } = stream.current;
  const comparison = kind === 'symbol' ? COMPARISONS[value] : undefined;
  if (comparison !== undefined) {
    stream.next();
    return comparison;
  }
  if (stream.acceptWord('IN')) return 'IN';
  if (stream.acceptWord('BETWEEN')) return 'BETWEEN';
  throw stream.fail('=', '<>', '<', '<=', '>', '>=');
}

function listOf(stream: TokenStream, most: number): Literal[] {
  const literals: Literal[] = [];
  stream.expectSymbol('[');
  do {
    if (literals.length >= most) throw tooMany(stream);
    literals.push(literalOf(stream));
  } while (stream.acceptSymbol(','));
  stream.expectSymbol(']');
  return literals;
}

function tooMany(stream: TokenStream): HedgerowError {
  return stream.failAt(stream.current.start, `the query has more than ${MAX_LITERALS} values; send several queries.`);
}

function literalOf(stream: TokenStream): Literal {
  const { kind, upper, start } = stream.current;
  const sign = kind === 'symbol' ? signOf(stream) : undefined;
  const { kind: found, value } = stream.current;
  if (found === 'integer' || found === 'float') {
    stream.next();
    return numberOf(found, sign === '-' ? `-${value}` : value, start);
  }
  if (sign !== undefined) throw stream.fail('a number');
  if (found === 'text') return { kind: 'text', value: stream.next().value, start };
  if (upper === 'NULL')
    throw stream.failAt(start, 'nothing equals NULL and nothing differs from it; leave the condition out.');
  if (stream.acceptWord('TRUE')) return { kind: 'boolean', value: true, start };
  if (stream.acceptWord('FALSE')) return { kind: 'boolean', value: false, start };
  throw stream.fail('a number', "a text in '..'");
}

function signOf(stream: TokenStream): '-' | '+' | undefined {
  if (stream.acceptSymbol('-')) return '-';
  return stream.acceptSymbol('+') ? '+' : undefined;
}

function numberOf(kind: 'integer' | 'float', text: string, start: number): Literal {
  const number = Number(text);
  // Adding 0 turns -0 into 0, because database libraries disagree on how to write a bound -0.
  if (kind === 'float') return { kind, value: number + 0, start };
  return { kind, value: Number.isSafeInteger(number) ? number + 0 : BigInt(text), start };
}

function returned(stream: TokenStream, alias: Name): void {
  stream.expectWord('RETURN');
  const { name, start } = stream.expectName('the name of the edge');
  if (name.toLowerCase() === alias.name.toLowerCase() && !stream.isSymbol('.') && !stream.isSymbol(',')) return;
  throw stream.failAt(start, `a query returns its whole edge: RETURN ${alias.name}.`);
}

function limitOf(stream: TokenStream): number {
  const { kind, value, start } = stream.current;
  if (kind !== 'integer') throw stream.fail('an integer');
  stream.next();
  const limit = Number(value);
  if (!Number.isSafeInteger(limit)) throw stream.failAt(start, `the limit is larger than ${Number.MAX_SAFE_INTEGER}.`);
  return limit;
}
