// Generates random MATCH statements: patterns, conditions, items, groups, order and windows. Most
// are valid, and some must be refused.

import type { Random } from '../support/random.ts';
import { pattern, randomExists, withExists } from './random-exists.ts';
import { condition, expression, indexable, type Kind, nodesOf, pick, type Shape } from './random-expressions.ts';

export interface RandomStatement {
  readonly text: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** `roles`: the roles of every table. */
export function randomStatement(random: Random, roles: readonly string[]): RandomStatement {
  const aliases = ['a', 'b', 'c'].slice(0, pick(random, [1, 1, 1, 1, 2, 2, 3]));
  const shape: Shape = { random, aliases, roles, parameters: {}, loose: random.below(2) === 0 };
  const parts = [`MATCH ${aliases.map((alias) => pattern(shape, alias)).join(', ')}`];
  const conditions = conditionsOf(shape);
  if (conditions.length > 0) parts.push(`WHERE ${conditions.join(' AND ')}`);
  const { text, names, kinds } = items(shape);
  parts.push(`RETURN ${text}`);
  const order = orderBy(shape, names, kinds);
  if (order !== '') parts.push(order);
  parts.push(...windowOf(shape));
  const separator = random.below(10) === 0 ? ' // x\n ' : ' ';
  return { text: parts.join(separator) + (random.below(10) === 0 ? ' ;' : ''), parameters: shape.parameters };
}

/**
 * Returns the conditions. Each two neighbouring patterns get a condition that usually connects
 * them; in a join of two patterns it may be missing.
 */
function conditionsOf(given: Shape): string[] {
  const { random, aliases } = given;
  const shape = random.below(3) === 0 ? withExists(given) : given;
  const conditions: string[] = [];
  for (let i = 1; i < aliases.length; i++) {
    if (aliases.length === 2 && random.below(6) === 0) continue;
    conditions.push(indexable({ ...shape, aliases: [aliases[i - 1]!, aliases[i]!] }));
  }
  for (let count = pick(random, [0, 0, 1, 1, 2]); count > 0; count--) conditions.push(indexable(shape));
  if (random.below(3) === 0) conditions.push(`(${condition(shape, 1 + random.below(3))})`);
  if (shape.exists !== undefined && random.below(4) > 0) conditions.push(randomExists(shape));
  return conditions;
}

interface Items {
  readonly text: string;
  /** Names and spellings of items that ORDER BY may use. */
  readonly names: readonly string[];
  readonly kinds: 'rows' | 'distinct' | 'groups';
}

function items(shape: Shape): Items {
  const { random } = shape;
  if (random.below(10) === 0) return { text: '*', names: [], kinds: 'rows' };
  const isGrouped = random.below(3) === 0;
  const isDistinct = random.below(5) === 0;
  const texts: string[] = [];
  const names: string[] = [];
  const plain = Array.from({ length: isGrouped ? random.below(3) : 1 + random.below(4) }, () =>
    plainItem(shape, isGrouped),
  );
  const aggregates = isGrouped ? Array.from({ length: 1 + random.below(3) }, () => aggregateItem(shape, plain)) : [];
  for (const [place, text] of [...plain, ...aggregates].entries()) {
    const isNamed = random.below(4) > 0;
    texts.push(isNamed ? `${text} AS r${place}` : text);
    names.push(isNamed && random.below(3) > 0 ? `r${place}` : text);
  }
  const kinds = isGrouped ? 'groups' : isDistinct ? 'distinct' : 'rows';
  return { text: (isDistinct ? 'DISTINCT ' : '') + texts.join(', '), names, kinds };
}

const KINDS: readonly Kind[] = ['integer', 'integer', 'real', 'text', 'boolean'];

function plainItem(shape: Shape, isKey: boolean): string {
  const { random, aliases } = shape;
  const alias = pick(random, aliases);
  // EXISTS must be refused here.
  if (aliases.length < 3 && random.below(300) === 0) return randomExists(withExists(shape));
  switch (random.below(12)) {
    case 0:
      return alias;
    case 1:
      return nodesOf(shape, alias);
    case 2:
      return `bucket(${alias})`;
    case 3:
    case 4:
      return expression(shape, pick(random, KINDS), isKey ? 1 : 2);
    default:
      return `${alias}.${pick(random, ['id', 'event_ts', 'n', 'place', 'ok', 'weight', 'score', 'formation', 'open'])}`;
  }
}

function aggregateItem(shape: Shape, plain: readonly string[]): string {
  const { random } = shape;
  const one = aggregateCall(shape);
  switch (random.below(8)) {
    case 0:
      return `${one} + ${random.below(5)}`;
    case 1:
      return `-${aggregateNumber(shape)} * 2 - ${aggregateNumber(shape)}`;
    case 2:
      return plain.length > 0
        ? `${aggregateNumber(shape)} > 1 AND (${plain[0]}) IS NOT NULL`
        : `NOT ${aggregateNumber(shape)} = 3`;
    default:
      return one;
  }
}

function aggregateNumber(shape: Shape): string {
  const { random, aliases } = shape;
  const alias = pick(random, aliases);
  return pick(random, [
    'count(*)',
    `sum(${alias}.n)`,
    `min(${alias}.event_ts)`,
    `max(${alias}.score)`,
    `count(DISTINCT ${alias}.n)`,
  ]);
}

function aggregateCall(shape: Shape): string {
  const { random, aliases } = shape;
  const alias = pick(random, aliases);
  const distinct = random.below(4) === 0 ? 'DISTINCT ' : '';
  const exact = pick(random, [
    `${alias}.n`,
    `${alias}.weight`,
    `${alias}.score`,
    `${alias}.event_ts`,
    `size(${alias}.members)`,
    `${alias}.n + 1`,
    'null',
  ]);
  switch (random.below(10)) {
    case 0:
    case 1:
      return 'count(*)';
    case 2:
      return `COUNT(${alias})`;
    case 3:
      return `count(${distinct}${expression(shape, pick(random, KINDS), 1)})`;
    case 4:
      return `sum(${distinct}${exact})`;
    case 5:
      return `avg(${distinct}${exact})`;
    case 6:
      return `collect(${distinct}${random.below(6) === 0 ? alias : expression(shape, pick(random, KINDS), 1)})`;
    default:
      return `${pick(random, ['min', 'max'])}(${distinct}${random.below(3) === 0 ? `${alias}.event_ts` : expression(shape, pick(random, KINDS), 1)})`;
  }
}

function orderBy(shape: Shape, names: readonly string[], kinds: Items['kinds']): string {
  const { random, aliases } = shape;
  if (random.below(2) === 0) return '';
  const orders: string[] = [];
  for (let count = 1 + random.below(3); count > 0; count--) {
    const isTime = random.below(3) === 0;
    const own = isTime ? `${aliases[0]}.event_ts` : expression(shape, pick(random, KINDS), 1);
    const isNamed = names.length > 0 && (kinds === 'rows' ? random.below(3) === 0 : random.below(20) > 0);
    const text = isNamed ? `${pick(random, ['', '', '', '', '-'])}${pick(random, names)}` : own;
    orders.push(text + pick(random, ['', ' ASC', ' DESC', ' desc']));
    if (isTime && random.below(2) === 0) orders.push(`${aliases[0]}.id${pick(random, ['', ' DESC'])}`);
  }
  return `ORDER BY ${orders.join(', ')}`;
}

function windowOf(shape: Shape): string[] {
  const { random } = shape;
  const parts: string[] = [];
  const count = (most: number) => {
    const value = random.below(60) === 0 ? -1 : random.below(most);
    if (value >= 0 && random.below(4) > 0) return String(value);
    const name = `w${Object.keys(shape.parameters).length}`;
    shape.parameters[name] = value;
    return `$${name}`;
  };
  if (random.below(5) === 0) parts.push(`${pick(random, ['SKIP', 'OFFSET'])} ${count(6)}`);
  if (random.below(3) === 0) parts.push(`LIMIT ${count(12)}`);
  return parts;
}
