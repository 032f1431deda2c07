// Generates random statements that tie nodes to edges, in four families: counts of edges by node,
// rows of one node and one edge, joins of several nodes and edges, and EXISTS.

import type { Random } from '../support/random.ts';
import type { NamedStatement } from './named-random.ts';
import type { NamedShape } from './named-random-world.ts';
import { type Pattern, Ties } from './named-ties.ts';
import { pick } from './random-expressions.ts';

export const FAMILIES = ['counts', 'rows', 'joins', 'exists'] as const;
export type Family = (typeof FAMILIES)[number];

export function tieStatement(random: Random, world: NamedShape, family: Family): NamedStatement {
  const ties = new Ties(random, world);
  switch (family) {
    case 'counts':
      return counts(ties);
    case 'rows':
      return rows(ties);
    case 'joins':
      return joins(ties);
    case 'exists':
      return exists(ties);
  }
}

/** One node and one edge, in either order. */
function pair(ties: Ties): { node: Pattern; edge: Pattern; text: string } {
  const node = ties.node('p');
  const edge = ties.edge('c', node);
  const patterns = [ties.pattern(node), ties.pattern(edge)];
  return { node, edge, text: (ties.random.below(4) === 0 ? patterns.reverse() : patterns).join(', ') };
}

function counts(ties: Ties): NamedStatement {
  const { random } = ties;
  const { node, edge, text } = pair(ties);
  const conditions = [tieOf(ties, node, edge)];
  for (let count = pick(random, [0, 1, 1, 2]); count > 0; count--) conditions.push(ties.ofNode(node));
  for (let count = pick(random, [0, 0, 1, 1, 2]); count > 0; count--) conditions.push(ties.ofEdge(edge));
  if (random.below(8) === 0) conditions.push(ties.across(node, edge));
  if (random.below(8) === 0) conditions.push(ties.tie(node, edge));
  const where = shuffled(random, conditions).join(' AND ');
  return ties.statement(`MATCH ${text} WHERE ${where} ${grouped(ties, [node], [edge])}`);
}

/** Nearly always the plain condition, which a join can answer. */
function tieOf(ties: Ties, node: Pattern, edge: Pattern): string {
  const tie = ties.tie(node, edge);
  switch (ties.random.below(25)) {
    case 0:
      return `NOT ${tie}`;
    case 1:
      return `(${tie} OR ${ties.ofNode(node)})`;
    case 2:
      return `(${tie} OR ${ties.tie(node, edge)} AND ${ties.ofEdge(edge)})`;
    default:
      return tie;
  }
}

function rows(ties: Ties): NamedStatement {
  const { random } = ties;
  const { node, edge, text } = pair(ties);
  const conditions = random.below(12) === 0 ? [] : [tieOf(ties, node, edge)];
  for (let count = pick(random, [0, 1, 1, 2]); count > 0; count--) conditions.push(ties.ofNode(node));
  for (let count = pick(random, [0, 1, 1]); count > 0; count--) conditions.push(ties.ofEdge(edge));
  if (random.below(5) === 0) conditions.push(ties.across(node, edge));
  return ties.statement(`MATCH ${text} ${whereOf(random, conditions)} ${listed(ties, [node, edge])}`);
}

/** Several nodes, or several edges, or both. */
function joins(ties: Ties): NamedStatement {
  const { random } = ties;
  const p = ties.node('p');
  const form = random.below(5);
  const edges = [ties.edge('a', p)];
  if (form > 1 || random.below(3) === 0) edges.push(ties.edge('b', p));
  const nodes = [p];
  if (form < 2 || form === 4) nodes.push(ties.node('q', pick(random, edges).table));
  const conditions: string[] = [];
  for (const edge of edges)
    for (const node of nodes)
      if (ties.canHold(edge, node) && random.below(10) > 0) conditions.push(tieOf(ties, node, edge));
  if (nodes.length > 1 && random.below(2) === 0)
    conditions.push(nodes[0]!.table === nodes[1]!.table ? 'p.name < q.name' : 'p.id <= q.id');
  if (edges.length > 1 && random.below(2) === 0)
    conditions.push(edges[0]!.table === edges[1]!.table ? 'a.id < b.id' : ties.across(edges[0]!, edges[1]!));
  for (let count = random.below(3); count > 0; count--)
    conditions.push(random.below(2) === 0 ? ties.ofNode(pick(random, nodes)) : ties.ofEdge(pick(random, edges)));
  const patterns = shuffled(random, [...nodes, ...edges]);
  const text = patterns.map((one) => ties.pattern(one)).join(', ');
  const items = random.below(2) === 0 ? grouped(ties, nodes, edges) : listed(ties, patterns);
  return ties.statement(`MATCH ${text} ${whereOf(random, shuffled(random, conditions))} ${items}`);
}

