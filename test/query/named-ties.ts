// The parts of random statements that tie nodes to edges: patterns, `p IN c.members`, conditions
// and expressions. A statement is generated as one text with marks, of which one reading has keys
// and the other has the integers that stand for them.

import type { Random } from '../support/random.ts';
import { literalOf, type NamedStatement } from './named-random.ts';
import { EDGE_TABLES, keyOf, kindOf, type NamedShape } from './named-random-world.ts';
import { condition, expression, indexable, type Kind, pick, type Shape } from './random-expressions.ts';

export interface Pattern {
  readonly alias: string;
  readonly table: string;
}

/** Marks a text that differs between the named and the plain statement. */
export function both(named: string, plain: string): string {
  return `⟦${named}¦${plain}⟧`;
}

const MARK = /⟦([^¦]*)¦([^⟧]*)⟧/g;

/** What cannot be generated for named tables: integers among members. */
const RAW_MEMBERS = /\bIN\s+\w+\.(?:members|src|dst)\b|\.(?:members|src|dst)\s*(?:=|<>|!=)/i;
/** What only edges have. */
const OF_EDGES = /\b(?:bucket|shared|intersects|overlaps|follows|holds|during|size)\s*\(/i;
const KINDS: readonly Kind[] = ['integer', 'integer', 'real', 'text', 'boolean'];

/** Writes one statement. */
export class Ties {
  readonly random: Random;
  readonly #world: NamedShape;
  /** Parameters that have the same value in both readings. */
  readonly #shared: Record<string, unknown> = {};
  readonly #named: Record<string, unknown> = {};
  readonly #plain: Record<string, unknown> = {};

  constructor(random: Random, world: NamedShape) {
    this.random = random;
    this.#world = world;
  }

  statement(text: string): NamedStatement {
    return {
      named: { text: text.replace(MARK, '$1'), parameters: { ...this.#shared, ...this.#named } },
      plain: { text: text.replace(MARK, '$2'), parameters: { ...this.#shared, ...this.#plain } },
    };
  }

  node(alias: string, edges = ''): Pattern {
    const kinds = EDGE_TABLES[edges] ?? ['Person', 'Person', 'Thing'];
    return { alias, table: pick(this.random, kinds) };
  }

  edge(alias: string, node?: Pattern): Pattern {
    const tables = Object.keys(EDGE_TABLES).filter(
      (table) => node === undefined || this.canHold({ alias, table }, node),
    );
    return { alias, table: pick(this.random, tables) };
  }

  isEdge({ table }: Pattern): boolean {
    return EDGE_TABLES[table] !== undefined;
  }

  /** Whether a node of its table can be a member of an edge. */
  canHold(edge: Pattern, { table }: Pattern): boolean {
    return EDGE_TABLES[edge.table]!.includes(table);
  }

  /** Returns one of the lists of nodes of an edge. */
  nodesOf(edge: Pattern): string {
    const list = this.#world.roles.length > 0 && this.random.below(2) === 0 ? pick(this.random, this.#world.roles) : '';
    return `${edge.alias}.${list || 'members'}`;
  }

  /** Returns the condition that a node is a member of an edge. */
  tie(node: Pattern, edge: Pattern): string {
    const list = this.nodesOf(edge);
    const byKey =
      EDGE_TABLES[edge.table]!.length === 1 ? `${node.alias}.name` : this.#call(node.table, `${node.alias}.name`);
    return `${both(this.random.below(5) === 0 ? byKey : node.alias, `${node.alias}.num`)} ${this.#not(12)}IN ${list}`;
  }

  #call(kind: string, key: string): string {
    return `node(${this.random.below(8) === 0 ? kind.toLowerCase() : kind}, ${key})`;
  }

  #not(one: number): string {
    return this.random.below(one) === 0 ? 'NOT ' : '';
  }

  /** Returns the integer of a node that may be a member of such edges, rarely of no node. */
  id(kinds: readonly string[]): number {
    const { nodes } = this.#world;
    for (;;) {
      const isOther = this.random.below(nodes > 0 ? 3 : 15) === 0;
      const id = isOther ? 10 + this.random.below(nodes + 1) : this.random.below(9) - 3;
      if (kinds.includes(kindOf(id))) return id;
    }
  }

  /** Returns a member of edges of a table, as a literal or a parameter. */
  member({ table }: Pattern): string {
    const kinds = EDGE_TABLES[table]!;
    const id = this.id(kinds);
    const name = `k${Object.keys(this.#named).length}`;
    const isGiven = this.random.below(3) === 0;
    if (isGiven) {
      this.#named[name] = keyOf(id);
      this.#plain[name] = id;
    }
    const key = isGiven ? `$${name}` : literalOf(keyOf(id)!);
    const isCall = kinds.length > 1 || this.random.below(5) === 0;
    return both(isCall ? this.#call(kindOf(id), key) : key, isGiven ? `$${name}` : String(id));
  }

  members(edge: Pattern): string {
    return `[${Array.from({ length: 1 + this.random.below(2) }, () => this.member(edge)).join(', ')}]`;
  }

  /** Writes a pattern with its table; edges sometimes have MEMBERS. */
  pattern({ alias, table }: Pattern): string {
    const members =
      this.isEdge({ alias, table }) && this.random.below(10) === 0 ? ` MEMBERS ${this.members({ alias, table })}` : '';
    return `(${alias}:${this.random.below(10) === 0 ? table.toLowerCase() : table})${members}`;
  }

  shape(aliases: readonly string[]): Shape {
    return { random: this.random, aliases, roles: this.#world.roles, parameters: this.#shared, loose: false };
  }

  /** Calls `make` until its text suits nodes or, with edges alone, has no integers as members. */
  #suited(patterns: readonly Pattern[], make: (shape: Shape) => string): string {
    const nodes = patterns.filter((one) => !this.isEdge(one));
    const aliases = patterns.map(({ alias }) => alias);
    const lists = nodes.map(({ alias }) => new RegExp(`\\b${alias}\\.(?:members|src|dst)\\b`, 'i'));
    const isRowNull = new RegExp(`(?<![.\\w])(?:${aliases.join('|')})\\)? IS\\b`, 'i');
    for (;;) {
      const text = make(this.shape(aliases));
      // With groups, ORDER BY does not find an item that tests a returned row for null.
      if (isRowNull.test(text) || RAW_MEMBERS.test(text)) continue;
      if (nodes.length > 0 && (OF_EDGES.test(text) || lists.some((list) => list.test(text)))) continue;
      return text;
    }
  }

  /** Returns a condition on one node, by its key or its attributes. */
  ofNode(node: Pattern): string {
    const { random } = this;
    const { alias, table } = node;
    const key = () => literalOf(keyOf(this.id([table]))!);
    const isText = table === 'Person';
    const forms: (() => string)[] = [
      () => `${alias}.name = ${key()}`,
      () => `${alias}.name = ${this.#parameter(keyOf(this.id([table])))}`,
      () => `${alias}.name ${this.#not(3)}IN [${key()}, ${key()}, ${isText ? "'nobody'" : 77777}]`,
      () => `${alias}.name ${this.#not(3)}IN ${this.#parameter([keyOf(this.id([table])), keyOf(this.id([table]))])}`,
      () => `${alias}.name ${pick(random, ['<', '<=', '>', '>=', '<>'])} ${key()}`,
      () => (isText ? `${alias}.name ${pick(random, ['STARTS WITH', 'CONTAINS'])} 'n'` : `${alias}.name % 2 = 0`),
      () =>
        `${alias}.${pick(random, ['n', 'score', 'big'])} ${pick(random, ['<', '>', '>=', '='])} ${random.below(9) - 3}`,
      () => `${alias}.place = ${pick(random, ["'home'", "'a'", "''"])}`,
      () => `${alias}.${pick(random, ['n', 'place', 'ok', 'score'])} IS ${this.#not(2)}NULL`,
      () => `${alias}.${pick(random, ['ok', 'open'])}`,
      () => this.#suited([node], (shape) => `(${condition(shape, 1 + random.below(2))})`),
    ];
    return pick(random, forms)();
  }

  #parameter(value: unknown): string {
    const name = `s${Object.keys(this.#shared).length}`;
    this.#shared[name] = value;
    return `$${name}`;
  }

  /** Returns a condition on one edge. */
  ofEdge(edge: Pattern): string {
    const { random } = this;
    const { alias } = edge;
    const forms: (() => string)[] = [
      () => `${this.member(edge)} ${this.#not(5)}IN ${this.nodesOf(edge)}`,
      () => `${this.nodesOf(edge)} ${pick(random, ['=', '<>'])} ${this.members(edge)}`,
      () => `size(${this.nodesOf(edge)}) ${pick(random, ['>', '<', '='])} ${random.below(4)}`,
      () => `${alias}.event_ts ${pick(random, ['<', '>='])} ${random.below(60) - 20}`,
      () => `${alias}.${pick(random, ['place', 'formation'])} = ${pick(random, ["'home'", "'a'", "''"])}`,
      () => this.#suited([edge], (shape) => indexable(shape)),
      () => this.#suited([edge], (shape) => indexable(shape)),
      () => this.#suited([edge], (shape) => `(${condition(shape, 1 + random.below(2))})`),
    ];
    if (this.#world.intervals)
      forms.push(
        () => `holds(${alias}, ${random.below(70) - 20})`,
        () => `${alias}.end_ts IS ${this.#not(2)}NULL`,
        () => `${alias}.end_ts > ${random.below(60) - 20}`,
      );
    return pick(random, forms)();
  }

  /** Returns a condition that compares columns of two patterns. */
  across(a: Pattern, b: Pattern): string {
    const { random } = this;
    const compare = () => pick(random, ['<', '<=', '>', '=', '<>']);
    const forms: (() => string)[] = [
      () => `${a.alias}.n ${compare()} ${b.alias}.n`,
      () => `${a.alias}.event_ts ${compare()} ${b.alias}.event_ts`,
      () => `${a.alias}.place = ${b.alias}.place`,
      () => `${b.alias}.event_ts BETWEEN ${a.alias}.event_ts AND ${a.alias}.event_ts + ${random.below(30)}`,
      () => `${a.alias}.score + 1 > ${b.alias}.n`,
      () => this.#suited([a, b], (shape) => `(${condition(shape, 2)})`),
    ];
    const edges = [a, b].filter((one) => this.isEdge(one));
    if (this.#world.intervals && edges.length > 0) {
      const edge = edges[0]!.alias;
      forms.push(() => `holds(${edge}, ${edge === a.alias ? b.alias : a.alias}.event_ts)`);
    }
    if (edges.length === 2)
      forms.push(
        () => `during(${a.alias}, ${b.alias})`,
        () => `shared(${pick(random, [a.alias, this.nodesOf(a)])}, ${b.alias}) >= ${random.below(3)}`,
        () => `intersects(${this.nodesOf(a)}, ${this.nodesOf(b)})`,
        () => `follows(${b.alias}, ${a.alias}, ${random.below(30)})`,
        () => `overlaps(${b.alias}, ${a.alias}, ${random.below(20)})`,
        () => `${a.alias}.id < ${b.alias}.id`,
        () => `${this.nodesOf(a)} = ${this.nodesOf(b)}`,
      );
    return pick(random, forms)();
  }

  /** Returns an expression on some patterns. */
  value(patterns: readonly Pattern[], kind: Kind, depth: number): string {
    return this.#suited(patterns, (shape) => expression(shape, kind, depth));
  }

  anyValue(patterns: readonly Pattern[], depth: number): string {
    return this.value(patterns, pick(this.random, KINDS), depth);
  }
}
