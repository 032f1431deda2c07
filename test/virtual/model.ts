// Evaluates the query language naively over arrays. Compiled SQL and hydration together must give
// the same answers.

export type Kind = 'integer' | 'decimal' | 'real' | 'text' | 'boolean' | 'timestamp' | 'timestamptz' | 'date';
/** Timestamps are microseconds since 1970, dates are days since 1970, decimals are texts. */
export type Cell = number | bigint | string | boolean | null;

export interface ModelColumn {
  readonly name: string;
  readonly kind: Kind;
}

export interface ModelTable {
  readonly columns: readonly ModelColumn[];
  readonly rows: readonly (readonly Cell[])[];
}

export type ModelOp = '=' | '<>' | '<' | '<=' | '>' | '>=' | 'IN' | 'BETWEEN';

/**
 * A condition on a member, a column, the time or the size. `on` is the name of the member or
 * column, if there is one. Timestamps and dates in `values` have the same form as cells.
 */
export interface ModelCondition {
  readonly of: 'member' | 'column' | 'time' | 'size';
  readonly on: string;
  readonly op: ModelOp;
  readonly values: readonly (number | bigint | string | boolean)[];
}

export interface ModelEdge {
  readonly label: string;
  readonly shape: 'row' | 'group';
  readonly ts: string;
  /** The members in order. A group has exactly one. */
  readonly members: readonly {
    readonly name: string;
    readonly role: string;
    readonly label: string;
    readonly column: string;
  }[];
  /** Names of the columns in the key of a group. */
  readonly keys: readonly string[];
}

export interface ModelQuery {
  readonly conditions: readonly ModelCondition[];
  readonly limit: number | undefined;
}

export interface ModelAnswer {
  readonly edges: {
    members: { id: string; name: string; role: string }[];
    event_ts: number;
    properties: Record<string, unknown>;
  }[];
  readonly skipped: number;
}

/** The rows of one edge: a single row, or the rows of a group. */
type Rows = readonly (readonly Cell[])[];

export function evaluate(table: ModelTable, edge: ModelEdge, { conditions, limit }: ModelQuery): ModelAnswer {
  const kept = candidates(table, edge, conditions).filter((rows) =>
    conditions.every((condition) => holds(table, edge, rows, condition)),
  );
  const whole = kept.filter((rows) => timeOf(table, edge, rows) !== undefined && idsOf(table, edge, rows).length > 0);
  const sorted = whole
    .map((rows) => ({ rows, key: orderKey(table, edge, rows) }))
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ rows }) => rows);
  const edges = sorted.slice(0, limit ?? sorted.length).map((rows) => ({
    members: idsOf(table, edge, rows),
    event_ts: timeOf(table, edge, rows)!,
    properties: Object.fromEntries(
      propertyColumns(table, edge).map(({ name, kind }) => [name, jsonOf(cell(table, rows[0]!, name), kind)]),
    ),
  }));
  return { edges, skipped: limit === undefined ? kept.length - whole.length : 0 };
}

function place({ columns }: ModelTable, name: string): number {
  return columns.findIndex((column) => column.name === name);
}

function cell(table: ModelTable, row: readonly Cell[], name: string): Cell {
  return row[place(table, name)]!;
}

function kindOf(table: ModelTable, name: string): Kind {
  return table.columns[place(table, name)]!.kind;
}

/**
 * Returns the edges before conditions are applied: each row, or each group of rows. A condition on
 * a key column gives the same result before and after grouping, so all conditions are applied
 * afterwards.
 */
