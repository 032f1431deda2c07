// Turns the rows of a compiled query into hyperedges.

import { setImmediate } from 'node:timers/promises';
import { setField } from '../../model/set-field.ts';
import type { Pauses } from '../../schedule/steps.ts';
import type { RowBatch, RowBatches, SqlColumn, SqlRow, SqlValue } from '../backend.ts';
import type { ReadMember, RowReading } from '../compile/compile.ts';
import { isLongList, listIds, prepareIds } from './group-ids.ts';
import { type EdgeForm, type EdgesAsJson, type EdgeWriter, edgeWriter } from './json.ts';
import { idText, type PropertyValue, propertyOf, secondOf, vertexHead } from './values.ts';

export interface HydratedMember {
  /** `<label in lower case>:<value>`, where the value is exact. */
  readonly vertex_local_id: string;
  readonly role: string;
  readonly name: string;
}

/** An edge as it is sent in an answer. */
export interface HydratedEdge {
  readonly edge_label: string;
  /** In the order of the spec for the shape `row`, in ascending order of values for `group`. */
  readonly members: readonly HydratedMember[];
  readonly event_ts: number;
  readonly properties: Readonly<Record<string, PropertyValue>>;
  readonly provenance: Provenance;
}

export interface Provenance {
  readonly graph: string;
  readonly spec_version: number;
  /** Epoch seconds. */
  readonly captured_at: number;
}

/** The edges in one batch of rows, which are built when they are read. */
export interface HydratedBatch {
  /**
   * Returns the edges in parts, each of which takes a millisecond or two to build. Throws
   * `hydration_failed`.
   */
  parts(): Iterable<readonly HydratedEdge[]>;
  /** Number of edges. */
  readonly count: number;
  /**
   * Number of rows or groups that do not become edges, because they have no members or no time. If
   * the query has a LIMIT, the SQL already excludes them.
   */
  readonly skipped: number;
  /** Approximate memory in bytes that the edges need once they are built. */
  readonly bytes: number;
  /**
   * Returns the edges as JSON, in pieces, without building them. The bytes of each edge are those
   * that `JSON.stringify` would give, except that times are texts if requested. A piece is valid
   * until the next one of any batch of this result, because the buffer is reused. Throws
   * `hydration_failed`.
   */
  json(form: EdgeForm): Iterable<EdgesAsJson>;
}

/**
 * Hydrates batches as they arrive. Leaving the loop early ends the query. Throws the errors from
 * `rows`, or `hydration_failed`, which the batches throw too. `pauses` defines how the work on
 * large groups lets other work run. By default the work pauses for one turn of the event loop.
 */
export async function* hydrate(
  rows: RowBatches,
  reading: RowReading,
  provenance: Provenance,
  pauses: Pauses = AT_TURNS,
): AsyncGenerator<HydratedBatch, void, undefined> {
  const edgeAt = edgeReader(reading, provenance);
  const write = edgeWriter(reading, provenance);
  for await (const batch of rows) {
    const hydrated = new Hydrated(batch, reading, edgeAt, write);
    if (reading.shape !== 'row') await hydrated.prepare(pauses);
    yield hydrated;
  }
}

const AT_TURNS: Pauses = { nowUs: () => performance.now() * 1000, pause: () => setImmediate() };

/** Builds the edge of a row, which must be one of the rows that become edges. */
type EdgeReader = (columns: readonly SqlColumn[], row: number) => HydratedEdge;

/** A part of a batch ends when its edges and their members are this many. */
const MEMBERS_OF_PART = 2000;

class Hydrated implements HydratedBatch {
  readonly skipped: number;
  readonly #columns: readonly SqlColumn[];
  readonly #reading: RowReading;
  /** Indexes of the rows that become edges. */
  readonly #rows: Uint32Array;
  readonly #edgeAt: EdgeReader;
  readonly #write: EdgeWriter;

  constructor(batch: RowBatch, reading: RowReading, edgeAt: EdgeReader, write: EdgeWriter) {
    this.#columns = batch.columns ?? columnsOf(batch, 1 + reading.members.length + reading.properties.length);
    this.#reading = reading;
    this.#rows = rowsOfEdges(this.#columns, batch.length, reading);
    this.skipped = batch.length - this.#rows.length;
    this.#edgeAt = edgeAt;
    this.#write = write;
  }

  /** Sorts the members of large groups in steps. */
  async prepare(pauses: Pauses): Promise<void> {
    const { name, kind } = this.#reading.members[0]!;
    const lists = this.#columns[this.#columns.length - 1]!;
    for (const row of this.#rows) {
      const list = lists[row]!;
      if (isLongList(list)) await prepareIds(list, kind, name, pauses);
    }
  }

