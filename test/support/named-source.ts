// Makes random keys, nodes and edges for histories of named tables.

import type { ColumnDefinition, EdgeInput, PropertyValue } from '../../src/engine/types.ts';
import type { MemberInput } from '../../src/model/edge.ts';
import type { NodeKey } from '../../src/model/node-refs.ts';
import { allColumns, type EdgeTable, type NaiveKind, type NodeTable } from '../model/named-state.ts';
import { EdgeSource } from './edge-source.ts';
import type { Random } from './random.ts';

/** Keys that are easily confused, or hard to write down. */
const TEXT_KEYS = [
  'Ada',
  'ada',
  'ADA',
  'ǅ',
  'caf\u00e9',
  'cafe\u0301',
  '\u212b',
  '\u00c5',
  'A\u030a',
  'a/b',
  '/',
  '.',
  '..',
  'a%2Fb',
  'say "hi" \\ to C:\\temp\\',
  "'; DROP TABLE calls; --",
  '😀',
  '👩\u200d🚀',
  '\u200fright to left',
  '\ufeff',
  '\u2028',
  ' ',
  'a ',
  ' a',
  '0',
  '1',
  'null',
  '__proto__',
  'constructor',
  'x'.repeat(512),
  `${'x'.repeat(511)}y`,
  'é'.repeat(256),
  '😀'.repeat(128),
  '{"kind":"K0","key":"Ada"}',
  'K0:Ada',
];
const INTEGER_KEYS = [0, 1, -1, 10, 2 ** 31, 2 ** 32, -(2 ** 32), Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER];
const BAD_TEXTS = ['', 'x'.repeat(513), 'é'.repeat(257), 'a\u0000', '\u007f', 'a\u0085b', '\ud800', 7, null, ['a']];
const BAD_INTEGERS = ['1', 0.5, 2 ** 53, Number.NaN, null, [1]];

/** A member of a random edge. */
export interface Ref {
  readonly kind: NaiveKind;
  readonly key: NodeKey;
}

/** A random edge, before it is written for the database. */
export interface EdgeSpec {
  readonly event_ts: number;
  readonly members: readonly Ref[];
  /** By the place of the role. */
  readonly roles: readonly (readonly Ref[])[];
  readonly properties: Readonly<Record<string, PropertyValue>>;
}

export class NamedSource {
  readonly random: Random;
  readonly edges: EdgeSource;
  readonly #keys: number;

  constructor(random: Random) {
    this.random = random;
    this.edges = new EdgeSource(random, 255);
    this.#keys = this.pick([3, 8, 40]);
  }

  pick<T>(values: readonly T[]): T {
    return this.edges.pick(values);
  }

  key({ isInteger }: NaiveKind): NodeKey {
    const { random } = this;
    if (random.chance(0.6)) return isInteger ? random.below(this.#keys) : `k${random.below(this.#keys)}`;
    return this.pick<NodeKey>(isInteger ? INTEGER_KEYS : TEXT_KEYS);
  }

  badKey({ isInteger }: NaiveKind): unknown {
    return this.pick<unknown>(isInteger ? BAD_INTEGERS : BAD_TEXTS);
  }

  ref({ kinds }: Pick<EdgeTable, 'kinds'>): Ref {
    const kind = this.pick(kinds);
    return { kind, key: this.key(kind) };
  }

  #refs(table: EdgeTable): Ref[] {
    const { random } = this;
    const count = random.chance(0.03) ? 40 : 1 + random.below(4);
    const refs = Array.from({ length: count }, () => this.ref(table));
    if (random.chance(0.1)) refs.push(refs[0]!);
    return refs;
  }

  edge(table: EdgeTable): EdgeSpec {
    const { random } = this;
    const members = this.#refs(table);
    const isListed = table.roles.length > 0 && random.chance(0.8);
    const roles = table.roles.map(() => {
      if (!isListed || random.chance(0.3)) return [];
      const list = members.filter(() => random.chance(0.5));
      return random.chance(0.15) ? [...list, this.ref(table)] : list;
    });
    const made = this.edges.edge({ columns: table.columns, roles: [], intervals: table.intervals });
    // Members that are in a role need not be listed again.
    const isShort = roles.some(({ length }) => length > 0) && random.chance(0.2);
    return {
      event_ts: made.event_ts,
      members: isShort ? [] : members,
      roles,
      properties: (made.properties ?? {}) as EdgeSpec['properties'],
    };
  }

  /** Returns an edge as callers give it: bare keys, or objects with kind and key. */
  input(table: EdgeTable, { event_ts, members, roles, properties }: EdgeSpec): EdgeInput {
    const lists = roles.flatMap((list, place) =>
      list.length === 0 ? [] : [[table.roles[place]!, this.members(table, list)] as const],
    );
    return {
      event_ts,
      members: this.members(table, members),
      ...(lists.length > 0 ? { roles: Object.fromEntries(lists) } : {}),
      properties,
    };
  }

  members({ kinds }: EdgeTable, refs: readonly Ref[]): MemberInput[] {
    const { random } = this;
    return refs.map(({ kind, key }) => {
      if (kinds.length === 1 && random.chance(0.8)) return key;
      return { kind: random.chance(0.2) ? kind.name.toLowerCase() : kind.name, key };
    });
  }

  /** Returns the attributes of a node; some may be left out. */
  attributes({ columns }: Pick<NodeTable, 'columns'>): Record<string, PropertyValue> {
    const { random } = this;
    const chosen = columns.filter(() => random.chance(0.6));
    return Object.fromEntries(chosen.map((column) => [column.name, this.edges.value(column)]));
  }

  /** Returns a column that may be added; often with a default. */
  column(name: string): ColumnDefinition {
    const type = this.pick(['INTEGER', 'REAL', 'TEXT', 'BOOLEAN'] as const);
    const value = this.random.chance(0.6) ? this.edges.value({ name, type }) : null;
    return value === null ? { name, type } : { name, type, default: value };
  }

  /** Returns an edge as a line of NDJSON. */
  line(table: EdgeTable, { event_ts, members, roles, properties }: EdgeSpec): string {
    const { roles: lists, members: list } = this.input(table, { event_ts, members, roles, properties: {} });
    const names = new Set(allColumns(table).map(({ name }) => name));
    const values = Object.entries(properties).filter(([name, value]) => names.has(name) && value !== null);
    const roleFields = lists === undefined ? {} : { roles: lists };
    return `${JSON.stringify({ event_ts, members: list, ...roleFields, ...Object.fromEntries(values) })}\n`;
  }
}