function candidates(table: ModelTable, edge: ModelEdge, _conditions: readonly ModelCondition[]): Rows[] {
  if (edge.shape === 'row') return table.rows.map((row) => [row]);
  const groups = new Map<string, (readonly Cell[])[]>();
  for (const row of table.rows) {
    const key = JSON.stringify(
      edge.keys.map((name) => [typeof cell(table, row, name), String(cell(table, row, name))]),
    );
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

function holds(table: ModelTable, edge: ModelEdge, rows: Rows, { of, on, op, values }: ModelCondition): boolean {
  switch (of) {
    case 'time':
      return test(timeOf(table, edge, rows) ?? null, 'integer', op, values);
    case 'size':
      return test(idsOf(table, edge, rows).length, 'integer', op, values);
    case 'column':
      return test(cell(table, rows[0]!, on), kindOf(table, on), op, values);
    case 'member': {
      const { column } = edge.members.find(({ name }) => name === on)!;
      return rows.some((row) => test(cell(table, row, column), kindOf(table, column), op, values));
    }
  }
}

function test(value: Cell, kind: Kind, op: ModelOp, values: ModelCondition['values']): boolean {
  if (value === null) return false;
  if (op === 'IN') return values.some((other) => compare(value, other, kind) === 0);
  if (op === 'BETWEEN') return compare(value, values[0]!, kind) >= 0 && compare(value, values[1]!, kind) <= 0;
  const order = compare(value, values[0]!, kind);
  return { '=': order === 0, '<>': order !== 0, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[
    op
  ];
}

/**
 * Compares two values. NaN equals itself and is the greatest value. Texts are compared by their
 * bytes. Integers are compared exactly.
 */
export function compare(a: Exclude<Cell, null>, b: Exclude<Cell, null>, kind: Kind): number {
  if (kind === 'text') return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string));
  if (kind === 'real' || kind === 'decimal') {
    const [x, y] = [Number(a), Number(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return x < y ? -1 : x > y ? 1 : 0;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function timeOf(table: ModelTable, { ts }: ModelEdge, rows: Rows): number | undefined {
  const times = rows.map((row) => cell(table, row, ts)).filter((value) => value !== null) as (number | bigint)[];
  if (times.length === 0) return undefined;
  const [least] = times.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)) as [number | bigint];
  const kind = kindOf(table, ts);
  if (kind === 'integer') return Number(least);
  return kind === 'date' ? Number(least) * 86_400 : Math.floor(Number(least) / 1_000_000);
}

/** Returns the members of an edge. The members of a group are distinct and in ascending order. */
function idsOf(table: ModelTable, { shape, members }: ModelEdge, rows: Rows): ModelAnswer['edges'][number]['members'] {
  const found = members.flatMap(({ name, role, label, column }) => {
    const kind = kindOf(table, column);
    const values = rows.map((row) => cell(table, row, column)).filter((value) => value !== null) as Exclude<
      Cell,
      null
    >[];
    if (shape === 'group') values.sort((a, b) => compare(a, b, kind));
    return values.map((value) => ({ id: `${label.toLowerCase()}:${textOf(value, kind)}`, name, role }));
  });
  return shape === 'row'
    ? found
    : found.filter(({ id }, index) => found.findIndex((other) => other.id === id) === index);
}

function textOf(value: Exclude<Cell, null>, kind: Kind): string {
  switch (kind) {
    case 'decimal':
      return String(value).replace(/\.?0+$/, '');
    case 'date':
      return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);
    case 'timestamp':
    case 'timestamptz': {
      const [ms, rest] = [Math.floor(Number(value) / 1000), ((Number(value) % 1000) + 1000) % 1000];
      const fraction =
        `${String(((ms % 1000) + 1000) % 1000).padStart(3, '0')}${String(rest).padStart(3, '0')}`.replace(/0+$/, '');
      return `${new Date(ms).toISOString().slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
    }
    default:
      return String(value);
  }
}

function jsonOf(value: Cell, kind: Kind): unknown {
  if (value === null) return null;
  if (kind === 'boolean' || kind === 'text') return value;
  if (kind === 'real') return Number.isFinite(value) ? value : null;
  if (kind === 'decimal') return Number(value);
  if (kind !== 'integer') return textOf(value, kind);
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function propertyColumns({ columns }: ModelTable, edge: ModelEdge): readonly ModelColumn[] {
  if (edge.shape === 'group') return edge.keys.map((name) => columns.find((column) => column.name === name)!);
  const used = [edge.ts, ...edge.members.map(({ column }) => column)];
  return columns.filter(({ name }) => !used.includes(name));
}

type Key = readonly { readonly value: Cell; readonly kind: Kind }[];

/** Returns the key by which edges are ordered: time, members (only of a row edge), properties. */
function orderKey(table: ModelTable, edge: ModelEdge, rows: Rows): Key {
  const members = edge.shape === 'row' ? edge.members.map(({ column }) => column) : [];
  const names = [...members, ...propertyColumns(table, edge).map(({ name }) => name)];
  const rest = names.map((name) => ({ value: cell(table, rows[0]!, name), kind: kindOf(table, name) }));
  return [{ value: timeOf(table, edge, rows)!, kind: 'integer' }, ...rest];
}

function compareKeys(a: Key, b: Key): number {
  for (const [index, { value, kind }] of a.entries()) {
    const other = b[index]!.value;
    if (value === null && other === null) continue;
    if (value === null || other === null) return value === null ? 1 : -1;
    const order = compare(value, other, kind === 'decimal' ? 'text' : kind);
    if (order !== 0) return order;
  }
  return 0;
}
