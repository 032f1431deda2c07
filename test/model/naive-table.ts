// A table as an array of edges: the naive model with which the engine's answers are compared. Every
// version of a row records the LSNs at which it was born and died.

import type {
  ColumnDefinition,
  EdgeInput,
  EdgeRow,
  PropertyValue,
  RangeCondition,
  RoleCondition,
  RowKey,
  TextCondition,
} from '../../src/engine/types.ts';

/** A read request, like the engine's ScanRequest but without the text format. */
export interface NaiveRequest {
  startTs?: number | undefined;
  endTs?: number | undefined;
  at?: number | undefined;
  nodes?: readonly number[] | undefined;
  inRoles?: readonly RoleCondition[] | undefined;
  where?: readonly RangeCondition[] | undefined;
  /** Texts of columns, given by id for the engine and by name for the model. */
  texts?: readonly (TextCondition & { readonly name: string })[] | undefined;
  limit?: number | undefined;
  after?: RowKey | undefined;
}

/** A column with a key that stays the same when the column is renamed. */
export interface NaiveColumn extends ColumnDefinition {
  key: number;
}

const BUILT_IN: readonly NaiveColumn[] = [
  { key: -3, name: 'weight', type: 'REAL' },
  { key: -2, name: 'mean_dist_m', type: 'REAL' },
  { key: -1, name: 'formation', type: 'TEXT' },
];

const END: NaiveColumn = { key: -4, name: 'end_ts', type: 'INTEGER' };

/** One version of a row. */
export class NaiveRow {
  readonly #table: NaiveTable;
  readonly #values: ReadonlyMap<number, PropertyValue>;
  #shown: { row: EdgeRow; columns: readonly NaiveColumn[] };
  born = Infinity;
  died = Infinity;

  /** `row` must have the current columns of the table. */
  constructor(table: NaiveTable, row: EdgeRow) {
    this.#table = table;
    this.#values = new Map(table.allColumns.map(({ key, name }) => [key, row[name] as PropertyValue]));
    this.#shown = { row, columns: table.columns };
  }

  /** Returns the row with the current columns of the table. */
  get row(): EdgeRow {
    const { columns, allColumns } = this.#table;
    if (this.#shown.columns === columns) return this.#shown.row;
    const { id, event_ts, members, roles } = this.#shown.row;
    const row: EdgeRow = { id, event_ts, members, ...(roles === undefined ? {} : { roles }) };
    for (const { key, name, default: fallback = null } of allColumns)
      row[name] = this.#values.has(key) ? this.#values.get(key)! : fallback;
    this.#shown = { row, columns };
    return row;
  }
}

export class NaiveTable {
  /** Every version of every row. */
  rows: NaiveRow[] = [];
  /** Never modified in place: an ALTER assigns a new array. */
  columns: readonly NaiveColumn[];
  readonly roles: readonly string[];
  /** Whether the table has the column `end_ts`. */
  readonly intervals: boolean;
  /** LSN of the last change of columns or name. */
  shapeLsn = 0;
  /** The rows as of this LSN and later are known; a compaction has dropped earlier ones. */
  droppedLsn = 0;
  /** Greatest id of a row that a compaction has dropped. */
  #droppedId = 0;
  #nextKey: number;

  constructor(columns: readonly ColumnDefinition[] = [], roles: readonly string[] = [], intervals = false) {
    this.roles = roles;
    this.intervals = intervals;
    this.columns = columns.map((column, key) => ({ ...column, key }));
    this.#nextKey = columns.length;
  }

  get allColumns(): readonly NaiveColumn[] {
    return [...BUILT_IN, ...(this.intervals ? [END] : []), ...this.columns];
  }

  /** Returns the row that an insert of `edge` stores. */
  rowOf(id: number, edge: EdgeInput): EdgeRow {
    const listed = Object.values(edge.roles ?? {}).flat() as number[];
    const members = setOf([...(edge.members as number[]), ...listed]);
    const listOf = (role: string): number[] =>
      setOf(Object.entries(edge.roles ?? {}).flatMap(([name, list]) => (isSame(name, role) ? (list as number[]) : [])));
    const row: EdgeRow = {
      id,
      event_ts: edge.event_ts,
      members,
      ...(this.roles.length > 0 ? { roles: Object.fromEntries(this.roles.map((role) => [role, listOf(role)])) } : {}),
      weight: null,
      mean_dist_m: null,
      formation: null,
    };
    if (this.intervals) row.end_ts = null;
    for (const column of this.columns) row[column.name] = column.default ?? null;
    for (const [name, value] of Object.entries(edge.properties ?? {}))
      if (value !== undefined) row[name] = value as PropertyValue;
    return row;
  }

  insert(row: EdgeRow, lsn: number): void {
    this.bear(new NaiveRow(this, row), lsn);
  }

  /** Inserts `version`, which was made earlier, at `lsn`. */
  bear(version: NaiveRow, lsn: number): void {
    version.born = lsn;
    this.rows.push(version);
  }

