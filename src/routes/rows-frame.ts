// Writes the parts of a JSON answer around the rows: the head before the rows, and the figures
// after them.

import type { QueryPlan, Table } from '../engine/index.ts';
import { bytesOf, writeAscii, writeInteger, writeNumber } from '../http/index.ts';

/**
 * Maximum total size of head and tail in bytes: a name of at most 64 characters, seven numbers of
 * at most 25 characters, a cursor, and the fixed text.
 */
export const LONGEST_FRAME = 1024;

/** The node of a lookup. */
export interface LookedUpNode {
  readonly number: number;
  /** `node_id` of the answer, as JSON: the number, or the key of a named table. */
  readonly text: string;
}

/**
 * Returns the maximum total size of head and tail of an answer in bytes; `node` is the JSON text of
 * `node_id`.
 */
export function frameBytesOf(node: string | undefined): number {
  return node === undefined ? LONGEST_FRAME : LONGEST_FRAME + node.length * UTF8_BYTES_PER_UNIT;
}

const UTF8_BYTES_PER_UNIT = 3;

const NODE = bytesOf(',"node_id":');
const ROWS = bytesOf(',"hyperedges":[');
const COUNT = bytesOf('],"num_tuples":');
const BUCKETS = bytesOf('","buckets_scanned":');
const TOTAL = bytesOf(',"total_buckets":');
const FACTOR = bytesOf(',"speedup_factor":');
const ELAPSED = bytesOf(',"elapsed_us":');
const NO_CURSOR = bytesOf('},"next_cursor":null}');
const CURSOR = bytesOf('},"next_cursor":"');
const END = bytesOf('"}');

export function writeHead(into: Uint8Array, table: Table, node: LookedUpNode | undefined): number {
  let offset = writeBytes(into, 0, tableBytes(table));
  if (node !== undefined) {
    offset = writeBytes(into, offset, NODE);
    if (table.kinds === undefined) offset = writeInteger(into, offset, node.number);
    else offset += Buffer.from(into.buffer, into.byteOffset, into.length).write(node.text, offset);
  }
  return writeBytes(into, offset, ROWS);
}

export function writeTail(into: Uint8Array, from: number, rows: number, plan: Figures, cursor: string | null): number {
  const offset = writeFigures(into, from, rows, plan);
  if (cursor === null) return writeBytes(into, offset, NO_CURSOR);
  return writeBytes(into, writeAscii(into, writeBytes(into, offset, CURSOR), cursor), END);
}

type Figures = Readonly<Omit<QueryPlan, 'strategy'>> & { readonly strategy: string };

/**
 * Writes the text from the end of the rows to the last figure of the plan. Does not write the
 * closing brace of the plan.
 */
export function writeFigures(into: Uint8Array, from: number, rows: number, plan: Figures): number {
  let offset = writeBytes(into, from, COUNT);
  offset = writeInteger(into, offset, rows);
  offset = writeBytes(into, offset, strategyBytes(plan.strategy));
  offset = writeBytes(into, offset, BUCKETS);
  offset = writeInteger(into, offset, plan.buckets_scanned);
  offset = writeBytes(into, offset, TOTAL);
  offset = writeInteger(into, offset, plan.total_buckets);
  offset = writeBytes(into, offset, FACTOR);
  offset = writeNumber(into, offset, plan.speedup_factor);
  offset = writeBytes(into, offset, ELAPSED);
  return writeInteger(into, offset, plan.elapsed_us);
}

/** Copies a fixed text that is kept as bytes: a copy costs a fraction of encoding a string. */
function writeBytes(into: Uint8Array, offset: number, bytes: Uint8Array): number {
  into.set(bytes, offset);
  return offset + bytes.length;
}

const TABLE_BYTES = new WeakMap<Table, { name: string; bytes: Uint8Array }>();

/**
 * Returns the bytes of `{"table":"..."`. Table names are identifiers and need no escaping. The
 * bytes are computed again if the table was renamed.
 */
function tableBytes(table: Table): Uint8Array {
  let known = TABLE_BYTES.get(table);
  if (known === undefined || known.name !== table.name) {
    known = { name: table.name, bytes: bytesOf(`{"table":"${table.name}"`) };
    TABLE_BYTES.set(table, known);
  }
  return known.bytes;
}

const STRATEGY_BYTES = new Map<string, Uint8Array>();

function strategyBytes(strategy: string): Uint8Array {
  let bytes = STRATEGY_BYTES.get(strategy);
  if (bytes === undefined) {
    bytes = bytesOf(`,"query_plan":{"strategy":"${strategy}`);
    STRATEGY_BYTES.set(strategy, bytes);
  }
  return bytes;
}
