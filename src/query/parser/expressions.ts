// Parses expressions by recursive descent. The levels of precedence, from the loosest, are: OR,
// AND, NOT, comparison, + -, * / %, unary minus.

import type { Token } from '../lexer/token.ts';
import { MAX_ARGUMENTS, MAX_ARITHMETIC_CHAIN, MAX_CHAIN, MAX_LIST_ITEMS } from '../limits.ts';
import type {
  BinaryNode,
  BinaryOperator,
  CallNode,
  Expression,
  ListNode,
  LiteralNode,
  ParameterNode,
  ValuesNode,
} from './ast.ts';
import { checkHeight } from './height.ts';
import { ListItems } from './list-items.ts';
import { parseExists } from './patterns.ts';
import type { TokenStream } from './token-stream.ts';

export function parseExpression(stream: TokenStream): Expression {
  const expression = stream.nested(() => logic(stream, 'or'));
  if (!stream.isNested) checkHeight(expression, stream);
  return expression;
}

/**
 * Parses an item of a list. Lists may be very long and mostly contain plain values, which skip the
 * levels of precedence. Anything else is parsed by `parseExpression`.
 */
export function parseItem(stream: TokenStream): Expression {
  return plainValue(stream, ']') ?? parseExpression(stream);
}

/** Does the same as `parseItem` for a value of a row in VALUES, which may also be a list. */
export function parseRowValue(stream: TokenStream): Expression {
  const plain = plainValue(stream, ')');
  if (plain !== undefined) return plain;
  const { kind, value } = stream.current;
  if (kind === 'symbol' && value === '[') {
    const mark = stream.mark();
    const list = parseList(stream);
    if (endsValue(stream.current, ')')) return list;
    stream.rewind(mark);
  }
  return parseExpression(stream);
}

/**
 * Reads a single value or name that is followed by a comma or by `close`. Returns
 * undefined for anything else.
 */
function plainValue(stream: TokenStream, close: ']' | ')'): Expression | undefined {
  const { kind, value } = stream.current;
  const next = stream.ahead(1);
  if (kind !== 'symbol') return kind !== 'end' && endsValue(next, close) ? primary(stream) : undefined;
  const isNegative = value === '-' && (next.kind === 'integer' || next.kind === 'float');
  if (!isNegative || !endsValue(stream.ahead(2), close)) return undefined;
  const { start } = stream.next();
  return negated(primary(stream), start, stream);
}

function endsValue({ kind, value }: Token, close: ']' | ')'): boolean {
  return kind === 'symbol' && (value === ',' || value === close);
}

const NEXT_LEVEL = { or: (stream: TokenStream) => logic(stream, 'and'), and: negation } as const;

/** Reads a chain of ORs or ANDs as one node, so that long chains do not make the tree deep. */
function logic(stream: TokenStream, kind: 'or' | 'and'): Expression {
  const word = kind === 'or' ? 'OR' : 'AND';
  const read = NEXT_LEVEL[kind];
  const first = read(stream);
  if (!stream.acceptWord(word)) return first;
  const items = [first];
  do {
    checkChain(stream, items.length);
    items.push(read(stream));
  } while (stream.acceptWord(word));
  return { kind, items, start: first.start, end: stream.lastEnd };
}

function checkChain(stream: TokenStream, length: number): void {
  if (length >= MAX_CHAIN)
    throw stream.failAt(
      stream.current.start,
      `more than ${MAX_CHAIN} operators follow one another; use IN [..] or split the statement.`,
    );
}

function negation(stream: TokenStream): Expression {
  const { start } = stream.current;
  if (!stream.acceptWord('NOT')) {
    stream.expecting('EXISTS');
    return comparison(stream);
  }
  const operand = stream.nested(() => negation(stream));
  return { kind: 'not', operand, start, end: stream.lastEnd };
}