/** A node for which edges exist, an edge for which nodes exist, or both with a further edge. */
function exists(ties: Ties): NamedStatement {
  const { random } = ties;
  const p = ties.node('p');
  const c = ties.edge('c', p);
  const form = random.below(4);
  const outer = form === 0 ? [c] : form === 1 ? [p, c] : [p];
  const conditions = form === 1 ? [tieOf(ties, p, c)] : [];
  for (const one of outer) if (random.below(3) === 0) conditions.push(conditionOn(ties, one));
  const tests = [form === 0 ? ofNodes(ties, c) : ofEdges(ties, p, outer)];
  if (random.below(4) === 0) tests.push(form === 0 ? ofNodes(ties, c) : ofEdges(ties, p, outer));
  conditions.push(tests.length > 1 && random.below(2) === 0 ? `(${tests.join(' OR ')})` : tests.join(' AND '));
  const text = outer.map((one) => ties.pattern(one)).join(', ');
  const items = random.below(2) === 0 ? grouped(ties, outer, outer) : listed(ties, outer);
  return ties.statement(`MATCH ${text} ${whereOf(random, conditions)} ${items}`);
}

/** Returns a condition on one row; EXISTS may ask for edges of a node or nodes of an edge. */
export function conditionWithExists(ties: Ties, one: Pattern): string {
  if (ties.random.below(3) > 0) return conditionOn(ties, one);
  return ties.isEdge(one) ? ofNodes(ties, one) : ofEdges(ties, one, [one]);
}

function conditionOn(ties: Ties, one: Pattern): string {
  return ties.isEdge(one) ? ties.ofEdge(one) : ties.ofNode(one);
}

/** Returns EXISTS with a node of an edge, and perhaps a further edge of that node. */
function ofNodes(ties: Ties, c: Pattern, [node, edge]: readonly [string, string] = ['q', 'd']): string {
  const { random } = ties;
  const q = ties.node(node, c.table);
  const conditions = [ties.tie(q, c)];
  if (random.below(2) === 0) conditions.push(ties.ofNode(q));
  if (random.below(4) === 0) conditions.push(ties.across(q, c));
  const patterns = [q];
  if (random.below(3) === 0) {
    const d = ties.edge(edge, q);
    patterns.push(d);
    conditions.push(ties.tie(q, d), ties.across(d, c));
  }
  return existsOf(ties, patterns, conditions);
}

/** Returns EXISTS with an edge of a node, and perhaps a further node of that edge. */
function ofEdges(ties: Ties, p: Pattern, outer: readonly Pattern[]): string {
  const { random } = ties;
  const d = ties.edge('d', p);
  const conditions = [ties.tie(p, d)];
  if (random.below(2) === 0) conditions.push(ties.ofEdge(d));
  if (random.below(3) === 0) conditions.push(ties.across(pick(random, outer), d));
  if (random.below(5) === 0) conditions.push(ofNodes(ties, d, ['x', 'y']));
  const patterns = [d];
  if (random.below(3) === 0) {
    const q = ties.node('r', d.table);
    patterns.push(q);
    conditions.push(ties.tie(q, d));
    if (random.below(2) === 0) conditions.push(ties.ofNode(q));
  }
  return existsOf(ties, patterns, conditions);
}

function existsOf(ties: Ties, patterns: readonly Pattern[], conditions: readonly string[]): string {
  const text = patterns.map((one) => ties.pattern(one)).join(', ');
  return `${ties.random.below(3) === 0 ? 'NOT ' : ''}EXISTS (${text} WHERE ${shuffled(ties.random, conditions).join(' AND ')})`;
}

