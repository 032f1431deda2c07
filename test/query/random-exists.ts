// Generates random EXISTS: patterns, and conditions that usually connect them to the patterns
// outside.

import { condition, indexable, nodeList, pick, type Shape } from './random-expressions.ts';

/** Aliases of the patterns of EXISTS, by depth of nesting. Names beside each other may be equal. */
const ALIASES = [
  ['u', 'v'],
  ['x', 'y'],
] as const;

/**
 * The naive evaluator tries every combination of rows, of which there are some 50 per pattern. With
 * this many patterns outside, an EXISTS has one pattern and none nested in it.
 */
const MANY_PATTERNS = 2;

/** Returns a shape in whose conditions EXISTS may occur, unless there are too many patterns. */
export function withExists(shape: Shape): Shape {
  return shape.aliases.length > MANY_PATTERNS ? shape : { ...shape, exists: { depth: 2, make: randomExists } };
}

/** Returns [NOT] EXISTS with one pattern or two. */
export function randomExists(shape: Shape): string {
  const { random, aliases, loose } = shape;
  const depth = shape.exists!.depth - 1;
  const count = aliases.length >= MANY_PATTERNS || random.below(3) > 0 ? 1 : 2;
  const own: string[] = ALIASES[depth]!.slice(0, count);
  if (random.below(80) === 0) own[0] = pick(random, aliases);
  const inner: Shape = {
    ...shape,
    aliases: [...aliases, ...own],
    exists: aliases.length + count > MANY_PATTERNS ? undefined : { depth, make: randomExists },
  };
  const conditions = conditionsOf(inner, own);
  const word = loose && random.below(4) === 0 ? 'exists' : 'EXISTS';
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `${random.below(3) === 0 ? 'NOT ' : ''}${word} (${own.map((alias) => pattern(shape, alias)).join(', ')}${where})`;
}

export function pattern(shape: Shape, alias: string): string {
  const { random } = shape;
  const table = pick(random, ['Contact', 'Contact', 'Trip', 'trip']);
  const members = random.below(8) === 0 ? ` MEMBERS ${nodeList(shape)}` : '';
  return `${random.below(4) === 0 ? 'HYPEREDGE ' : ''}(${alias}:${table})${members}`;
}

function conditionsOf(shape: Shape, own: readonly string[]): string[] {
  const { random, aliases } = shape;
  const conditions: string[] = [];
  const outer = aliases.filter((alias) => !own.includes(alias));
  const plain: Shape = { ...shape, exists: undefined };
  for (const [place, alias] of own.entries()) {
    // Without a connection, a pattern is independent of the rows outside.
    for (let links = pick(random, [0, 1, 1, 1, 2, 2]); links > 0; links--) {
      const other = place > 0 && random.below(2) === 0 ? own[place - 1]! : pick(random, outer);
      conditions.push(indexable({ ...plain, aliases: random.below(2) === 0 ? [alias, other] : [other, alias] }));
    }
    if (random.below(3) === 0) conditions.push(indexable({ ...plain, aliases: [alias] }));
  }
  if (random.below(8) === 0) conditions.push(indexable({ ...plain, aliases: outer }));
  if (random.below(4) === 0) conditions.push(`(${condition(shape, 1 + random.below(2))})`);
  if ((shape.exists?.depth ?? 0) > 0 && random.below(3) === 0) conditions.push(randomExists(shape));
  return conditions;
}