  get count(): number {
    return this.#rows.length;
  }

  *parts(): Generator<readonly HydratedEdge[], void, void> {
    let part: HydratedEdge[] = [];
    let members = 0;
    for (const row of this.#rows) {
      const edge = this.#edgeAt(this.#columns, row);
      part.push(edge);
      members += 1 + edge.members.length;
      if (members < MEMBERS_OF_PART) continue;
      yield part;
      part = [];
      members = 0;
    }
    if (part.length > 0) yield part;
  }

  get bytes(): number {
    const { members, properties } = this.#reading;
    const values = this.#columns.reduce((sum, column) => sum + bytesOf(column), 0);
    return this.count * (120 + 80 * members.length + 60 * properties.length) + values;
  }

  json(form: EdgeForm): Iterable<EdgesAsJson> {
    return this.#write(this.#columns, this.#rows, form);
  }
}

/** Assumed length of a number in a list. */
const DIGITS = 8;

function bytesOf(column: SqlColumn): number {
  if (column instanceof Float64Array) return 8 * column.length;
  let bytes = 8 * column.length;
  for (const value of column) {
    if (typeof value === 'string') bytes += 2 * value.length;
    else if (Array.isArray(value))
      for (const item of value) bytes += 100 + 2 * (typeof item === 'string' ? item.length : DIGITS);
  }
  return bytes;
}

function columnsOf(batch: Iterable<SqlRow>, count: number): SqlColumn[] {
  const rows = [...batch];
  return Array.from({ length: count }, (_, column) => rows.map((row): SqlValue => row[column]!));
}

function rowsOfEdges(columns: readonly SqlColumn[], length: number, { shape, members }: RowReading): Uint32Array {
  const found = new Uint32Array(length);
  const times = columns[0]!;
  const ids = shape === 'row' ? columns.slice(1, 1 + members.length) : columns.slice(-1);
  const isThere = shape === 'row' ? hasValue : hasItem;
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (times[row] === null) continue;
    for (const column of ids) {
      if (!isThere(column, row)) continue;
      found[count++] = row;
      break;
    }
  }
  return found.subarray(0, count);
}

function hasValue(column: SqlColumn, row: number): boolean {
  return column[row] !== null;
}

/**
 * Returns whether the list contains a value. A value that is not a list counts as present, because
 * reading it later throws a useful error.
 */
function hasItem(column: SqlColumn, row: number): boolean {
  const list: SqlValue = column[row]!;
  return Array.isArray(list) ? list.some((item) => item !== null) : list !== null;
}

function edgeReader(reading: RowReading, provenance: Provenance): EdgeReader {
  const { edgeLabel: edge_label } = reading;
  const membersAt = reading.shape === 'row' ? rowMembers(reading.members) : groupMembers(reading.members[0]!);
  const firstProperty = reading.shape === 'row' ? 1 + reading.members.length : 1;
  return (columns, row) => {
    const event_ts = secondOf(columns[0]![row]!, edge_label);
    const members = membersAt(columns, row);
    const properties = propertiesAt(columns, row, reading, firstProperty);
    return { edge_label, members, event_ts, properties, provenance };
  };
}

type MembersReader = (columns: readonly SqlColumn[], row: number) => HydratedMember[];

function rowMembers(members: readonly ReadMember[]): MembersReader {
  const heads = members.map(({ nodeLabel }) => vertexHead(nodeLabel));
  return (columns, row) => {
    const found: HydratedMember[] = [];
    for (let index = 0; index < members.length; index++) {
      const { name, role, kind } = members[index]!;
      const value = columns[index + 1]![row]!;
      if (value !== null) found.push({ vertex_local_id: heads[index]! + idText(value, kind, name)!, role, name });
    }
    return found;
  };
}

function groupMembers(member: ReadMember): MembersReader {
  const { name, role, kind } = member;
  const head = vertexHead(member.nodeLabel);
  return (columns, row) => {
    const list = columns[columns.length - 1]![row]!;
    return listIds(list, kind, name).map((value) => ({ vertex_local_id: head + value, role, name }));
  };
}

function propertiesAt(
  columns: readonly SqlColumn[],
  row: number,
  { properties }: RowReading,
  first: number,
): Record<string, PropertyValue> {
  const found: Record<string, PropertyValue> = {};
  for (let index = 0; index < properties.length; index++) {
    const { name, kind } = properties[index]!;
    setField(found, name, propertyOf(columns[first + index]![row]!, kind, name));
  }
  return found;
}
