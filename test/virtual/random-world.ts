// Makes random tables, specs and queries, each as SQL or text and as input for the naive model.

import type { Dialect } from '../../src/virtual/backend.ts';
import { checkedSpec, type VirtualSpec } from '../../src/virtual/spec/spec.ts';
import type { Random } from '../support/random.ts';
import type { Cell, Kind, ModelColumn, ModelCondition, ModelEdge, ModelOp, ModelQuery, ModelTable } from './model.ts';

export interface World {
  readonly name: string;
  readonly table: ModelTable;
  readonly edges: readonly ModelEdge[];
  readonly spec: VirtualSpec;
  /** SQL that creates the table and its rows. */
  readonly sql: Readonly<Record<Dialect, string>>;
}

const TYPES: Readonly<Record<Kind, readonly string[]>> = {
  integer: ['BIGINT', 'HUGEINT'],
  decimal: ['DECIMAL(18,2)'],
  real: ['DOUBLE'],
  text: ['VARCHAR'],
  boolean: ['BOOLEAN'],
  timestamp: ['TIMESTAMP'],
  timestamptz: ['TIMESTAMPTZ'],
  date: ['DATE'],
};
const POSTGRES_TYPES: Readonly<Record<Kind, string>> = {
  integer: 'bigint',
  decimal: 'numeric(18,2)',
  real: 'double precision',
  // The column has a collation, which the order of answers must not follow.
  text: 'text COLLATE "en-x-icu"',
  boolean: 'boolean',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  date: 'date',
};
const TIME_KINDS: readonly Kind[] = ['integer', 'timestamp', 'timestamptz', 'date'];
const MEMBER_KINDS: readonly Kind[] = ['integer', 'integer', 'text', 'text', 'decimal', 'real', 'date', 'timestamp'];
const KINDS = Object.keys(TYPES) as Kind[];
const TEXTS = [
  '',
  'a',
  'A',
  'b',
  'ab',
  "o'neil",
  '"',
  '\\',
  'é',
  'z',
  'Z',
  '中',
  '😀',
  '\uffff',
  ' ',
  'a b',
  '--',
  '/*',
  ';',
  '%',
  '1',
];
const NUMBERS = [0, 1, 2, 3, -1, 0.5, 1.5, -0.25, 2.5e10, Number.NaN, Number.POSITIVE_INFINITY];
const WIDE = [9_007_199_254_740_993n, -9_007_199_254_740_993n];

export function makeWorld(random: Random, number: number): World {
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;
  const columns: ModelColumn[] = [
    { name: 'When', kind: pick(TIME_KINDS) },
    { name: 'src', kind: pick(MEMBER_KINDS) },
    { name: 'dst "x"', kind: pick(MEMBER_KINDS) },
    { name: 'third', kind: pick(MEMBER_KINDS) },
    ...Array.from({ length: random.below(4) }, (_, index) => ({ name: `p ${index}`, kind: pick(KINDS) })),
  ];
  const types = columns.map(({ kind }) => pick(TYPES[kind]));
  const rows = Array.from({ length: random.below(40) }, () => columns.map(({ kind }) => cellOf(random, kind)));
  const name = `t"${number}`;
  const edges = edgesOf(columns);
  return {
    name,
    table: { columns, rows },
    edges,
    spec: specOf(name, edges),
    sql: {
      duckdb: tableSql(name, columns, types, rows, 'duckdb'),
      postgres: tableSql(
        name,
        columns,
        columns.map(({ kind }) => POSTGRES_TYPES[kind]),
        rows,
        'postgres',
      ),
    },
  };
}

function edgesOf(columns: readonly ModelColumn[]): ModelEdge[] {
  const member = (name: string, column: string, label: string) => ({ name, role: `the ${name}`, label, column });
  const members = [member('m1', 'src', 'Person'), member('m2', 'dst "x"', 'Place'), member('m3', 'third', 'Person')];
  const keys = ['third', ...columns.slice(4, 5).map(({ name }) => name)];
  return [
    { label: 'Rows', shape: 'row', ts: 'When', members, keys: [] },
    { label: 'Pair', shape: 'row', ts: 'When', members: members.slice(0, 2), keys: [] },
    { label: 'Grouped', shape: 'group', ts: 'When', members: [member('each', 'src', 'Person')], keys },
  ];
}

