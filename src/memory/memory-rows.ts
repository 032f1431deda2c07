// Reads memories as rows of their table, and shows them with keys in place of the numbers of nodes.

import type { Nodes, Scan, ScanBounds, Snapshot, Table } from '../engine/index.ts';
import type { Steps } from '../schedule/steps.ts';

/** A row of a table of memories. */
export interface MemoryRow {
  readonly id: number;
  /** Epoch seconds. */
  readonly event_ts: number;
  /** Epoch seconds; null while it holds. */
  readonly end_ts: number | null;
  /** Numbers of nodes, ascending. */
  readonly members: readonly number[];
  readonly roles: { readonly who: readonly number[]; readonly about: readonly number[] };
  /** Null only in an edge that was not written by `remember`. */
  readonly what: string | null;
  readonly source: string | null;
  readonly supersedes: number | null;
  /** Further columns. */
  readonly [column: string]: unknown;
}

/** A memory as answers show it. */
export interface ShownMemory {
  readonly id: number;
  readonly what: string | null;
  readonly who: readonly string[];
  readonly about: readonly string[];
  readonly event_ts: number;
  readonly end_ts: number | null;
  readonly source: string | null;
}

/**
 * Yields the rows of a scan of the format `ndjson`, a few at a time, and closes it. A step takes a
 * few ms.
 */
export function* rowsOf<Row = MemoryRow>(scan: Scan): Generator<Row[], void, void> {
  try {
    for (let slice = scan.next(); slice !== null; slice = scan.next()) {
      // Each row ends with a newline; inside a JSON text there is none.
      const lines = Buffer.from(slice).toString().trimEnd().replaceAll('\n', ',');
      yield JSON.parse(`[${lines}]`) as Row[];
    }
  } finally {
    scan.close();
  }
}

/** Reads all rows within bounds. */
export function* readRows(table: Table, snapshot: Snapshot, bounds: ScanBounds): Steps<MemoryRow[]> {
  const rows: MemoryRow[] = [];
  for (const some of rowsOf(table.scan({ ...bounds, format: 'ndjson' }, snapshot))) {
    rows.push(...some);
    yield;
  }
  return rows;
}

/** Returns the bounds that select one row by its id. */
export function withId(id: number): ScanBounds {
  return { where: [{ column: 'id', low: id, high: id }], limit: 1 };
}

export function shownMemory({ id, what, roles, event_ts, end_ts, source }: MemoryRow, nodes: Nodes): ShownMemory {
  const { who, about } = roles;
  return { id, what, who: keysOf(who, nodes), about: keysOf(about, nodes), event_ts, end_ts, source };
}

/** Returns the keys of nodes of a table of memories, which are texts. */
export function keysOf(numbers: readonly number[], nodes: Nodes): string[] {
  return numbers.map((number) => String(nodes.shown(number, false)));
}
