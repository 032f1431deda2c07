// Random tables, and the parts of their edges that must survive an export and an import.

import type { Database, Table } from '../../src/engine/index.ts';
import type { ColumnDefinition, ColumnType, EdgeInput, EdgeRow, PropertyValue } from '../../src/engine/types.ts';
import type { Random } from '../support/random.ts';
import { rowsOf } from './support.ts';

const TYPES: readonly ColumnType[] = ['INTEGER', 'REAL', 'TEXT', 'BOOLEAN'];
const TEXTS = [
  ...['', ' ', 'a', ' led and trailed ', '12', '-0', '007', '1e5', '.5', '9007199254740993', 'true', 'null', 'NaN'],
  ...['a;b', 'a,b', 'a|b', 'a\tb', '"', '""', '"""', 'a "b"', "it's", "''", '`', '\\', '\\n', '\\"', '$1', '$name'],
  ...['line\nline', '\n', '\r', '\r\n', 'a\r\n"b"\r', '\u2028\u2029', '\u0000', 'a\u0000b', '\u0001\u001f\u007f'],
  ...[
    'é',
    'e\u0301',
    '🦊',
    '👩‍👩‍👧',
    '\ufeff',
    '\ufeffa',
    '\ufffd',
    '\u202eabc',
    '中文',
    '[1,2]',
    '{"a":1}',
    '[]',
    '=1+1',
  ],
  ...['2024-01-01', '1;2;3', 'constructor', '// no comment', '/* none */', 'a -- b', '#', 'x'.repeat(3000)],
];
const REALS = [
  ...[0, -0, 0.5, -1.25, 3, -7, 1 / 3, 0.1 + 0.2, 123456789.125, 1e-7, 5e-324, -5e-324, 1e21, 1e300, 1e308],
  ...[Number.MAX_VALUE, -Number.MAX_VALUE, Number.EPSILON, 2 ** 53, -(2 ** 53), 2 ** 53 + 2, 2 ** 63, 4294967296],
];
const INTEGERS = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 0, -0, -1];
/** Keywords of statements, and keys that every JavaScript object has. */
const COLUMN_NAMES = [
  ...['match', 'Where', 'ORDER', 'in', 'null', 'true', 'not', 'limit', 'count', 'e', 'values', 'as', 'bucket', 'size'],
  ...['constructor', 'toString', '__proto__', 'hasOwnProperty', 'length', 'ID_', 'edge', 'node', 'ts', 'time', '_'],
  `c${'x'.repeat(63)}`,
];
export const TABLE_NAMES = ['match', 'Where', 'null', 'in', 'constructor', 'Index', 'values', `t${'x'.repeat(50)}`];

export interface TableShape {
  /** Maximum members per edge. */
  readonly members?: number;
  readonly defaults?: boolean;
}

/**
 * Creates a table with random columns and edges. At random, also deletes rows, and compacts the
 * table before or after its last rows.
 */
export async function randomTable(
  database: Database,
  random: Random,
  name: string,
  { members = 60, defaults = false }: TableShape = {},
): Promise<Table> {
  const columns = randomColumns(random, defaults);
  const table = await database.createTable({ name, columns, bucketSeconds: pick([1, 10, 77, 86_400], random) });
  if (random.chance(0.05)) return table;
  const timeOf = randomTimes(random);
  const edges: EdgeInput[] = [];
  for (let rounds = 1 + random.below(3); rounds > 0; rounds--) {
    const bulk = table.bulk();
    for (let count = 1 + random.below(25); count > 0; count--) {
      const again = edges.length > 0 && random.chance(0.1);
      const edge = again ? pick(edges, random) : randomEdge(columns, timeOf, members, random);
      edges.push(edge);
      bulk.add(edge);
    }
    await bulk.commit();
    if (random.chance(0.3)) {
      const { event_ts: time, members: nodes } = pick(edges, random);
      await table.delete(time, nodes);
    }
    if (random.chance(0.2)) await database.compact({ table: name });
  }
  return table;
}

function randomColumns(random: Random, defaults: boolean): ColumnDefinition[] {
  const names = new Set<string>();
  for (let count = random.below(6); count > 0; count--)
    names.add(random.chance(0.4) ? pick(COLUMN_NAMES, random) : `c${count}`);
  return [...names].map((name) => {
    const type = pick(TYPES, random);
    return { name, type, ...(defaults && random.chance(0.3) ? { default: randomValue(type, random) } : {}) };
  });
}

function randomEdge(
  columns: readonly ColumnDefinition[],
  timeOf: () => number,
  most: number,
  random: Random,
): EdgeInput {
  const values: [string, PropertyValue][] = columns.flatMap(({ name, type }) =>
    random.chance(0.8) ? [[name, random.chance(0.1) ? null : randomValue(type, random)]] : [],
  );
  if (random.chance(0.5)) values.push(['weight', pick(REALS, random)]);
  if (random.chance(0.2)) values.push(['mean_dist_m', pick(REALS, random)]);
  if (random.chance(0.3)) values.push(['formation', pick(TEXTS, random)]);
  const count = random.chance(0.05) ? most : 1 + random.below(6);
  const members = Array.from({ length: count }, (_, at) => {
    if (count === most) return at * 7 - 100;
    return random.chance(0.05) ? pick(INTEGERS, random) : (random.chance(0.1) ? -1 : 1) * random.below(50);
  });
  return { event_ts: timeOf(), members, properties: Object.fromEntries(values) };
}

function randomTimes(random: Random): () => number {
  switch (random.below(8)) {
    case 0: // Milliseconds, or values that look like them.
      return () => 1_700_000_000_000 + random.below(1e6);
    case 1:
      return () => 1_700_000_000;
    case 2:
      return () => pick(INTEGERS, random);
    default:
      return () => (random.chance(0.1) ? -random.below(1000) : random.below(2_000_000_000));
  }
}

export function randomValue(type: ColumnType, random: Random): PropertyValue {
  switch (type) {
    case 'INTEGER':
      return random.chance(0.2) ? pick(INTEGERS, random) : random.below(1000) - 500;
    case 'REAL':
      return pick(REALS, random);
    case 'BOOLEAN':
      return random.chance(0.5);
    case 'TEXT':
      return pick(TEXTS, random);
  }
}

export function pick<T>(values: readonly T[], random: Random): T {
  return values[random.below(values.length)]!;
}

/** Returns all rows without their ids, as sorted texts. */
export function multiset(table: Table): string[] {
  return multisetOf(rowsOf(table));
}

export function multisetOf(rows: readonly EdgeRow[]): string[] {
  return rows
    .map(({ id: _, ...rest }) => JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))))
    .sort();
}