  /**
   * Marks every live edge with this time and this member set as dead. Returns the number of these
   * edges.
   */
  delete(eventTs: number, members: readonly number[], lsn: number): number {
    let matched = 0;
    for (const entry of this.rows) {
      if (entry.died !== Infinity || !isEdge(entry.row, eventTs, members)) continue;
      entry.died = lsn;
      matched++;
    }
    return matched;
  }

  /** Returns whether the version is part of the newest state. */
  isLive(version: NaiveRow): boolean {
    return version.died === Infinity && this.rows.includes(version);
  }

  /** Returns the rows visible to a reader at `lsn`, in (event_ts, id) order. */
  at(lsn: number): EdgeRow[] {
    return this.versionsAt(lsn).map((entry) => entry.row);
  }

  versionsAt(lsn: number): NaiveRow[] {
    return inOrder(this.rows.filter((entry) => entry.born <= lsn && entry.died > lsn));
  }

  addColumn(column: ColumnDefinition): void {
    this.columns = [...this.columns, { ...column, key: this.#nextKey++ }];
  }

  dropColumn(name: string): void {
    this.columns = this.columns.filter((column) => column.name !== name);
  }

  renameColumn(name: string, to: string): void {
    this.columns = this.columns.map((column) => (column.name === name ? { ...column, name: to } : column));
  }

  /** Undoes the inserts and deletes after `lsn`, as a crash does. */
  forgetAfter(lsn: number): void {
    this.rows = this.rows.filter((entry) => entry.born <= lsn);
    for (const entry of this.rows) if (entry.died !== Infinity && entry.died > lsn) entry.died = Infinity;
  }

  /**
   * Does what a compaction does: drops the dead rows and the rows with a time below `cutoffTs`,
   * and nothing can be read before `lsn` any more. Returns the number of live rows dropped.
   */
  compact(cutoffTs = -Infinity, lsn = 0): number {
    const live = this.rows.filter((entry) => entry.died === Infinity);
    this.#droppedId = this.greatestId;
    this.droppedLsn = Math.max(this.droppedLsn, lsn);
    this.rows = live.filter((entry) => entry.row.event_ts >= cutoffTs);
    return live.length - this.rows.length;
  }

  /** The greatest id of a row that was ever inserted; 0 if there is none. */
  get greatestId(): number {
    return this.rows.reduce((greatest, { row }) => Math.max(greatest, row.id), this.#droppedId);
  }
}

function setOf(members: readonly number[]): number[] {
  return [...new Set(members)].sort((a, b) => a - b);
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}

/** Returns the versions in (event_ts, id) order. */
export function inOrder(versions: readonly NaiveRow[]): NaiveRow[] {
  return [...versions].sort((a, b) => a.row.event_ts - b.row.event_ts || a.row.id - b.row.id);
}

export function isEdge(row: EdgeRow, eventTs: number, members: readonly number[]): boolean {
  const set = [...new Set(members)].sort((a, b) => a - b);
  return (
    row.event_ts === eventTs &&
    row.members.length === set.length &&
    row.members.every((member, index) => member === set[index])
  );
}

/** Returns the rows of `ordered` that a request selects, and whether its limit left some out. */
export function select(ordered: readonly EdgeRow[], request: NaiveRequest): { rows: EdgeRow[]; hasMore: boolean } {
  const { startTs = -Infinity, endTs = Infinity, at, nodes = [], where = [], limit = Infinity, after } = request;
  const { inRoles = [], texts = [] } = request;
  const rows = ordered.filter(
    (row) =>
      row.event_ts >= startTs &&
      row.event_ts <= endTs &&
      (at === undefined || holdsAt(row, at)) &&
      nodes.every((node) => row.members.includes(node)) &&
      inRoles.every((condition) => isInRole(row, condition)) &&
      where.every((condition) => isInRange(row, condition)) &&
      texts.every(({ name, text }) => row[name] === text) &&
      (after === undefined || row.event_ts > after.eventTs || (row.event_ts === after.eventTs && row.id > after.id)),
  );
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

function isInRole({ roles = {} }: EdgeRow, { node, role }: RoleCondition): boolean {
  return Object.entries(roles).some(([name, list]) => isSame(name, role) && list.includes(node));
}

/** Returns whether an edge of a table with intervals holds at a time. */
export function holdsAt({ event_ts, end_ts }: EdgeRow, at: number): boolean {
  return event_ts <= at && (end_ts === null || at < (end_ts as number));
}

function isInRange(row: EdgeRow, condition: RangeCondition): boolean {
  const { column, low = -Infinity, high = Infinity, lowInclusive = true, highInclusive = true } = condition;
  const name = Object.keys(row).find((each) => each.toLowerCase() === column.toLowerCase())!;
  const value = row[name];
  if (typeof value !== 'number') return false;
  return (lowInclusive ? value >= low : value > low) && (highInclusive ? value <= high : value < high);
}

/**
 * Returns the text of rows as a client receives it: the output of JSON.stringify for each row,
 * separated by commas ('json') or each followed by a newline ('ndjson').
 */
export function textOf(rows: readonly EdgeRow[], format: 'json' | 'ndjson'): string {
  const lines = rows.map((row) => JSON.stringify(row));
  return format === 'json' ? lines.join(',') : lines.map((line) => `${line}\n`).join('');
}
