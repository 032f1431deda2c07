// Reads rows of a table at one snapshot as columns, and converts rows to edges.

import type { PropertyValue, QueryPlan, ScanBounds, Snapshot, Table } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';
import {
  type ColumnNeeds,
  columnPlan,
  type PropertyColumn,
  QueryContext,
  type RowSet,
  type RowSource,
  readScan,
  type ScanPlan,
} from '../../query/index.ts';
import type { Member, MemberKeys } from './member-keys.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';

/** Some rows, ordered by (event_ts, id). */
export type EdgeRows = RowSet;

/** Ids of the built-in columns. */
export const WEIGHT = 0;
export const MEAN_DIST = 1;
export const FORMATION = 2;

/** Reads one snapshot of a table, any number of times. */
export class EdgeReader {
  readonly table: Table;
  readonly snapshot: Snapshot;
  readonly #whole: ReturnType<typeof columnPlan>;
  readonly #keys: ReturnType<typeof columnPlan>;
  readonly #plan: ScanPlan;
  readonly #context: QueryContext;
  /** The strategy of the last scan. */
  strategy: QueryPlan['strategy'] = 'FULL_SCAN';

  /** `keys` are the columns that `readKeys` reads in addition to times and ids. */
  constructor(
    table: Table,
    snapshot: Snapshot,
    keys: { members: boolean; columns: ReadonlySet<number>; masks?: boolean },
  ) {
    this.table = table;
    this.snapshot = snapshot;
    const pattern = { alias: 'e', table, members: undefined };
    // The reads are planned in the same event loop turn in which the snapshot is taken, because the
    // table's columns may change later.
    this.#whole = columnPlan(
      pattern.table.columns,
      needs(
        true,
        snapshot.columns.columns.map(({ id }) => id),
        !table.roles.isEmpty,
      ),
    );
    this.#keys = columnPlan(pattern.table.columns, needs(keys.members, keys.columns, keys.masks));
    this.#plan = { ...EMPTY_PLAN, needs: needs(false, []) };
    this.#context = new QueryContext({ source: NO_SOURCE, patterns: [], parameters: {}, nowUs: table.nowUs });
  }

  /** Yields rows with the columns that the search needs, and null after a few ms of work. */
  readKeys(bounds: ScanBounds): Generator<EdgeRows | null, void, void> {
    return this.#read(bounds, this.#keys);
  }

  /** Yields rows with all their columns, and null after a few ms of work. */
  readWhole(bounds: ScanBounds): Generator<EdgeRows | null, void, void> {
    return this.#read(bounds, this.#whole);
  }

  *#read(bounds: ScanBounds, columns: ReturnType<typeof columnPlan>): Generator<EdgeRows | null, void, void> {
    const scan = this.table.scan({ ...bounds, format: 'columns', columns }, this.snapshot);
    try {
      yield* readScan(scan, this.#plan, columns, this.#context);
    } finally {
      this.strategy = scan.plan().strategy;
      scan.close();
    }
  }
}

function needs(members: boolean, columns: Iterable<number>, masks = false): ColumnNeeds {
  return { times: true, ids: true, sizes: members, members, masks, properties: new Set(columns) };
}

const EMPTY_PLAN = {
  op: 'scan',
  pattern: 0,
  paths: [],
  texts: [],
  search: undefined,
  filter: [],
  estimatedRows: 0,
  totalBuckets: 0,
} as const;
const refuse = (): never => {
  throw new Error('rows are read by the scans of the reader alone');
};
const NO_SOURCE: RowSource = {
  scan: refuse,
  scanApart: refuse,
  segmentScan: refuse,
  loadEnds: refuse,
  count: refuse,
  textStatistics: refuse,
  bestRows: refuse,
  bytesWithoutBlock: refuse,
  timeBounds: refuse,
};

/**
 * Converts a row that was read with all its columns to an edge. `keys` are those of a named table.
 */
export function edgeOf(
  rows: EdgeRows,
  row: number,
  { score, why = [] }: { readonly score: number; readonly why?: readonly string[] },
  { columns, roles }: Snapshot,
  keys: MemberKeys | undefined,
): RetrievedEdge {
  const endColumn = columns.end;
  const own = columns.columns.filter((column) => column.id > FORMATION && column !== endColumn);
  const values = own.map(({ id, type }) => cellOf(rows.columns.get(id), row, kindOfType(type) === 'boolean'));
  const id = rows.ids[row]!;
  const [start, end] = [rows.offsets[row]!, rows.offsets[row + 1]!];
  const numbers = rows.members.subarray(start, end);
  const members: Member[] =
    keys === undefined ? Array.from(numbers) : Array.from(numbers, (number) => keys.memberOf(number));
  return {
    edge_id: id,
    hedge_tag: `HEDGE-${id}`,
    event_ts: rows.times[row]!,
    ...(endColumn === undefined ? {} : { end_ts: cellOf(rows.columns.get(endColumn.id), row, false) as number | null }),
    members,
    ...(roles.isEmpty ? {} : { roles: roles.listsOf(members, Array.from(rows.masks.subarray(start, end))) }),
    weight: cellOf(rows.columns.get(WEIGHT), row, false) as number | null,
    mean_dist_m: cellOf(rows.columns.get(MEAN_DIST), row, false) as number | null,
    formation: cellOf(rows.columns.get(FORMATION), row, false) as string | null,
    score,
    why,
    // A column may be called __proto__, and a plain assignment would set the prototype.
    properties: Object.fromEntries(own.map(({ name }, index) => [name, values[index]!])),
  };
}

export function cellOf(column: PropertyColumn | undefined, row: number, isBoolean: boolean): PropertyValue {
  if (column === undefined || column.nulls[row] === 1) return null;
  if (column.kind === 'text') return column.texts[column.codes[row]!]!;
  // JSON has no -0.
  return isBoolean ? column.values[row] === 1 : column.values[row]! + 0;
}
