// Makes random edges for histories. The seed decides the character of times, nodes, members and
// properties: dense or sparse, and small or up to 53 bits wide.

import type { ColumnDefinition, EdgeInput, PropertyValue } from '../../src/engine/types.ts';
import type { Random } from './random.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const TEXTS = [
  '',
  'a',
  'formation',
  'Überraschung, naïve café',
  '日本語のテキスト',
  '🦔 in the 🌿 hedge',
  'say "hi" \\ to C:\\temp\\',
  'line\nfeed\ttab\rreturn\b\f',
  '\u0000\u0001\u001f\u007f\u0080',
  '\u2028\u2029\ufeff',
  "'; DROP TABLE hyperedges; --",
  '{"event_ts": 1, "members": [1]}',
  '0123456789abcde',
  '0123456789abcdef',
  '0123456789abcde"',
];
const REALS = [
  0,
  1,
  -1,
  0.5,
  -0.25,
  0.1,
  1 / 3,
  1e21,
  1e-7,
  123456789.125,
  5e-324,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  2 ** 53,
  1e300,
  4.35,
  0.000001,
  1e15,
];
const COLUMN_TYPES = ['INTEGER', 'REAL', 'TEXT', 'BOOLEAN'] as const;
const MORE_TEXTS = ['TEXT', 'TEXT', 'TEXT'] as const;
const INTEGERS = [0, 1, -1, 127, 128, 255, 256, 65535, 65536, 2 ** 31, -(2 ** 31), 2 ** 32, MAX, -MAX];

export class EdgeSource {
  readonly #random: Random;
  readonly #baseTs: number;
  readonly #spanTs: number;
  readonly #rising: boolean;
  readonly #nodes: number[];
  readonly #maxMembers: number;
  readonly #longTexts: boolean;
  readonly #words: (() => string) | undefined;
  #lastTs: number;

  /** With `words`, which makes a text of words, all texts are such, and most columns are texts. */
  constructor(random: Random, maxMembers: number, words?: () => string) {
    this.#words = words;
    this.#random = random;
    this.#maxMembers = maxMembers;
    this.#spanTs = this.pick([1, 4, 30, 1000, 100_000, 2 ** 31, MAX]);
    this.#baseTs =
      this.#spanTs === MAX ? 0 : this.pick([0, -17, 1_700_000_000, -MAX, MAX - this.#spanTs, -2_000_000_000]);
    this.#rising = random.chance(0.4);
    this.#lastTs = this.#baseTs;
    this.#nodes = this.#makeNodes();
    this.#longTexts = random.chance(0.15);
  }

