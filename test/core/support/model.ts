// The naive model with which the core is compared: edges as objects, the record format (section 1
// of FORMAT.md) in plain JavaScript, and random tables from seeds.

import { buildRowPlan, encodeProperties, type RowPlan } from '../../../src/core/index.ts';
import type { ColumnType } from '../../../src/model/column-types.ts';
import type { Random } from './random.ts';

export type Value = number | string | boolean | null;

/**
 * An edge as the core should store it: members ascending and distinct, properties in ascending
 * order of their columns.
 */
export interface Edge {
  time: number;
  id: number;
  members: number[];
  properties: Map<number, Value>;
  /** Role masks, parallel to the members; undefined if no member has a role. */
  masks?: number[] | undefined;
}

export interface Column {
  id: number;
  name: string;
  type: ColumnType;
  indexed: boolean;
  /** Whether the column has the ends of intervals. */
  ends?: boolean;
  /** The value of rows that lack the property. */
  byDefault: Value;
}

export const SAFE = Number.MAX_SAFE_INTEGER;

export function edgeOf(
  time: number,
  id: number,
  members: readonly number[],
  properties: Record<number, Value> = {},
): Edge {
  const entries = Object.entries(properties).map(([column, value]) => [Number(column), value] as const);
  return { time, id, members: distinct(members), properties: new Map(entries.sort((a, b) => a[0] - b[0])) };
}

export function distinct(members: readonly number[]): number[] {
  return [...new Set(members)].sort((a, b) => a - b);
}

export function compareEdges(a: Edge, b: Edge): number {
  return a.time - b.time || a.id - b.id;
}

function typeOf(value: Value, column: Column | undefined): ColumnType {
  if (column) return column.type;
  if (typeof value === 'string') return 'TEXT';
  return typeof value === 'boolean' ? 'BOOLEAN' : 'REAL';
}

/** Returns the property block of an edge; it is empty if the edge has no properties. */
export function propertyBlock(edge: Edge, columns: readonly Column[]): Uint8Array {
  const properties = [...edge.properties].map(([id, value]) => {
    const column = columns.find((candidate) => candidate.id === id);
    return { column: id, type: typeOf(value, column), value };
  });
  return Uint8Array.from(encodeProperties(properties));
}

/** Returns the record of an edge, built as section 1 of FORMAT.md specifies. */
export function naiveRecord(edge: Edge, columns: readonly Column[] = []): Uint8Array {
  const controls = Math.ceil(edge.members.length / 4);
  const bytes = new Uint8Array(24 + controls + 8 * edge.members.length);
  const view = new DataView(bytes.buffer);
  let at = 24 + controls;
  let previous = 0n;
  for (const [index, member] of edge.members.entries()) {
    const value = BigInt(member);
    let coded = value - previous;
    if (index === 0) coded = value < 0n ? -value * 2n - 1n : value * 2n;
    previous = value;
    const code = coded <= 0xffn ? 0 : coded <= 0xffffn ? 1 : coded <= 0xffffffffn ? 2 : 3;
    bytes[24 + (index >> 2)]! |= code << ((index & 3) * 2);
    view.setBigUint64(at, coded, true); // the next member overwrites the zeros of this one
    at += 1 << code;
  }
  const block = edge.properties.size > 0 ? propertyBlock(edge, columns) : new Uint8Array(0);
  const masks = new Uint8Array((edge.masks?.length ?? 0) * 2);
  for (const [index, mask] of edge.masks?.entries() ?? []) new DataView(masks.buffer).setUint16(index * 2, mask, true);
  if (masks.length > 0) view.setUint8(5, 1);
  const dataEnd = at;
  at += masks.length;
  view.setUint32(0, at + block.length, true);
  view.setUint8(4, edge.members.length);
  view.setUint16(6, block.length > 0 ? at : 0, true);
  view.setBigInt64(8, BigInt(edge.time), true);
  view.setBigInt64(16, BigInt(edge.id), true);
  return concat([bytes.subarray(0, dataEnd), masks, block]);
}

