// Answers with rows: small results as one body, large ones as a stream of the scan's own slices.

import type { Table } from '../engine/index.ts';
import {
  type AnswerFormat,
  type Call,
  type ChunkSource,
  checkDeadline,
  type EntityTag,
  type Reply,
  tableTag,
  typeOf,
} from '../http/index.ts';
import { OpenRows, type RowsRequest } from './open-rows.ts';
import { LONGEST_FRAME, writeHead, writeTail } from './rows-frame.ts';

/**
 * Results up to this size, found within this many slices, are sent as one body with a
 * Content-Length.
 */
const WHOLE_BODY_BYTES = 64 * 1024;
const WHOLE_BODY_SLICES = 8;
/**
 * Bytes of a limited NDJSON answer that are buffered; a longer one is read twice, since its cursor
 * is in a header, before the rows.
 */
const NDJSON_KEPT_BYTES = 2 ** 20;

const FORMAT_TAGS: Readonly<Record<AnswerFormat, string>> = { json: '', ndjson: 'n' };

/**
 * The formats of an answer may share a URL, so their tags must differ. The tag of the usual format
 * is a number, for which response heads are cached as bytes.
 */
export function rowsTag(table: Table, format: AnswerFormat, isoTimes: boolean): EntityTag {
  const tag = tableTag(table);
  return format === 'json' && !isoTimes ? tag : `${tag}${FORMAT_TAGS[format]}${isoTimes ? 'i' : ''}`;
}

const NO_SLICES: readonly Uint8Array[] = [];

export function rowsReply(call: Call, request: RowsRequest): Reply | Promise<Reply> {
  const rows = new OpenRows(call, request);
  try {
    const first = rows.borrowNext();
    if (rows.isEnded && request.format === 'json') {
      const reply = wholeJson(call, rows, first === null ? NO_SLICES : [first]);
      rows.close();
      return reply;
    }
    const slices: Uint8Array[] = first === null || first.length === 0 ? [] : [Buffer.from(first)];
    if (!readSlices(rows, slices)) {
      if (request.format === 'json') return streamReply(rows, new JsonSource(rows, slices), undefined);
      if (request.limit === undefined) return streamReply(rows, new NdjsonSource(rows, slices), undefined);
      return limitedNdjson(call, rows, slices).catch((error: unknown) => {
        rows.close();
        throw error;
      });
    }
    const reply = request.format === 'json' ? wholeJson(call, rows, slices) : wholeNdjson(rows, slices);
    rows.close();
    return reply;
  } catch (error) {
    rows.close();
    throw error;
  }
}

/** Reads further slices; true if there are no more. */
function readSlices(rows: OpenRows, slices: Uint8Array[]): boolean {
  let size = slices[0]?.length ?? 0;
  for (let count = 1; count < WHOLE_BODY_SLICES && size < WHOLE_BODY_BYTES; count++) {
    const slice = rows.next();
    if (slice === null) return true;
    if (slice.length === 0) continue;
    slices.push(slice);
    size += slice.length;
  }
  return false;
}

/**
 * Only for handlers that have not yielded: the answer is in the shared space. The slices may be
 * borrowed.
 */
function wholeJson(call: Call, rows: OpenRows, slices: readonly Uint8Array[]): Reply {
  let size = LONGEST_FRAME;
  for (let i = 0; i < slices.length; i++) size += slices[i]!.length;
  const { space } = call.services;
  const isSmall = size <= space.bytes.length;
  const bytes = isSmall ? space.bytes : new Uint8Array(size);
  let offset = writeHead(bytes, rows.request.table, rows.request.node);
  for (let i = 0; i < slices.length; i++) {
    bytes.set(slices[i]!, offset);
    offset += slices[i]!.length;
  }
  offset = writeTail(bytes, offset, rows);
  const body = isSmall ? space.view(offset) : bytes.subarray(0, offset);
  return rowsAnswer(rows, body, undefined, undefined);
}

function wholeNdjson(rows: OpenRows, slices: readonly Uint8Array[]): Reply {
  const body = slices.length === 1 ? slices[0]! : Buffer.concat(slices);
  return rowsAnswer(rows, body, cursorHeader(rows.nextCursor()), undefined);
}

/**
 * Reads to the end first, to know the cursor; keeps the rows if they are small, otherwise reads
 * them again while sending.
 */
async function limitedNdjson(call: Call, rows: OpenRows, slices: Uint8Array[]): Promise<Reply> {
  let size = slices.reduce((sum, slice) => sum + slice.length, 0);
  await call.services.scheduler.run(() => {
    const slice = call.client.gone ? null : rows.next();
    if (slice === null) return false;
    checkDeadline(call);
    size += slice.length;
    if (size <= NDJSON_KEPT_BYTES) slices.push(slice);
    else slices.length = 0;
    return true;
  });
  const headers = cursorHeader(rows.nextCursor());
  if (size <= NDJSON_KEPT_BYTES) {
    rows.close();
    return rowsAnswer(rows, Buffer.concat(slices), headers, undefined);
  }
  rows.restart();
  return streamReply(rows, new NdjsonSource(rows, []), headers);
}

function streamReply(rows: OpenRows, source: ChunkSource, headers: Reply['headers']): Reply {
  return rowsAnswer(rows, '', headers, source);
}

function rowsAnswer(
  rows: OpenRows,
  body: string | Uint8Array,
  headers: Reply['headers'],
  source: ChunkSource | undefined,
): Reply {
  const { format, limit, tag } = rows.request;
  // A cursor lives only for minutes: an answer that contains one, or may still get one, must not be
  // cached for long.
  const mayHaveCursor = source === undefined ? rows.hasNext : limit !== undefined;
  return {
    status: 200,
    contentType: typeOf(format),
    body,
    lsn: rows.lsn,
    headers,
    source,
    tag: mayHaveCursor ? undefined : tag,
    facts: { query: rows },
  };
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

/** Sends the head, the slices (which include their commas) and the tail. */
class JsonSource implements ChunkSource {
  readonly #rows: OpenRows;
  readonly #waiting: Uint8Array[];
  #ended = false;

  constructor(rows: OpenRows, read: readonly Uint8Array[]) {
    this.#rows = rows;
    const head = new Uint8Array(LONGEST_FRAME);
    this.#waiting = [head.subarray(0, writeHead(head, rows.request.table, rows.request.node)), ...read];
  }

  next(): Uint8Array | null {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return waiting;
    if (this.#ended) return null;
    const slice = this.#rows.next();
    if (slice !== null) return slice;
    this.#ended = true;
    const tail = new Uint8Array(LONGEST_FRAME);
    return tail.subarray(0, writeTail(tail, 0, this.#rows));
  }

  close(): void {
    this.#rows.close();
  }
}
