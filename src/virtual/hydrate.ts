// Makes hyperedges of the rows of a compiled query.

import type { RowBatches, SqlRow } from './backend.ts';
import type { ReadMember, RowReading } from './compile.ts';
import { idText, listIds, type PropertyValue, propertyOf, secondOf } from './hydrate-values.ts';

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

/** Edges of one batch of rows. */
export interface HydratedBatch {
  readonly edges: readonly HydratedEdge[];
  /** Rows or groups that are no edge: without members, or without a time. A LIMIT keeps them out from the start. */
  readonly skipped: number;
}

/** Batches as they come; leaving the loop early ends the query. Throws `hydration_failed`, and what `rows` throws. */
export async function* hydrate(
  rows: RowBatches,
  reading: RowReading,
  provenance: Provenance,
): AsyncGenerator<HydratedBatch, void, undefined> {
  const edgeOf = reader(reading, provenance);
  for await (const batch of rows) {
    const edges: HydratedEdge[] = [];
    for (const row of batch) {
      const edge = edgeOf(row);
      if (edge !== undefined) edges.push(edge);
    }
    yield { edges, skipped: batch.length - edges.length };
  }
}

/** One row as an edge, or undefined when it is none. */
function reader(reading: RowReading, provenance: Provenance): (row: SqlRow) => HydratedEdge | undefined {
  const membersOf = reading.shape === 'row' ? rowMembers(reading.members) : groupMembers(reading);
  const firstProperty = reading.shape === 'row' ? 1 + reading.members.length : 1;
  return (row) => {
    const event_ts = secondOf(row[0]!, reading.edgeLabel);
    if (event_ts === undefined) return undefined;
    const members = membersOf(row);
    if (members.length === 0) return undefined;
    const properties = propertiesOf(row, reading, firstProperty);
    return { edge_label: reading.edgeLabel, members, event_ts, properties, provenance };
  };
}

function rowMembers(members: readonly ReadMember[]): (row: SqlRow) => HydratedMember[] {
  const heads = members.map(vertexHead);
  return (row) => {
    const found: HydratedMember[] = [];
    for (let index = 0; index < members.length; index++) {
      const { name, role, kind } = members[index]!;
      const value = idText(row[index + 1]!, kind, name);
      if (value !== undefined) found.push({ vertex_local_id: heads[index] + value, role, name });
    }
    return found;
  };
}

function groupMembers({ members, properties }: RowReading): (row: SqlRow) => HydratedMember[] {
  const { name, role, kind } = members[0]!;
  const head = vertexHead(members[0]!);
  const column = 1 + properties.length;
  return (row) => listIds(row[column]!, kind, name).map((value) => ({ vertex_local_id: head + value, role, name }));
}

function vertexHead({ nodeLabel }: ReadMember): string {
  return `${nodeLabel.toLowerCase()}:`;
}

function propertiesOf(row: SqlRow, { properties }: RowReading, first: number): Record<string, PropertyValue> {
  const found: Record<string, PropertyValue> = {};
  for (let index = 0; index < properties.length; index++) {
    const { name, kind } = properties[index]!;
    const value = propertyOf(row[first + index]!, kind, name);
    // A column may be called so; assigned, it would be no property.
    if (name === '__proto__') Object.defineProperty(found, name, { value, enumerable: true });
    else found[name] = value;
  }
  return found;
}
