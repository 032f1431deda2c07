// Turns edges into a bipartite graph, for formats whose edges join two nodes: every member and
// every hyperedge is a node of that graph, and every incidence, a member in a hyperedge, is an
// edge.

import { isoTime } from '../../iso-time.ts';
import type { ResultColumn } from '../../query/copy/index.ts';
import type { Row } from '../run/runner.ts';
import { checkEdgeColumns, type Edges, membersOf } from './edge-rows.ts';
import { type Interval, intervalOf } from './interval.ts';
import { NumberSet } from './number-set.ts';
import { checkTypes } from './rows.ts';
import { nameToken } from './xml-text.ts';

export type AttributeType = 'string' | 'long' | 'double' | 'boolean';

export interface Attribute {
  /** Unique among the attributes of the nodes, and a name token of XML. */
  readonly name: string;
  readonly type: AttributeType;
}

/** The value of an attribute, given by the attribute's index, as text. */
export type AttributeValue = readonly [attribute: number, text: string];

export interface GraphNode {
  /** `n<number>` for a member (see Members), `e<number>` for a hyperedge. */
  readonly id: string;
  readonly label: string;
  /** In the order of the attributes; without those that are null. */
  readonly values: readonly AttributeValue[];
  /** Undefined for a member, which is always there. */
  readonly interval: Interval | undefined;
}

export interface Incidence {
  /** Ids of nodes, which are in the same part or in an earlier one. */
  readonly hyperedge: string;
  readonly member: string;
  readonly interval: Interval;
}

export interface GraphPart {
  readonly nodes: readonly GraphNode[];
  readonly incidences: readonly Incidence[];
}

export interface BipartiteGraph {
  /** The attributes of nodes. Those of hyperedges are null for members. */
  readonly attributes: readonly Attribute[];
  /** The nodes and edges, in the order of the rows and of their members. */
  readonly parts: AsyncIterable<GraphPart>;
}

/**
 * Names, in lower case, that programs which read graphs give to something else. A column with such
 * a name, or with that of another column, gets the suffix `_2`.
 */
const RESERVED_NAMES = ['id', 'label', 'start', 'end', 'interval', 'timeset'];

const KIND: Attribute = { name: 'kind', type: 'string' };
const KIND_OF_MEMBER: readonly AttributeValue[] = [[0, 'node']];
const KIND_OF_EDGE: AttributeValue = [0, 'hyperedge'];

/**
 * Returns the graph, whose nodes have the attribute `kind`, `node` or `hyperedge`. Those of
 * hyperedges also have `event_ts` in seconds since 1970, `event_time` in ISO 8601, and the other
 * columns under their names; lists are written as JSON. Needs up to 22 bytes of memory for each
 * member, and while that memory grows half as much again. `format` is the name of the format in
 * messages. Throws an Error when the columns are not those of edges; iterating throws one for a row
 * that is not an edge or does not fit the columns.
 */
export function bipartiteGraph({ columns, batches, areEdges }: Edges, format: string): BipartiteGraph {
  checkEdgeColumns(columns, format);
  const others = columns.filter(({ name }) => !isShape(name) && !(areEdges && name === 'id'));
  const attributes = [KIND, ...attributesOf(others)];
  return { attributes, parts: partsOf(batches, others, areEdges, format) };
}

/** Returns whether a column is written in another form than as an attribute of its own. */
function isShape(name: string): boolean {
  return name === 'event_ts' || name === 'members';
}

function attributesOf(others: readonly ResultColumn[]): Attribute[] {
  const taken = new Set([...RESERVED_NAMES, KIND.name]);
  const given = [
    { name: 'event_ts', type: 'integer' },
    { name: 'event_time', type: 'text' },
  ] as const;
  return [...given, ...others].map(({ name, type }) => ({
    name: freeName(nameToken(name), taken),
    type: typeOf(type),
  }));
}

/** Returns the name with a number behind it if it is taken, and takes it. */
function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${name}_${number}`;
  taken.add(free.toLowerCase());
  return free;
}

function typeOf(type: ResultColumn['type']): AttributeType {
  switch (type) {
    case 'integer':
      return 'long';
    case 'real':
      return 'double';
    case 'boolean':
      return 'boolean';
    default:
      return 'string';
  }
}

async function* partsOf(
  batches: AsyncIterable<readonly Row[]>,
  others: readonly ResultColumn[],
  areEdges: boolean,
  format: string,
): AsyncGenerator<GraphPart, void, undefined> {
  const seen = new Members();
  let number = 0;
  for await (const batch of batches) {
    checkTypes(batch, others, format);
    const nodes: GraphNode[] = [];
    const incidences: Incidence[] = [];
    for (const row of batch) {
      const given = seen.textsOf(row, number, format);
      // The members of a table are distinct; a statement may return any list.
      const members = areEdges ? given : new Set(given);
      const interval = intervalOf(row);
      const hyperedge = `e${areEdges ? Number(row.id) : number}`;
      number++;
      for (const member of members) if (seen.add(member)) nodes.push(seen.nodeOf(member));
      nodes.push({ id: hyperedge, label: hyperedge, values: valuesOf(row, others), interval });
      for (const member of members) incidences.push({ hyperedge, member: seen.idOf(member), interval });
    }
    yield { nodes, incidences };
  }
}

/**
 * The members that occurred. A number is the node `n<number>`. A key of a named table is the label
 * of a node that is numbered from 1 in the order of occurrence; it takes some 100 bytes of memory.
 */
class Members {
  readonly #numbers = new NumberSet();
  readonly #places = new Map<string, number>();

  /** Returns numbers, or keys as texts: `Kind:key` if the row has the kinds. */
  textsOf(row: Row, number: number, format: string): readonly (number | string)[] {
    const { members } = row;
    if (!Array.isArray(members) || members.every(Number.isSafeInteger)) return membersOf(row, number, format);
    const texts = members.map(keyText);
    if (!texts.includes(undefined) && Number.isSafeInteger(row.event_ts)) return texts as string[];
    return membersOf(row, number, format);
  }

  /** Returns whether the member is new. */
  add(member: number | string): boolean {
    if (typeof member === 'number') return this.#numbers.add(member);
    const isNew = !this.#places.has(member);
    if (isNew) this.#places.set(member, this.#places.size + 1);
    return isNew;
  }

  idOf(member: number | string): string {
    return `n${typeof member === 'number' ? member : this.#places.get(member)!}`;
  }

  nodeOf(member: number | string): GraphNode {
    return { id: this.idOf(member), label: String(member), values: KIND_OF_MEMBER, interval: undefined };
  }
}

/** Returns a key as a text, or undefined for what is no key. */
function keyText(member: unknown): string | undefined {
  if (typeof member === 'string') return member;
  const { kind, key } = (member ?? {}) as { kind?: unknown; key?: unknown };
  const isKey = typeof key === 'string' || Number.isSafeInteger(key);
  return typeof kind === 'string' && isKey ? `${kind}:${key}` : undefined;
}

function valuesOf(row: Row, others: readonly ResultColumn[]): AttributeValue[] {
  const time = row.event_ts as number;
  const values: AttributeValue[] = [KIND_OF_EDGE, [1, String(time)], [2, isoTime(time)]];
  others.forEach(({ name }, index) => {
    const value = row[name];
    if (value !== null && value !== undefined) values.push([index + 3, valueText(value)]);
  });
  return values;
}

function valueText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
