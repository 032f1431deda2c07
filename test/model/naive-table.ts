// A table as an array of edges: the naive model that the engine's answers are compared with. Every row knows the LSNs of its birth and death.

import type {
  ColumnDefinition,
  EdgeInput,
  EdgeRow,
  PropertyValue,
  RangeCondition,
  RowKey,
} from '../../src/engine/types.ts';

/** What a read asks for; as the engine's ScanRequest, without the text's form. */
export interface NaiveRequest {
  startTs?: number | undefined;
  endTs?: number | undefined;
  nodes?: readonly number[] | undefined;
  where?: readonly RangeCondition[] | undefined;
  limit?: number | undefined;
  after?: RowKey | undefined;
}

interface NaiveRow {
  row: EdgeRow;
  born: number;
  died: number;
}

export class NaiveTable {
  rows: NaiveRow[] = [];
  readonly columns: readonly ColumnDefinition[];

  constructor(columns: readonly ColumnDefinition[] = []) {
    this.columns = columns;
  }

  /** The row that an insert of `edge` stores. */
  rowOf(id: number, edge: EdgeInput): EdgeRow {
    const members = [...new Set(edge.members)].sort((a, b) => a - b);
    const row: EdgeRow = { id, event_ts: edge.event_ts, members, weight: null, mean_dist_m: null, formation: null };
    for (const column of this.columns) row[column.name] = column.default ?? null;
    for (const [name, value] of Object.entries(edge.properties ?? {}))
      if (value !== undefined) row[name] = value as PropertyValue;
    return row;
  }

  insert(row: EdgeRow, lsn: number): void {
    this.rows.push({ row, born: lsn, died: Infinity });
  }

  /** Kills every live edge with that time and member set; how many. */
  delete(eventTs: number, members: readonly number[], lsn: number): number {
    let matched = 0;
    for (const entry of this.rows) {
      if (entry.died !== Infinity || !isEdge(entry.row, eventTs, members)) continue;
      entry.died = lsn;
      matched++;
    }
    return matched;
  }

  /** Rows that a reader at `lsn` sees, in (event_ts, id) order. */
  at(lsn: number): EdgeRow[] {
    return this.rows
      .filter((entry) => entry.born <= lsn && entry.died > lsn)
      .map((entry) => entry.row)
      .sort((a, b) => a.event_ts - b.event_ts || a.id - b.id);
  }

  /** A crash: nothing after `lsn` has happened. */
  forgetAfter(lsn: number): void {
    this.rows = this.rows.filter((entry) => entry.born <= lsn);
    for (const entry of this.rows) if (entry.died !== Infinity && entry.died > lsn) entry.died = Infinity;
  }

  /** A compaction: rows that died go, with a cutoff also those with a smaller time. Returns how many live rows went. */
  compact(cutoffTs = -Infinity): number {
    const live = this.rows.filter((entry) => entry.died === Infinity);
    this.rows = live.filter((entry) => entry.row.event_ts >= cutoffTs);
    return live.length - this.rows.length;
  }
}

export function isEdge(row: EdgeRow, eventTs: number, members: readonly number[]): boolean {
  const set = [...new Set(members)].sort((a, b) => a - b);
  return (
    row.event_ts === eventTs &&
    row.members.length === set.length &&
    row.members.every((member, index) => member === set[index])
  );
}

/** The rows of `ordered` that a request asks for, and whether its limit left some out. */
export function select(ordered: readonly EdgeRow[], request: NaiveRequest): { rows: EdgeRow[]; hasMore: boolean } {
  const { startTs = -Infinity, endTs = Infinity, nodes = [], where = [], limit = Infinity, after } = request;
  const rows = ordered.filter(
    (row) =>
      row.event_ts >= startTs &&
      row.event_ts <= endTs &&
      nodes.every((node) => row.members.includes(node)) &&
      where.every((condition) => isInRange(row, condition)) &&
      (after === undefined || row.event_ts > after.eventTs || (row.event_ts === after.eventTs && row.id > after.id)),
  );
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

function isInRange(row: EdgeRow, condition: RangeCondition): boolean {
  const { column, low = -Infinity, high = Infinity, lowInclusive = true, highInclusive = true } = condition;
  const name = Object.keys(row).find((each) => each.toLowerCase() === column.toLowerCase())!;
  const value = row[name];
  if (typeof value !== 'number') return false;
  return (lowInclusive ? value >= low : value > low) && (highInclusive ? value <= high : value < high);
}

/** The row text of the specification: what JSON.stringify gives, rows separated by commas or ended by newlines. */
export function textOf(rows: readonly EdgeRow[], format: 'json' | 'ndjson'): string {
  const lines = rows.map((row) => JSON.stringify(row));
  return format === 'json' ? lines.join(',') : lines.map((line) => `${line}\n`).join('');
}
