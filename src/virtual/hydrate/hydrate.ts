// Makes hyperedges of the rows of a compiled query.

import type { RowBatch, RowBatches, SqlColumn, SqlRow, SqlValue } from '../backend.ts';
import type { ReadMember, RowReading } from '../compile/compile.ts';
import { type EdgeForm, type EdgeWriter, edgeWriter } from './json.ts';
import { idText, listIds, type PropertyValue, propertyOf, secondOf, vertexHead } from './values.ts';

export interface HydratedMember {
  /** `<lowercase label>:<value>`, the value exact. */
  readonly vertex_local_id: string;
  readonly role: string;
  readonly name: string;
}

/** JSON as it stands in an answer. */
export interface HydratedEdge {
  readonly edge_label: string;
  /** Of a row in the order of the spec; of a group by their values, ascending. */
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

/** Edges of one batch of rows. What is not asked for is not made. */
export interface HydratedBatch {
  /** Throws `hydration_failed`. */
  readonly edges: readonly HydratedEdge[];
  /** How many edges there are. */
  readonly count: number;
  /** Rows or groups that are no edge: without members, or without a time. A LIMIT keeps them out from the start. */
  readonly skipped: number;
  /** What the edges take in memory when they are made, about. */
  readonly bytes: number;
  /**
   * The edges as JSON, each byte for byte what `JSON.stringify` makes of it (with times as texts where asked for), without making them. Good until any batch of this result is asked
   * for its JSON: the buffer is used again, so that a long stream makes no garbage. Throws `hydration_failed`.
   */
  json(form: EdgeForm): Uint8Array;
}

/** Batches as they come; leaving the loop early ends the query. Throws what `rows` throws, and their batches `hydration_failed`. */
export async function* hydrate(
  rows: RowBatches,
  reading: RowReading,
  provenance: Provenance,
): AsyncGenerator<HydratedBatch, void, undefined> {
  const edgeAt = edgeReader(reading, provenance);
  const write = edgeWriter(reading, provenance);
  for await (const batch of rows) yield new Hydrated(batch, reading, edgeAt, write);
}

/** The edge of a row that is one. */
type EdgeReader = (columns: readonly SqlColumn[], row: number) => HydratedEdge;

class Hydrated implements HydratedBatch {
  readonly skipped: number;
  readonly #columns: readonly SqlColumn[];
  readonly #reading: RowReading;
  /** The rows that are edges. */
  readonly #rows: Uint32Array;
  readonly #edgeAt: EdgeReader;
  readonly #write: EdgeWriter;
  #edges: HydratedEdge[] | undefined;

  constructor(batch: RowBatch, reading: RowReading, edgeAt: EdgeReader, write: EdgeWriter) {
    this.#columns = batch.columns ?? columnsOf(batch, 1 + reading.members.length + reading.properties.length);
    this.#reading = reading;
    this.#rows = rowsOfEdges(this.#columns, batch.length, reading);
    this.skipped = batch.length - this.#rows.length;
    this.#edgeAt = edgeAt;
    this.#write = write;
  }

  get count(): number {
    return this.#rows.length;
  }

  get edges(): readonly HydratedEdge[] {
    this.#edges ??= Array.from(this.#rows, (row) => this.#edgeAt(this.#columns, row));
    return this.#edges;
  }

  get bytes(): number {
    const { members, properties } = this.#reading;
    const values = this.#columns.reduce((sum, column) => sum + bytesOf(column), 0);
    return this.count * (120 + 80 * members.length + 60 * properties.length) + values;
  }

  json(form: EdgeForm): Uint8Array {
    return this.#write(this.#columns, this.#rows, form);
  }
}

function bytesOf(column: SqlColumn): number {
  if (column instanceof Float64Array) return 8 * column.length;
  let bytes = 8 * column.length;
  for (const value of column) {
    if (typeof value === 'string') bytes += 2 * value.length;
    else if (Array.isArray(value)) for (const item of value) bytes += 100 + 2 * String(item).length;
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

/** What is no list is told when it is read. */
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
    const value = propertyOf(columns[first + index]![row]!, kind, name);
    // A column may be called so; assigned, it would be no property.
    if (name === '__proto__') Object.defineProperty(found, name, { value, enumerable: true });
    else found[name] = value;
  }
  return found;
}
