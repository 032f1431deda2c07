// Answers rows: small results as one body, large ones as a stream of the scan's own slices.

import type { QueryPlan } from '../engine/types.ts';
import { JSON_TYPE, NDJSON_TYPE } from '../http/media.ts';
import type { ChunkSource, Reply } from '../http/reply.ts';
import type { Call } from '../http/route.ts';
import { OpenRows, type RowsRequest } from './open-rows.ts';

/** Results up to this size, found in this many slices, are sent as one body with a Content-Length. */
const WHOLE_BODY_BYTES = 64 * 1024;
const WHOLE_BODY_SLICES = 8;
/** A limited NDJSON answer holds so much before it rather reads its rows twice (its cursor stands in a header, before the rows). */
const NDJSON_KEPT_BYTES = 2 ** 20;

const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
const COMMA_BYTES = Uint8Array.of(COMMA);

export function rowsReply(call: Call, request: RowsRequest): Reply | Promise<Reply> {
  const rows = new OpenRows(call, request);
  try {
    const slices: Uint8Array[] = [];
    const ended = readSlices(rows, slices);
    if (!ended) {
      if (!request.ndjson) return streamReply(rows, new JsonSource(rows, slices), undefined);
      if (request.limit === undefined) return streamReply(rows, new NdjsonSource(rows, slices), undefined);
      return limitedNdjson(call, rows, slices).catch((error: unknown) => {
        rows.close();
        throw error;
      });
    }
    const reply = request.ndjson ? wholeNdjson(rows, slices) : wholeJson(rows, slices);
    rows.close();
    return reply;
  } catch (error) {
    rows.close();
    throw error;
  }
}

/** Reads the first slices; true when they are all. */
function readSlices(rows: OpenRows, slices: Uint8Array[]): boolean {
  let size = 0;
  for (let count = 0; count < WHOLE_BODY_SLICES && size < WHOLE_BODY_BYTES; count++) {
    const slice = rows.next();
    if (slice === null) return true;
    if (slice.length === 0) continue;
    slices.push(slice);
    size += slice.length;
  }
  return false;
}

function wholeJson(rows: OpenRows, slices: readonly Uint8Array[]): Reply {
  const head = headOf(rows.request);
  const tail = tailOf(rows);
  let size = head.length + tail.length;
  for (const slice of slices) size += slice.length + 1;
  const body = Buffer.allocUnsafe(size);
  let offset = body.latin1Write(head, 0);
  for (let i = 0; i < slices.length; i++) {
    const slice = slices[i]!;
    if (i > 0 && slice[0] === OPENING_BRACE) body[offset++] = COMMA;
    body.set(slice, offset);
    offset += slice.length;
  }
  offset += body.latin1Write(tail, offset);
  return rowsAnswer(JSON_TYPE, body.subarray(0, offset), rows.lsn, undefined, undefined);
}

function wholeNdjson(rows: OpenRows, slices: readonly Uint8Array[]): Reply {
  const body = slices.length === 1 ? slices[0]! : Buffer.concat(slices);
  return rowsAnswer(NDJSON_TYPE, body, rows.lsn, cursorHeader(rows.nextCursor()), undefined);
}

/** Reads to the end first, to know the cursor; keeps the rows when they are few, else reads them again while sending. */
async function limitedNdjson(call: Call, rows: OpenRows, slices: Uint8Array[]): Promise<Reply> {
  let size = slices.reduce((sum, slice) => sum + slice.length, 0);
  await call.services.slices.run(() => {
    const slice = call.client.gone ? null : rows.next();
    if (slice === null) return false;
    size += slice.length;
    if (size <= NDJSON_KEPT_BYTES) slices.push(slice);
    else slices.length = 0;
    return true;
  });
  const headers = cursorHeader(rows.nextCursor());
  if (size <= NDJSON_KEPT_BYTES) {
    rows.close();
    return rowsAnswer(NDJSON_TYPE, Buffer.concat(slices), rows.lsn, headers, undefined);
  }
  rows.restart();
  return streamReply(rows, new NdjsonSource(rows, []), headers);
}

function streamReply(rows: OpenRows, source: ChunkSource, headers: Reply['headers']): Reply {
  return rowsAnswer(rows.request.ndjson ? NDJSON_TYPE : JSON_TYPE, '', rows.lsn, headers, source);
}

function rowsAnswer(
  contentType: string,
  body: string | Uint8Array,
  lsn: number,
  headers: Reply['headers'],
  source: ChunkSource | undefined,
): Reply {
  return { status: 200, contentType, body, lsn, headers, source };
}

function cursorHeader(cursor: string | null): Reply['headers'] {
  return cursor === null ? undefined : [['X-Next-Cursor', cursor]];
}

class NdjsonSource implements ChunkSource {
  readonly #rows: OpenRows;
  readonly #read: Uint8Array[];

  constructor(rows: OpenRows, read: Uint8Array[]) {
    this.#rows = rows;
    this.#read = read;
  }

  next(): Uint8Array | null {
    return this.#read.shift() ?? this.#rows.next();
  }

  close(): void {
    this.#rows.close();
  }
}

/** Head, slices parted by commas, tail. */
class JsonSource implements ChunkSource {
  readonly #rows: OpenRows;
  readonly #waiting: Uint8Array[] = [];
  #hasRows = false;
  #ended = false;

  constructor(rows: OpenRows, read: readonly Uint8Array[]) {
    this.#rows = rows;
    this.#waiting.push(Buffer.from(headOf(rows.request), 'latin1'));
    for (const slice of read) this.#push(slice);
  }

  next(): Uint8Array | null {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return waiting;
    if (this.#ended) return null;
    const slice = this.#rows.next();
    if (slice === null) {
      this.#ended = true;
      return Buffer.from(tailOf(this.#rows), 'latin1');
    }
    if (slice.length === 0) return slice;
    this.#push(slice);
    return this.#waiting.shift()!;
  }

  close(): void {
    this.#rows.close();
  }

  #push(slice: Uint8Array): void {
    if (this.#hasRows && slice[0] === OPENING_BRACE) this.#waiting.push(COMMA_BYTES);
    this.#hasRows = true;
    this.#waiting.push(slice);
  }
}

/** Table names are identifiers, so they need no escaping and are one byte a character. */
function headOf(request: RowsRequest): string {
  const node = request.node === undefined ? '' : `,"node_id":${request.node}`;
  return `{"table":"${request.table.name}"${node},"hyperedges":[`;
}

function tailOf(rows: OpenRows): string {
  const cursor = rows.nextCursor();
  const quoted = cursor === null ? 'null' : `"${cursor}"`;
  return `],"num_tuples":${rows.rows},"query_plan":${planText(rows.plan())},"next_cursor":${quoted}}`;
}

function planText(plan: QueryPlan): string {
  return (
    `{"strategy":"${plan.strategy}","buckets_scanned":${plan.buckets_scanned},"total_buckets":${plan.total_buckets}` +
    `,"speedup_factor":${plan.speedup_factor},"elapsed_us":${plan.elapsed_us}}`
  );
}
