// Writes the hyperedges of a batch as JSON straight from its columns, without building millions of
// edge objects.

import { isoTime } from '../../iso-time.ts';
import { type Steps, slices } from '../../schedule/steps.ts';
import type { ColumnKind, SqlColumn } from '../backend.ts';
import type { RowReading } from '../compile/compile.ts';
import { listIds } from './group-ids.ts';
import type { HydratedEdge, Provenance } from './hydrate.ts';
import { JsonBytes } from './json-bytes.ts';
import { idText, propertyOf, secondOf, vertexHead } from './values.ts';

/** The form in which each edge is written. */
export interface EdgeForm {
  /** Text that precedes each edge. */
  readonly before: string;
  /** Text that follows each edge. */
  readonly after: string;
  /** If true, times are ISO 8601 texts, otherwise epoch seconds. Default false. */
  readonly isoTimes?: boolean;
}

/** A piece of the edges as JSON in UTF-8. */
export interface EdgesAsJson {
  /** Number of edges that end in this piece. */
  readonly count: number;
  /** Valid until the next piece is requested, because the memory is reused. */
  readonly bytes: Uint8Array;
}

/** Writes the edges in these rows. Each piece takes about a millisecond. */
export type EdgeWriter = (
  columns: readonly SqlColumn[],
  rows: Uint32Array,
  form: EdgeForm,
) => Generator<EdgesAsJson, void, void>;

/** A piece ends when it has this many bytes. */
const PIECE_BYTES = 2 ** 17;
/** Number of members of a group that are written before the size of the piece is looked at. */
const MEMBERS_AT_ONCE = 1000;

/** Writes one part of an edge from a row. */
type PartWriter = (columns: readonly SqlColumn[], row: number) => void;
/**
 * Writes the members of an edge. Returns undefined if it has written them all, otherwise steps that
 * write them; a piece may end after each step.
 */
type MembersWriter = (columns: readonly SqlColumn[], row: number) => Steps<void> | undefined;

export function edgeWriter(reading: RowReading, provenance: Provenance): EdgeWriter {
  const { edgeLabel, shape, members } = reading;
  const json = new JsonBytes();
  const head = `{"edge_label":${JSON.stringify(edgeLabel)},"members":[`;
  const time = Buffer.from('],"event_ts":');
  const writeMembers = shape === 'row' ? rowMembersWriter(json, reading) : groupMembersWriter(json, reading);
  const writeProperties = propertiesWriter(json, reading, shape === 'row' ? 1 + members.length : 1);
  return function* (columns, rows, { before, after, isoTimes = false }) {
    const tail = `},"provenance":${JSON.stringify(isoTimes ? isoProvenance(provenance) : provenance)}}`;
    const [start, end] = [Buffer.from(before + head), Buffer.from(tail + after)];
    let count = 0;
    json.begin();
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index]!;
      if (json.length >= PIECE_BYTES) {
        yield { count, bytes: json.written() };
        json.begin();
        count = 0;
      }
      json.part(start);
      for (const _ of writeMembers(columns, row) ?? []) {
        if (json.length < PIECE_BYTES) continue;
        yield { count, bytes: json.written() };
        json.begin();
        count = 0;
      }
      json.part(time);
      const second = secondOf(columns[0]![row]!, edgeLabel);
      if (isoTimes) writeText(json, isoTime(second));
      else json.number(second);
      writeProperties(columns, row);
      json.part(end);
      count++;
    }
    if (count > 0) yield { count, bytes: json.written() };
  };
}

interface MemberParts {
  /** All text before the value of the id, with the opening quotation mark of the id. */
  readonly head: Uint8Array;
  /** The same text for a member that follows another member. */
  readonly nextHead: Uint8Array;
  readonly tail: Uint8Array;
}

