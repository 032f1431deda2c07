// Generates random expressions as text, of a requested type or sometimes of a wrong one.

import type { Random } from '../support/random.ts';

export type Kind = 'integer' | 'real' | 'text' | 'boolean';

export const TEXTS = ['', 'a', 'ab', 'Ab', 'b', 'é', 'z', 'home', '\uffee', '😀', "it's", 'a "b"', 'x\ny', '$p', '\\'];
const REALS = ['0.0', '0.5', '1.5', '2.0', '-0.25', '1e1', '.75', '-3.5', '12.25'];

export interface Shape {
  readonly random: Random;
  readonly aliases: readonly string[];
  readonly roles: readonly string[];
  /** Values that are sent with the text; the function `parameter` adds to them. */
  readonly parameters: Record<string, unknown>;
  /** Whether to write names in another case, redundant parentheses, and keywords in lower case. */
  readonly loose: boolean;
  /**
   * How deep EXISTS may be nested at this place; undefined or 0: it must not occur. The function
   * makes the EXISTS, so that this file need not know patterns.
   */
  readonly exists?: { readonly depth: number; readonly make: (shape: Shape) => string } | undefined;
}

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)]!;
}

export function literal(random: Random, kind: Kind): string {
  switch (kind) {
    case 'integer':
      return String(random.below(30) - 10);
    case 'real':
      return pick(random, REALS);
    case 'text':
      return quoted(random, pick(random, TEXTS));
    case 'boolean':
      return pick(random, ['true', 'false']);
  }
}

/** Returns a text literal in one of its valid spellings, chosen at random. */
function quoted(random: Random, text: string): string {
  const quote = pick(random, ["'", '"']);
  let body = '';
  for (const character of text) {
    if (character === quote) body += pick(random, [quote + quote, `\\${quote}`]);
    else if (character === '\\') body += '\\\\';
    else if (character === '\n') body += pick(random, ['\n', '\\n', '\\u000a']);
    else if (character === '$') body += '\\$'.slice(1);
    else body += character;
  }
  return `${quote}${body}${quote}`;
}

function parameterValue(random: Random, kind: Kind): unknown {
  if (random.below(8) === 0) return null;
  switch (kind) {
    case 'integer':
      return random.below(30) - 10;
    case 'real':
      return Number(pick(random, REALS)) + 0.125;
    case 'text':
      return pick(random, TEXTS);
    case 'boolean':
      return random.below(2) === 1;
  }
}

function parameter(shape: Shape, value: unknown): string {
  const name = `p${Object.keys(shape.parameters).length}`;
  shape.parameters[name] = value;
  return shape.random.below(5) === 0 ? `'$${name}'` : `$${name}`;
}

const COLUMNS: Readonly<Record<Kind, readonly string[]>> = {
  integer: ['event_ts', 'event_ts', 'id', 'n', 'n', 'big'],
  real: ['weight', 'mean_dist_m', 'score'],
  text: ['formation', 'place', 'place'],
  boolean: ['ok', 'open'],
};

function column(shape: Shape, kind: Kind): string {
  const { random, aliases, loose } = shape;
  const name = pick(random, COLUMNS[kind]);
  const alias = pick(random, aliases);
  const written = loose && random.below(6) === 0 ? name.toUpperCase() : name;
  return `${alias}.${random.below(30) === 0 ? `\`${written}\`` : written}`;
}

/**
 * Returns an expression that is at most `depth` operators deep, nearly always of the given kind.
 */
export function expression(shape: Shape, kind: Kind, depth: number): string {
  const { random } = shape;
  if (random.below(150) === 0) return expression(shape, pick(random, ['integer', 'real', 'text', 'boolean']), depth);
  const text = depth <= 0 || random.below(4) === 0 ? leaf(shape, kind) : BY_KIND[kind](shape, depth - 1);
  return random.below(12) === 0 ? `(${text})` : text;
}

function leaf(shape: Shape, kind: Kind): string {
  const { random } = shape;
  switch (random.below(10)) {
    case 0:
    case 1:
      return literal(random, kind);
    case 2:
      return parameter(shape, parameterValue(random, kind));
    case 3:
      return random.below(4) === 0 ? 'null' : column(shape, kind);
    case 4:
      return kind === 'integer' ? integerCall(shape) : column(shape, kind);
    default:
      return column(shape, kind);
  }
}

/** Returns a list of nodes of an alias: its members or those of a role. */
export function nodesOf({ random, roles, loose }: Shape, alias: string): string {
  if (roles.length === 0 || random.below(2) === 0) return `${alias}.members`;
  const role = pick(random, roles);
  return `${alias}.${loose && random.below(3) === 0 ? role.toUpperCase() : role}`;
}

/** Returns a side of shared(): an alias or, in tables with roles, one of its lists of nodes. */
function sideOf(shape: Shape, alias: string): string {
  return shape.roles.length > 0 && shape.random.below(2) === 0 ? nodesOf(shape, alias) : alias;
}

function integerCall(shape: Shape): string {
  const { random, aliases } = shape;
  const alias = () => pick(random, aliases);
  const forms = [
    `size(${nodesOf(shape, alias())})`,
    `bucket(${alias()})`,
    `shared(${sideOf(shape, alias())}, ${sideOf(shape, alias())})`,
    `SIZE( ${alias()}.MEMBERS )`,
  ];
  return pick(random, forms);
}

const BY_KIND: Readonly<Record<Kind, (shape: Shape, depth: number) => string>> = {
  integer: (shape, depth) => arithmetic(shape, 'integer', depth),
  real: (shape, depth) => arithmetic(shape, 'real', depth),
  text: (shape, depth) => `${operand(shape, 'text', depth)} + ${operand(shape, 'text', depth)}`,
  boolean: condition,
};

/**
 * Returns an operand. Operands of more than one word are in parentheses, except for a third of
 * them.
 */
function operand(shape: Shape, kind: Kind, depth: number): string {
  const text = expression(shape, kind, depth);
  return /^[\w.$'`]+$/.test(text) || shape.random.below(3) === 0 ? text : `(${text})`;
}