function whereOf(random: Random, conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${shuffled(random, conditions).join(' AND ')}`;
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items];
  return Array.from(items, () => left.splice(random.below(left.length), 1)[0]!);
}

// Items

/** Returns what is returned of a pattern without an aggregate. */
function itemOf(ties: Ties, one: Pattern): string {
  const { random } = ties;
  const { alias } = one;
  const ofAny = () => `${alias}.${pick(random, ['n', 'place', 'ok', 'score', 'id', 'event_ts', 'weight'])}`;
  if (!ties.isEdge(one)) {
    const forms = [() => `${alias}.name`, () => `${alias}.name`, ofAny, ofAny, () => alias];
    return pick(random, [...forms, () => ties.anyValue([one], 1)])();
  }
  const forms = [
    () => ties.nodesOf(one),
    ofAny,
    () => `size(${ties.nodesOf(one)})`,
    () => `bucket(${alias})`,
    () => alias,
  ];
  return pick(random, [...forms, () => ties.anyValue([one], 1)])();
}

/** Returns an aggregate over the given patterns. */
function aggregateOf(ties: Ties, patterns: readonly Pattern[]): string {
  const { random } = ties;
  const one = pick(random, patterns);
  const { alias } = one;
  const distinct = random.below(4) === 0 ? 'DISTINCT ' : '';
  const exact = pick(random, [
    `${alias}.n`,
    `${alias}.weight`,
    `${alias}.score`,
    `${alias}.event_ts`,
    `${alias}.n + 1`,
    patterns.length > 1 ? `${patterns[0]!.alias}.n + ${patterns[1]!.alias}.n` : `${alias}.n * 2`,
    ties.isEdge(one) ? `size(${ties.nodesOf(one)})` : `${alias}.id`,
  ]);
  const forms: (() => string)[] = [
    () => 'COUNT(*)',
    () => 'COUNT(*)',
    () => `COUNT(${distinct}${alias})`,
    () => `COUNT(${distinct}${exact})`,
    () => `COUNT(DISTINCT ${alias}.id)`,
    () => `COUNT(${distinct}${ties.isEdge(one) ? ties.nodesOf(one) : `${alias}.name`})`,
    () => `SUM(${distinct}${exact})`,
    () => `SUM(${distinct}${alias}.big)`,
    () => `AVG(${distinct}${exact})`,
    () => `${pick(random, ['MIN', 'MAX'])}(${distinct}${exact})`,
    () => `${pick(random, ['MIN', 'MAX'])}(${ties.isEdge(one) ? `${alias}.place` : `${alias}.name`})`,
    () => `${pick(random, ['MIN', 'MAX'])}(${ties.anyValue(patterns, 1)})`,
    () => `COUNT(${distinct}${ties.anyValue(patterns, 1)})`,
    () => `COLLECT(${distinct}${pick(random, [exact, `${alias}.place`, itemOf(ties, one)])})`,
  ];
  const aggregate = pick(random, forms)();
  switch (random.below(14)) {
    case 0:
      return `COUNT(*) * 2 - ${random.below(3)}`;
    case 1:
      return `-COUNT(${alias}) + 0`;
    case 2:
      return `SUM(${alias}.n) / COUNT(*)`;
    case 3:
      return 'COUNT(*) > 2';
    default:
      return aggregate;
  }
}

/** Returns an aggregate that needs no more of a pattern than the number of its rows. */
function countOf({ random }: Ties, { alias }: Pattern): string {
  const forms = [
    `COUNT(${alias})`,
    `COUNT(${alias}.id)`,
    `COUNT(${alias}.event_ts)`,
    'SUM(2)',
    'COUNT(null)',
    'AVG(0.5)',
  ];
  return pick(random, [...forms, "MIN('x')", 'COUNT(DISTINCT 1)', 'MAX(null)']);
}

/**
 * Returns RETURN with aggregates and mostly with keys of groups. Aggregates are over nodes alone,
 * over edges alone, or over both.
 */
function grouped(ties: Ties, nodes: readonly Pattern[], edges: readonly Pattern[]): string {
  const { random } = ties;
  const all = [...nodes, ...edges];
  const over = pick(random, [nodes, nodes, edges, all]);
  const keyed = random.below(3) > 0 ? nodes : all;
  const keys = Array.from({ length: pick(random, [0, 1, 1, 1, 2, 3]) }, () => itemOf(ties, pick(random, keyed)));
  const aggregates = Array.from({ length: pick(random, [1, 1, 2, 3]) }, () =>
    random.below(6) === 0 ? countOf(ties, pick(random, edges)) : aggregateOf(ties, over),
  );
  return returned(ties, shuffled(random, [...keys, ...aggregates]), nodes.concat(edges), 'groups');
}

function listed(ties: Ties, patterns: readonly Pattern[]): string {
  const { random } = ties;
  const items = Array.from({ length: 1 + random.below(4) }, () => itemOf(ties, pick(random, patterns)));
  return returned(ties, items, patterns, 'rows');
}

/** Returns RETURN, ORDER BY, SKIP and LIMIT. */
function returned(ties: Ties, items: readonly string[], patterns: readonly Pattern[], kind: 'rows' | 'groups'): string {
  const { random } = ties;
  const isDistinct = random.below(kind === 'rows' ? 4 : 10) === 0;
  const named = items.map((text, place) => ({ text, name: random.below(3) === 0 ? undefined : `r${place}` }));
  // Two columns must not have one name.
  const list = named.map(({ text, name }, place) =>
    name === undefined && items.indexOf(text) === place ? text : `${text} AS r${place}`,
  );
  const parts = [`RETURN ${isDistinct ? 'DISTINCT ' : ''}${list.join(', ')}`];
  // Lists and rows have no order.
  const ordered = named.filter(({ text }) => !/^(?:\w|\w\.(?:members|src|dst)|collect\(.*\))$/i.test(text));
  const orders = Array.from({ length: pick(random, [0, 0, 1, 1, 2]) }, () => {
    const { text, name } = pick(random, ordered.length > 0 ? ordered : named);
    const known = name !== undefined && random.below(2) === 0 ? name : text;
    const isOwn = kind === 'rows' && !isDistinct && random.below(3) === 0;
    const by = isOwn ? ties.anyValue([pick(random, patterns)], 1) : known;
    return `${by}${pick(random, ['', '', ' ASC', ' DESC'])}`;
  });
  if (orders.length > 0) parts.push(`ORDER BY ${orders.join(', ')}`);
  if (random.below(4) === 0) parts.push(`LIMIT ${random.below(8)}`);
  if (random.below(6) === 0) parts.push(`SKIP ${random.below(5)}`);
  return parts.join(' ');
}