const COMPARISONS: Readonly<Record<string, BinaryOperator>> = {
  '=': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

function comparison(stream: TokenStream): Expression {
  const left = sum(stream);
  const compared = compareTail(stream, left);
  if (compared === left) return left;
  const { current } = stream;
  if (isComparison(stream))
    throw stream.failAt(current.start, 'comparisons do not chain; join them with AND, or put one in parentheses.');
  return compared;
}

function isComparison(stream: TokenStream): boolean {
  const { kind, value } = stream.current;
  return kind === 'symbol' && COMPARISONS[value] !== undefined;
}

/** Reads the rest of a comparison after `left`. Returns `left` itself if no comparison follows. */
function compareTail(stream: TokenStream, left: Expression): Expression {
  const { current } = stream;
  if (isComparison(stream)) {
    const operator = COMPARISONS[stream.next().value]!;
    return binary(stream, operator, left, sum(stream));
  }
  stream.expecting('an operator');
  if (current.upper === 'IS') return isNull(stream, left);
  if (current.upper === 'NOT') {
    stream.next();
    const operand = wordComparison(stream, left);
    if (operand === undefined) throw stream.fail();
    return { kind: 'not', operand, start: left.start, end: stream.lastEnd };
  }
  return wordComparison(stream, left) ?? left;
}

function isNull(stream: TokenStream, operand: Expression): Expression {
  stream.next();
  const negated = stream.acceptWord('NOT');
  stream.expectWord('NULL');
  const test: Expression = { kind: 'isNull', operand, start: operand.start, end: stream.lastEnd };
  return negated ? { kind: 'not', operand: test, start: operand.start, end: stream.lastEnd } : test;
}

/**
 * Reads IN, BETWEEN, CONTAINS, STARTS WITH or ENDS WITH. Returns undefined if none of them follows.
 */
function wordComparison(stream: TokenStream, left: Expression): Expression | undefined {
  if (stream.acceptWord('IN')) {
    const list = sum(stream);
    return { kind: 'in', operand: left, list, start: left.start, end: stream.lastEnd };
  }
  if (stream.acceptWord('BETWEEN')) {
    const low = sum(stream);
    stream.expectWord('AND');
    const high = sum(stream);
    return { kind: 'between', operand: left, low, high, start: left.start, end: stream.lastEnd };
  }
  if (stream.acceptWord('CONTAINS')) return binary(stream, 'CONTAINS', left, sum(stream));
  if (stream.acceptWord('STARTS')) {
    stream.expectWord('WITH');
    return binary(stream, 'STARTS WITH', left, sum(stream));
  }
  if (stream.acceptWord('ENDS')) {
    stream.expectWord('WITH');
    return binary(stream, 'ENDS WITH', left, sum(stream));
  }
  return undefined;
}

function binary(stream: TokenStream, operator: BinaryOperator, left: Expression, right: Expression): BinaryNode {
  return { kind: 'binary', operator, left, right, start: left.start, end: stream.lastEnd };
}

function sum(stream: TokenStream): Expression {
  return chain(stream, SUMS, product);
}

function product(stream: TokenStream): Expression {
  return chain(stream, PRODUCTS, unary);
}

const SUMS = ['+', '-'] as const;
const PRODUCTS = ['*', '/', '%'] as const;

/**
 * Reads operators of one level, which are left-associative. Each operator adds one level to the
 * height of the tree.
 */
function chain(
  stream: TokenStream,
  operators: readonly BinaryOperator[],
  read: (stream: TokenStream) => Expression,
): Expression {
  let left = read(stream);
  for (let length = 1; ; length++) {
    const operator = stream.acceptSymbolOf(operators);
    if (operator === undefined) return left;
    if (length > MAX_ARITHMETIC_CHAIN)
      throw stream.failAt(
        stream.current.start,
        `more than ${MAX_ARITHMETIC_CHAIN} arithmetic operators follow one another.`,
      );
    left = binary(stream, operator, left, read(stream));
  }
}

function unary(stream: TokenStream): Expression {
  stream.countOperand();
  const { start } = stream.current;
  if (!stream.acceptSymbol('-')) return primary(stream);
  return negated(
    stream.nested(() => unary(stream)),
    start,
    stream,
  );
}

function negated(operand: Expression, start: number, stream: TokenStream): Expression {
  if (operand.kind === 'literal' && (operand.type === 'integer' || operand.type === 'real')) {
    // -0 is 0: the integer zero has no sign.
    const value = operand.type === 'integer' && operand.value === 0 ? 0 : -(operand.value as number);
    return { ...operand, value, start };
  }
  return { kind: 'negate', operand, start, end: stream.lastEnd };
}

function primary(stream: TokenStream): Expression {
  const token = stream.current;
  switch (token.kind) {
    case 'integer':
    case 'float': {
      stream.next();
      const type = token.kind === 'integer' ? 'integer' : 'real';
      return { kind: 'literal', value: Number(token.value), type, start: token.start, end: token.end };
    }
    case 'text':
    case 'parameter':
      return textOrParameter(stream);
    case 'word':
    case 'name':
      return named(stream);
    default:
  }
  if (stream.acceptSymbol('(')) {
    const inner = parseExpression(stream);
    stream.expectSymbol(')');
    // The parentheses are part of the source text that names a result column.
    return { ...inner, start: token.start, end: stream.lastEnd };
  }
  if (token.kind === 'symbol' && token.value === '[') return parseList(stream);
  throw stream.fail('a value');
}

/** Reads a text or a parameter. A text literal that is exactly `'$name'` is that parameter. */
export function textOrParameter(stream: TokenStream): LiteralNode | ParameterNode {
  const parameter = acceptParameter(stream);
  if (parameter !== undefined) return parameter;
  const { value, start, end } = stream.next();
  return { kind: 'literal', value, type: 'text', start, end };
}

const PARAMETER_TEXT = /^\$([A-Za-z_][A-Za-z0-9_]*)$/;

/** Reads `$name` or `'$name'`. Returns undefined if the current token is neither. */
export function acceptParameter(stream: TokenStream): ParameterNode | undefined {
  const { kind, value } = stream.current;
  const name = kind === 'parameter' ? value : kind === 'text' ? PARAMETER_TEXT.exec(value)?.[1] : undefined;
  if (name === undefined) {
    stream.expecting('a $parameter');
    return undefined;
  }
  return stream.takeParameter(name);
}

export function parseList(stream: TokenStream): ListNode | ValuesNode {
  const { start, end, list: plain } = stream.current;
  stream.expectSymbol('[');
  if (plain !== undefined) {
    stream.nested(() => undefined, plain.places[0]);
    return { kind: 'values', ...plain, start, end };
  }
  const items = new ListItems();
  stream.nested(() => {
    if (stream.acceptSymbol(']')) return;
    do {
      if (items.count === MAX_LIST_ITEMS)
        throw stream.failAt(stream.current.start, `a list has at most ${MAX_LIST_ITEMS} items.`);
      items.add(parseItem(stream));
    } while (stream.acceptSymbol(','));
    stream.expectSymbol(']');
  });
  const list = items.node(start, stream.lastEnd);
  if (!stream.isNested) checkHeight(list, stream);
  return list;
}

const CONSTANTS: Readonly<Record<string, LiteralNode['value']>> = { TRUE: true, FALSE: false, NULL: null };

/** Reads true, false, null, EXISTS, a call, alias.column or a bare name. */
function named(stream: TokenStream): Expression {
  const token = stream.current;
  const follows = stream.ahead(1);
  const isCall = follows.kind === 'symbol' && follows.value === '(';
  const isQualified = follows.kind === 'symbol' && follows.value === '.';
  const constant = CONSTANTS[token.upper];
  if (constant !== undefined && !isCall && !isQualified) {
    stream.next();
    const type = constant === null ? 'null' : 'boolean';
    return { kind: 'literal', value: constant, type, start: token.start, end: token.end };
  }
  if (!isCall && !isQualified && CLAUSE_WORDS.has(token.upper)) throw stream.fail('a value');
  if (isCall && token.kind === 'word' && token.upper === 'EXISTS') return parseExists(stream);
  const name = stream.expectName('a value');
  if (isCall && token.kind === 'word') return call(stream, name);
  if (!stream.acceptSymbol('.')) return { kind: 'name', ...name };
  const column = stream.expectName('a column name');
  return { kind: 'column', alias: name, column, start: name.start, end: column.end };
}

/**
 * Words that follow a value. If one of them is found where a value is expected, the value is
 * missing. In backquotes, or before a dot or a parenthesis, these words are names.
 */
const CLAUSE_WORDS: ReadonlySet<string> = new Set([
  'WHERE',
  'RETURN',
  'ORDER',
  'SKIP',
  'OFFSET',
  'LIMIT',
  'AND',
  'OR',
  'IN',
  'BETWEEN',
  'CONTAINS',
  'STARTS',
  'ENDS',
  'IS',
  'AS',
  'ASC',
  'DESC',
]);

function call(stream: TokenStream, name: CallNode['name']): CallNode {
  stream.expectSymbol('(');
  return stream.nested(() => {
    const args: Expression[] = [];
    let star = false;
    let distinct = false;
    if (stream.acceptSymbol('*')) {
      star = true;
      stream.expectSymbol(')');
    } else if (!stream.acceptSymbol(')')) {
      distinct = stream.acceptWord('DISTINCT');
      do {
        if (args.length === MAX_ARGUMENTS)
          throw stream.failAt(stream.current.start, `a function takes at most ${MAX_ARGUMENTS} arguments.`);
        args.push(parseExpression(stream));
      } while (stream.acceptSymbol(','));
      stream.expectSymbol(')');
    }
    return { kind: 'call', name, distinct, star, args, start: name.start, end: stream.lastEnd };
  });
}