function arithmetic(shape: Shape, kind: 'integer' | 'real', depth: number): string {
  const { random } = shape;
  if (random.below(8) === 0) return `-${random.below(2) === 0 ? ' ' : ''}(${expression(shape, kind, depth)})`;
  const operator = pick(random, ['+', '-', '*', '/', '%', '+', '-']);
  const left = operand(shape, kind, depth);
  const right = operand(shape, kind === 'real' && random.below(3) === 0 ? 'integer' : kind, depth);
  return `${left} ${operator} ${right}`;
}

export function condition(shape: Shape, depth: number): string {
  const { random } = shape;
  const inner = () => operand(shape, 'boolean', depth);
  if ((shape.exists?.depth ?? 0) > 0 && random.below(9) === 0) return shape.exists!.make(shape);
  switch (random.below(14)) {
    case 0:
    case 1:
      return `${inner()} AND ${inner()}`;
    case 2:
    case 3:
      return `${inner()} OR ${inner()}`;
    case 4:
      return `NOT ${inner()}`;
    case 5:
      return `${any(shape, depth)} IS ${random.below(2) === 0 ? 'NOT ' : ''}NULL`;
    case 6:
      return among(shape, depth);
    case 7:
      return between(shape, depth);
    case 8:
      return `${operand(shape, 'text', depth)} ${negation(random)}${pick(random, ['CONTAINS', 'STARTS WITH', 'ENDS WITH'])} ${operand(shape, 'text', depth)}`;
    case 9:
      return hasNode(shape, depth);
    case 10:
      return nearness(shape, depth);
    default:
      return comparison(shape, depth);
  }
}

function negation(random: Random): string {
  return random.below(3) === 0 ? 'NOT ' : '';
}

function any(shape: Shape, depth: number): string {
  const { random } = shape;
  if (random.below(8) === 0) return `${pick(random, shape.aliases)}${random.below(2) === 0 ? '.members' : ''}`;
  return operand(shape, pick(random, ['integer', 'real', 'text', 'boolean']), depth);
}

const COMPARES = ['=', '<>', '!=', '<', '<=', '>', '>='];

function comparison(shape: Shape, depth: number): string {
  const { random } = shape;
  const operator = pick(random, COMPARES);
  if (random.below(25) === 0) {
    const list = random.below(2) === 0 ? nodeList(shape) : nodesOf(shape, pick(random, shape.aliases));
    return `${nodesOf(shape, pick(random, shape.aliases))} ${random.below(2) === 0 ? '=' : '<>'} ${list}`;
  }
  const kind = pick<Kind>(random, ['integer', 'integer', 'integer', 'real', 'text', 'boolean']);
  const other = kind === 'integer' && random.below(6) === 0 ? 'real' : kind;
  return `${operand(shape, kind, depth)} ${operator} ${operand(shape, other, depth)}`;
}

function among(shape: Shape, depth: number): string {
  const { random } = shape;
  const kind = pick<Kind>(random, ['integer', 'integer', 'real', 'text', 'boolean']);
  const value = operand(shape, kind, depth);
  const items = Array.from({ length: random.below(5) }, () => parameterValue(random, kind));
  if (random.below(3) === 0)
    return `${value} ${negation(random)}IN ${parameter(shape, random.below(9) === 0 ? null : items)}`;
  return `${value} ${negation(random)}IN [${items.map(() => expression(shape, kind, random.below(2))).join(', ')}]`;
}

function between(shape: Shape, depth: number): string {
  const kind = pick<Kind>(shape.random, ['integer', 'integer', 'real', 'text']);
  const side = () => operand(shape, kind, depth - 1);
  return `${operand(shape, kind, depth)} ${negation(shape.random)}BETWEEN ${side()} AND ${side()}`;
}

function hasNode(shape: Shape, depth: number): string {
  const { random } = shape;
  const node = random.below(3) === 0 ? operand(shape, 'integer', depth) : String(random.below(9) - 3);
  return `${node} ${negation(random)}IN ${nodesOf(shape, pick(random, shape.aliases))}`;
}