function specOf(table: string, edges: readonly ModelEdge[]): VirtualSpec {
  const body = {
    id: 'world',
    backend: { type: 'duckdb', path: 'world.duckdb' },
    nodes: [
      { label: 'Person', table, id_column: 'src' },
      { label: 'Place', table, id_column: 'dst "x"' },
    ],
    edges: edges.map(({ label, shape, ts, members, keys }) => ({
      label,
      shape,
      table,
      ts_column: ts,
      members: members.map(({ name, role, label: node_label }) => ({ name, role, node_label })),
      ...(shape === 'row'
        ? { row_member_columns: Object.fromEntries(members.map(({ name, column }) => [name, column])) }
        : { group_columns: keys, member_column: members[0]!.column }),
    })),
  };
  return checkedSpec(body, { root: '/srv/virtual' });
}

function cellOf(random: Random, kind: Kind): Cell {
  return random.chance(0.2) ? null : valueIn(random, kind);
}

/** Returns one of a few values, so that conditions often match rows. */
function valueIn(random: Random, kind: Kind): Exclude<Cell, null> {
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;
  switch (kind) {
    case 'integer':
      return random.chance(0.05) ? random.below(5) * 100_000 : random.below(9) - 3;
    case 'decimal':
      return (random.below(40) / 4 - 3).toFixed(2);
    case 'real':
      return pick(NUMBERS);
    case 'text':
      return pick(TEXTS);
    case 'boolean':
      return random.chance(0.5);
    case 'date':
      return random.below(6) - 3;
    case 'timestamp':
    case 'timestamptz':
      return (random.below(8) - 4) * 500_000 + (random.chance(0.2) ? random.below(3) - 1 : 0);
  }
}

function tableSql(
  name: string,
  columns: readonly ModelColumn[],
  types: readonly string[],
  rows: ModelTable['rows'],
  dialect: Dialect,
): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const heads = columns.map((column, index) => `${quoted(column.name)} ${types[index]}`);
  const values = rows.map(
    (row) => `(${row.map((value, index) => literalSql(value, columns[index]!.kind, dialect)).join(', ')})`,
  );
  const insert = rows.length === 0 ? '' : `INSERT INTO ${quoted(name)} VALUES ${values.join(', ')};`;
  return `CREATE TABLE ${quoted(name)} (${heads.join(', ')}); ${insert}`;
}

function literalSql(value: Cell, kind: Kind, dialect: Dialect): string {
  if (value === null) return 'NULL';
  if (kind === 'text') return `'${String(value).replaceAll("'", "''")}'`;
  if (kind === 'real') return `CAST('${value}' AS ${dialect === 'duckdb' ? 'DOUBLE' : 'double precision'})`;
  if (kind === 'date') return `DATE '1970-01-01' + ${value}`;
  if (!kind.startsWith('timestamp')) return String(value);
  return dialect === 'duckdb'
    ? `make_timestamp(${value})`
    : `CAST('1970-01-01 00:00:00+00' AS ${kind}) + interval '${value} microseconds'`;
}

/** Makes a random query, as text and for the model. */
export function makeQuery(random: Random, world: World): { edge: ModelEdge; query: ModelQuery; text: string } {
  const edge = world.edges[random.below(world.edges.length)]!;
  const conditions = Array.from({ length: random.below(4) }, () => makeCondition(random, world, edge));
  const limit = random.chance(0.3) ? random.below(12) : undefined;
  const query = { conditions, limit };
  return { edge, query, text: textOf(random, edge, query, world) };
}

function makeCondition(random: Random, { table }: World, edge: ModelEdge): ModelCondition {
  const of = (['member', 'column', 'time', 'size'] as const)[random.below(4)]!;
  const names =
    of === 'member'
      ? edge.members.map(({ name }) => name)
      : edge.shape === 'group'
        ? edge.keys
        : table.columns.map(({ name }) => name);
  const on = names[random.below(names.length)]!;
  const column = of === 'member' ? edge.members.find(({ name }) => name === on)!.column : on;
  const kind = of === 'member' || of === 'column' ? table.columns.find(({ name }) => name === column)!.kind : 'integer';
  const op = (['=', '=', '<>', '<', '<=', '>', '>=', 'IN', 'BETWEEN'] as const)[random.below(9)]!;
  const count = op === 'BETWEEN' ? 2 : op === 'IN' ? 1 + random.below(4) : 1;
  return { of, on, op, values: Array.from({ length: count }, () => literalOf(random, kind, of, table, edge)) };
}