function memberParts({ nodeLabel, role, name }: RowReading['members'][number]): MemberParts {
  const head = `{"vertex_local_id":${JSON.stringify(vertexHead(nodeLabel)).slice(0, -1)}`;
  const tail = Buffer.from(`","role":${JSON.stringify(role)},"name":${JSON.stringify(name)}}`);
  return { head: Buffer.from(head), nextHead: Buffer.from(`,${head}`), tail };
}

function rowMembersWriter(json: JsonBytes, { members }: RowReading): MembersWriter {
  const parts = members.map(memberParts);
  return (columns, row): undefined => {
    let isFirst = true;
    for (let index = 0; index < members.length; index++) {
      const value = columns[index + 1]![row]!;
      if (value === null) continue;
      const { head, nextHead, tail } = parts[index]!;
      json.part(isFirst ? head : nextHead);
      const { kind, name } = members[index]!;
      if (kind === 'integer' && typeof value === 'number' && Number.isSafeInteger(value)) json.number(value);
      else json.text(idText(value, kind, name)!);
      json.part(tail);
      isFirst = false;
    }
  };
}

function groupMembersWriter(json: JsonBytes, { members }: RowReading): MembersWriter {
  const { name, kind } = members[0]!;
  const { head, nextHead, tail } = memberParts(members[0]!);
  const write = (ids: readonly string[], from: number, to: number) => {
    for (let index = from; index < to; index++) {
      json.part(index === 0 ? head : nextHead);
      json.text(ids[index]!);
      json.part(tail);
    }
  };
  return (columns, row) => {
    const ids = listIds(columns[columns.length - 1]![row]!, kind, name);
    if (ids.length > MEMBERS_AT_ONCE) return slices(ids.length, MEMBERS_AT_ONCE, (from, to) => write(ids, from, to));
    write(ids, 0, ids.length);
    return undefined;
  };
}

function propertiesWriter(json: JsonBytes, { properties }: RowReading, first: number): PartWriter {
  // JavaScript objects list integer-like names first. The order here is the one that an edge object
  // would have.
  const places = new Map(properties.map(({ name }, index) => [name, index]));
  const order = Object.keys(Object.fromEntries(places)).map((name) => places.get(name)!);
  const none = Buffer.from(',"properties":{');
  const parts = order.map((place, index) => {
    const { name, kind } = properties[place]!;
    const head = Buffer.from(`${index === 0 ? none : ','}${JSON.stringify(name)}:`);
    return { column: first + place, head, name, kind };
  });
  return (columns, row) => {
    if (parts.length === 0) json.part(none);
    for (let index = 0; index < parts.length; index++) {
      const { column, head, name, kind } = parts[index]!;
      json.part(head);
      writeProperty(json, columns[column]![row]!, kind, name);
    }
  };
}

const QUOTE = Buffer.from('"');
const WORDS = { null: Buffer.from('null'), true: Buffer.from('true'), false: Buffer.from('false') };

function writeProperty(json: JsonBytes, value: Parameters<typeof propertyOf>[0], kind: ColumnKind, name: string): void {
  const property = propertyOf(value, kind, name);
  if (typeof property === 'number') json.number(property);
  else if (typeof property === 'string') writeText(json, property);
  else json.part(WORDS[`${property}`]);
}

function writeText(json: JsonBytes, text: string): void {
  json.part(QUOTE);
  json.text(text);
  json.part(QUOTE);
}

/**
 * Returns an edge as JSON. If `isoTimes` is set, the time of the edge and of its provenance are
 * ISO 8601 texts. Times among its properties are unchanged.
 */
export function edgeText(edge: HydratedEdge, isoTimes: boolean | undefined): string {
  if (isoTimes !== true) return JSON.stringify(edge);
  return JSON.stringify({ ...edge, event_ts: isoTime(edge.event_ts), provenance: isoProvenance(edge.provenance) });
}

function isoProvenance(provenance: Provenance): object {
  return { ...provenance, captured_at: isoTime(provenance.captured_at) };
}