export function concat(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/**
 * Returns the JSON text of one row as JSON.stringify writes it; with roles, if the table has some.
 */
export function rowText(edge: Edge, columns: readonly Column[], roles: readonly string[] = []): string {
  const row: Record<string, unknown> = { id: edge.id, event_ts: edge.time, members: edge.members };
  if (roles.length > 0)
    row.roles = Object.fromEntries(
      roles.map((role, bit) => [role, edge.members.filter((_, index) => ((edge.masks?.[index] ?? 0) >> bit) & 1)]),
    );
  for (const column of columns)
    row[column.name] = edge.properties.has(column.id) ? edge.properties.get(column.id) : column.byDefault;
  return JSON.stringify(row);
}

export function planOf(columns: readonly Column[], roles: readonly string[] = []): RowPlan {
  return buildRowPlan(
    columns.map(({ id, name, byDefault }) => ({ id, name, missing: JSON.stringify(byDefault) })),
    { roles },
  );
}

/**
 * The columns of the test tables: every type, with and without a default, with and without an order
 * index.
 */
export const COLUMNS: readonly Column[] = [
  { id: 0, name: 'weight', type: 'REAL', indexed: true, byDefault: null },
  { id: 3, name: 'price', type: 'REAL', indexed: true, byDefault: 1.5 },
  { id: 4, name: 'count', type: 'INTEGER', indexed: true, byDefault: null },
  { id: 5, name: 'big', type: 'INTEGER', indexed: true, byDefault: -7 },
  { id: 6, name: 'title "quoted"', type: 'TEXT', indexed: false, byDefault: null },
  { id: 7, name: 'tag', type: 'TEXT', indexed: false, byDefault: 'none\n' },
  { id: 8, name: 'open', type: 'BOOLEAN', indexed: false, byDefault: null },
  { id: 300, name: 'flag', type: 'BOOLEAN', indexed: false, byDefault: true },
  { id: 65535, name: 'rare', type: 'INTEGER', indexed: true, byDefault: null },
];

const TEXTS = ['', 'a', 'b', 'Größe', '日本語', '"\\\n\u0001', '😀 face', 'x'.repeat(300), 'tab\there'];

export function randomValue(random: Random, column: Column): Value {
  if (random.below(6) === 0) return null;
  switch (column.type) {
    case 'REAL':
      if (column.id === 0) return random.below(40) / 4; // exact in f32, with many equal values
      return [random.unit() * 1e6, -random.unit(), 0, 1e300, 5e-324, 123456.789, -0][random.below(7)]!;
    case 'INTEGER':
      if (column.id === 4) return random.below(200) - 100;
      if (column.id === 65535) return [SAFE, -SAFE][random.below(2)]!;
      return Math.floor((random.unit() - 0.5) * 2 ** (8 + random.below(44)));
    case 'TEXT':
      return random.below(3) > 0 ? TEXTS[random.below(TEXTS.length)]! : `text ${random.below(1000)}`;
    default:
      return random.below(2) === 1;
  }
}

export interface TableShape {
  rows: number;
  time: (random: Random, row: number) => number;
  /** Returns the id of row number `row`. Ids are distinct. */
  id: (random: Random, row: number) => number;
  node: (random: Random) => number;
  members: (random: Random) => number;
  columns: readonly Column[];
  /** For each column, on average one row in `sparsity` has the property. */
  sparsity: number;
}

/** Returns a random table in key order. */
export function randomTable(random: Random, shape: TableShape): Edge[] {
  const edges: Edge[] = [];
  for (let row = 0; row < shape.rows; row++) {
    const members = Array.from({ length: shape.members(random) }, () => shape.node(random));
    const properties: Record<number, Value> = {};
    for (const column of shape.columns) {
      if (random.below(shape.sparsity) === 0) properties[column.id] = randomValue(random, column);
    }
    edges.push(edgeOf(shape.time(random, row), shape.id(random, row), members, properties));
  }
  return edges.sort(compareEdges);
}