  #makeNodes(): number[] {
    const count = this.pick([2, 5, 12, 60]);
    const kind = this.#random.below(4);
    const nodes: number[] = [];
    for (let index = 0; index < count; index++) {
      if (kind === 0) nodes.push(index);
      else if (kind === 1) nodes.push(index * 1000 - 5000);
      else if (kind === 2) nodes.push(this.wide());
      else nodes.push(this.pick([index, -index, this.wide(), MAX - index, -MAX + index, 2 ** 32 + index]));
    }
    return nodes.map((node) => (node === 0 ? 0 : node));
  }

  /** Returns a random safe integer of any magnitude. */
  wide(): number {
    const value = (this.#random.below(2 ** 21) * 2 ** 32 + this.#random.below(2 ** 32)) % 2 ** this.#random.below(54);
    return this.#random.chance(0.5) ? -Math.min(value, MAX) || 0 : Math.min(value, MAX);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.#random.below(values.length)]!;
  }

  time(): number {
    const random = this.#random;
    if (this.#spanTs === MAX) return this.wide();
    if (!this.#rising) return this.#baseTs + random.below(this.#spanTs) || 0;
    if (random.chance(0.1)) return Math.max(-MAX, this.#lastTs - random.below(this.#spanTs)) || 0;
    this.#lastTs = Math.min(MAX, this.#lastTs + random.below(Math.ceil(this.#spanTs / 40) + 1));
    return this.#lastTs || 0;
  }

  node(): number {
    return this.pick(this.#nodes);
  }

  members(): number[] {
    const random = this.#random;
    if (random.chance(0.03)) {
      const start = this.pick([0, -100, 2 ** 33, MAX - 300]);
      const step = start === MAX - 300 ? 1 : this.pick([1, 3, 300]);
      const count = random.chance(0.5) ? this.#maxMembers : 1 + random.below(this.#maxMembers);
      return Array.from({ length: count }, (_, index) => start + index * step);
    }
    const members = Array.from({ length: 1 + random.below(4) }, () => this.node());
    if (random.chance(0.1)) members.push(members[0]!);
    return members;
  }

  text(): string {
    if (this.#words !== undefined) return this.#words();
    const random = this.#random;
    if (this.#longTexts && random.chance(0.3))
      return this.pick(['x', '"', 'é', '\u0001', '🦔']).repeat(1 + random.below(16_000));
    return random.chance(0.3) ? `${this.pick(TEXTS)}${this.pick(TEXTS)}` : this.pick(TEXTS);
  }

  value(column: ColumnDefinition): PropertyValue {
    const random = this.#random;
    if (random.chance(0.15)) return null;
    switch (column.type) {
      case 'INTEGER':
        return random.chance(0.5) ? this.pick(INTEGERS) : this.wide();
      case 'REAL':
        return random.chance(0.5)
          ? this.pick(REALS)
          : (random.below(2 ** 32) - 2 ** 31) / this.pick([1, 3, 7, 1000, 2 ** 40]);
      case 'BOOLEAN':
        return random.chance(0.5);
      case 'TEXT':
        return this.text();
    }
  }

  /** Returns an edge for such a table; with `intervals`, most edges have an end. */
  edge({
    columns,
    roles,
    intervals,
  }: {
    columns: readonly ColumnDefinition[];
    roles: readonly string[];
    intervals: boolean;
  }): EdgeInput {
    const random = this.#random;
    const properties: Record<string, PropertyValue> = {};
    const isFull = this.#words !== undefined;
    if (random.chance(isFull ? 0.95 : 0.6)) {
      const all: ColumnDefinition[] = [
        { name: 'weight', type: 'REAL' },
        { name: 'mean_dist_m', type: 'REAL' },
        { name: 'formation', type: 'TEXT' },
        ...columns,
      ];
      for (const column of all) if (random.chance(isFull ? 0.7 : 0.4)) properties[column.name] = this.value(column);
    }
    const edge: EdgeInput = { event_ts: this.time(), members: this.members() };
    if (intervals && random.chance(0.7)) properties.end_ts = this.#end(edge.event_ts);
    if (roles.length > 0 && random.chance(0.8)) edge.roles = this.#roles(roles, edge.members as readonly number[]);
    return Object.keys(properties).length > 0 || random.chance(0.1) ? { ...edge, properties } : edge;
  }

  /** Returns random lists of members, and sometimes of other nodes, by role. */
  #roles(roles: readonly string[], members: readonly number[]): Record<string, number[]> {
    const random = this.#random;
    const lists: Record<string, number[]> = {};
    for (const role of roles) {
      if (random.chance(0.3)) continue;
      const list = members.filter(() => random.chance(0.5));
      if (random.chance(0.1) && members.length < this.#maxMembers - 20) list.push(this.node());
      lists[random.chance(0.1) ? role.toUpperCase() : role] = list;
    }
    return lists;
  }

  /** Returns the roles of a new table; often none. */
  roles(): string[] {
    const random = this.#random;
    if (random.chance(0.5)) return [];
    const count = random.chance(0.2) ? 16 : 1 + random.below(3);
    return Array.from({ length: count }, (_, index) => `role_${index}`);
  }

  /** Returns an end: often none, none soon, or that of an edge that ends where it begins. */
  #end(eventTs: number): number | null {
    const random = this.#random;
    if (random.chance(0.15)) return null;
    const length = this.pick([0, 1, random.below(20), random.below(this.#spanTs), Math.abs(this.wide())]);
    return Math.min(MAX, eventTs + length);
  }

  /** Types of new columns; equally likely, so a type may be there more than once. */
  get columnTypes(): readonly ColumnDefinition['type'][] {
    return this.#words === undefined ? COLUMN_TYPES : [...COLUMN_TYPES, ...MORE_TEXTS];
  }

  columns(): ColumnDefinition[] {
    const random = this.#random;
    const columns: ColumnDefinition[] = [];
    const types = this.columnTypes;
    const count = random.below(6);
    for (let index = 0; index < count; index++) {
      const column: ColumnDefinition = { name: `c${index}`, type: this.pick(types) };
      if (random.chance(0.4)) column.default = this.value(column);
      columns.push(column);
    }
    return columns;
  }
}