/**
 * Returns a finite value of the column's kind or, if the kind is numeric, of another numeric kind.
 */
function literalOf(
  random: Random,
  kind: Kind,
  of: ModelCondition['of'],
  table: ModelTable,
  edge: ModelEdge,
): Exclude<Cell, null> {
  if (of === 'time') {
    const time = table.columns.find(({ name }) => name === edge.ts)!.kind;
    const near =
      time === 'date'
        ? (random.below(6) - 3) * 86_400 + (random.chance(0.3) ? random.below(3) - 1 : 0)
        : random.below(9) - 4;
    return random.chance(0.1) ? strangeNumber(random) : near;
  }
  if (kind === 'decimal') return Number(valueIn(random, kind));
  if (kind !== 'integer' && kind !== 'real') return valueIn(random, kind);
  if (random.chance(0.15)) return strangeNumber(random);
  const value = Number(valueIn(random, kind));
  return Number.isFinite(value) ? value : 7;
}

function strangeNumber(random: Random): number | bigint {
  return [0.5, -1.5, 2.5, 1e30, -1e30, 1e300, 253_402_300_799, 9e15, -9e15, ...WIDE][random.below(9 + WIDE.length)]!;
}

function textOf(random: Random, edge: ModelEdge, { conditions, limit }: ModelQuery, world: World): string {
  const word = (text: string) =>
    random.chance(0.5) ? text : random.chance(0.5) ? text.toLowerCase() : text[0] + text.slice(1).toLowerCase();
  const gap = () => [' ', '\n', ' /* ; -- */ ', ' // x\n ', '\t'][random.below(random.chance(0.2) ? 5 : 1)]!;
  const pattern = edge.members.map(({ name, label }) => `${word(name)}:${gap()}${word(label)}`).join(`,${gap()}`);
  const shown = conditions.map((condition) => conditionText(random, condition, world, edge));
  const where = shown.length === 0 ? '' : `${gap()}${word('WHERE')} ${shown.join(`${gap()}${word('AND')} `)}`;
  const end = limit === undefined ? '' : `${gap()}${word('LIMIT')} ${limit}`;
  return `${word('MATCH')}${gap()}(e:${word(edge.label)}){${pattern}}${where} ${word('RETURN')} E${end}`;
}

function conditionText(
  random: Random,
  { of, on, op, values }: ModelCondition,
  { table }: World,
  edge: ModelEdge,
): string {
  const column = of === 'member' ? edge.members.find(({ name }) => name === on)!.column : on;
  const kind = of === 'member' || of === 'column' ? table.columns.find(({ name }) => name === column)!.kind : 'integer';
  const subject = { member: `${on}.id`, column: `e.\`${on}\``, time: 'e.event_ts', size: 'size(e)' }[of];
  const literals = values.map((value) => literalText(random, value, kind));
  if (op === 'IN') return `${subject} IN [${literals.join(', ')}]`;
  return op === 'BETWEEN' ? `${subject} BETWEEN ${literals.join(' AND ')}` : `${subject} ${op} ${literals[0]}`;
}

function literalText(random: Random, value: Exclude<Cell, null>, kind: Kind): string {
  if (kind === 'text') return quotedText(random, value as string);
  if (kind === 'date') return `'${new Date(Number(value) * 86_400_000).toISOString().slice(0, 10)}'`;
  if (!kind.startsWith('timestamp'))
    return typeof value === 'number' && Number.isInteger(value) && random.chance(0.1) && Math.abs(value) < 1e15
      ? `${value}.0`
      : String(value);
  const second = Math.floor(Number(value) / 1_000_000);
  const micros = String(Number(value) - second * 1_000_000).padStart(6, '0');
  return `'${new Date(second * 1000).toISOString().slice(0, 19)}.${micros}${random.chance(0.5) ? 'Z' : ''}'`;
}

export function quotedText(random: Random, text: string): string {
  const quote = random.chance(0.5) ? "'" : '"';
  const inner = text.replaceAll('\\', '\\\\').replaceAll(quote, random.chance(0.5) ? `\\${quote}` : quote + quote);
  return quote + (random.chance(0.2) ? inner.replace(/[a-z]$/, unicodeEscape) : inner) + quote;
}

/** Writes a letter as \uXXXX, unless it follows a backslash and is thus part of an escape. */
function unicodeEscape(letter: string, offset: number, whole: string): string {
  return whole[offset - 1] === '\\' ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export type { ModelOp };