function nearness(shape: Shape, depth: number): string {
  const { random, aliases } = shape;
  const [a, b] = [pick(random, aliases), pick(random, aliases)];
  if (random.below(3) === 0) return `intersects(${sideOf(shape, a)}, ${sideOf(shape, b)})`;
  if (random.below(6) === 0) return `during(${a}, ${b})`;
  if (random.below(6) === 0) return `holds(${a}, ${operand(shape, pick(random, ['integer', 'real']), depth - 1)})`;
  const width =
    random.below(4) === 0 ? expression(shape, pick(random, ['integer', 'real']), depth - 1) : random.below(25);
  return `${pick(random, ['overlaps', 'follows', 'FOLLOWS'])}(${a}, ${b}, ${width})`;
}

export function nodeList(shape: Shape): string {
  const { random } = shape;
  const nodes = Array.from({ length: pick(random, [1, 1, 1, 2, 3]) }, () => random.below(9) - 3);
  return random.below(3) === 0 ? parameter(shape, nodes) : `[${nodes.join(', ')}]`;
}

/** Returns a condition that an index or a join can answer, or almost can. */
export function indexable(shape: Shape): string {
  const { random, aliases } = shape;
  const a = pick(random, aliases);
  const others = aliases.filter((alias) => alias !== a);
  const b = others.length > 0 && random.below(12) > 0 ? pick(random, others) : a;
  const time = () => random.below(70) - 25 + (random.below(6) === 0 ? 0.5 : 0);
  const compare = () => pick(random, ['=', '<', '<=', '>', '>=', '<>']);
  const node = () => random.below(9) - 3;
  const numeric = () => pick(random, ['n', 'score', 'weight', 'big']);
  const text = () => (random.below(3) === 0 ? parameter(shape, pick(random, TEXTS)) : literal(random, 'text'));
  const forms: (() => string)[] = [
    () => `${a}.place = ${text()}`,
    () => `${text()} = ${a}.place`,
    () => `${a}.formation = ${text()}`,
    () => `holds(${a}, ${time()})`,
    () => `HOLDS(${a}, ${parameter(shape, time())})`,
    () => `(holds(${a}, ${time()}) OR ${node()} IN ${a}.members)`,
    () => `${a}.event_ts ${compare()} ${time()}`,
    () => `${time()} ${compare()} ${a}.event_ts`,
    () => `${a}.event_ts BETWEEN ${time()} - 20 AND ${time()} + ${random.below(40)}`,
    () => `${a}.event_ts IN [${time()}, ${time()}, ${time()}, ${time()}, ${random.below(4) === 0 ? 'null' : time()}]`,
    () => `bucket(${a}) ${compare()} ${random.below(16) - 6}${random.below(5) === 0 ? '.5' : ''}`,
    () => `${random.below(16) - 6} ${compare()} bucket(${a})`,
    () => `${node()} IN ${nodesOf(shape, a)}`,
    () => `(${node()} IN ${nodesOf(shape, a)} OR ${node()} IN ${nodesOf(shape, a)} AND ${a}.n > ${random.below(9)})`,
    () => `${a}.${numeric()} ${compare()} ${random.below(24) / 2 - 4}`,
    () => `${a}.${numeric()} BETWEEN ${random.below(10) - 5} AND ${random.below(14)}`,
    () => `(${a}.event_ts < ${time()} OR ${node()} IN ${nodesOf(shape, a)})`,
    () =>
      `(${a}.event_ts = ${time()} OR ${a}.${numeric()} > ${random.below(12)} AND ${node()} IN ${a}.members OR null)`,
    () => `overlaps(${a}, ${b}, ${random.below(20) - 2}${random.below(4) === 0 ? '.5' : ''})`,
    () => `follows(${a}, ${b}, ${random.below(30) - 2})`,
    () => `holds(${a}, ${b}.event_ts)`,
    () => `during(${a}, ${b})`,
    () => `shared(${sideOf(shape, a)}, ${sideOf(shape, b)}) ${pick(random, ['>=', '>', '=', '<'])} ${random.below(3)}`,
    () => `${random.below(3)} <= shared(${sideOf(shape, a)}, ${sideOf(shape, b)})`,
    () => `${a}.event_ts - ${b}.event_ts ${compare()} ${random.below(20) - 10}`,
    () => `${a}.event_ts + ${random.below(9)} ${compare()} ${b}.event_ts - ${random.below(9)}`,
    () => `${a}.n = ${b}.n`,
    () => `${a}.id = ${b}.id`,
    () => `${a}.place = ${b}.place`,
    () => `${a}.score + 1 = ${b}.n`,
    () => `bucket(${a}) = bucket(${b})`,
    () => `${a}.n IN ${b}.members`,
    () => `${a}.n + 1 IN ${b}.members`,
    () => `${a}.id <> ${b}.id`,
    () => `${b}.event_ts BETWEEN ${a}.event_ts AND ${a}.event_ts + ${random.below(30)}`,
    () => `${a}.members = ${b}.members`,
  ];
  const own = 17;
  return forms[random.below(a === b && random.below(8) > 0 ? own : forms.length)]!();
}
