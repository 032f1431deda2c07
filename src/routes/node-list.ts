// The nodes of a node table by key, as the text of an answer. Holds the snapshot and the order that
// it reads, and issues the cursor with which the answer may end.

import type { KeyOrder, Table } from '../engine/index.ts';
import {
  type AnswerFormat,
  type AnswerFrame,
  type AnswerText,
  type ChunkSource,
  checkDeadline,
  type EntityTag,
  type Reply,
  writeAscii,
} from '../http/index.ts';
import type { QueryFacts } from '../observe/observer.ts';
import type { Call } from './application.ts';
import type { Pin } from './cursors.ts';

export interface NodeListRequest {
  readonly table: Table;
  readonly limit: number | undefined;
  readonly format: AnswerFormat;
  /** Tag of the newest state; undefined for a page that begins with a cursor. */
  readonly tag: EntityTag | undefined;
}

/** Nodes that are looked up in one call: a fraction of a millisecond. */
const NODES_AT_ONCE = 64;
/** A piece ends after this many milliseconds or bytes. */
const STEP_MS = 2;
const PIECE_BYTES = 64 * 1024;
/** Head and tail: a name of at most 64 characters, a number, a cursor and the fixed text. */
const FRAME_BYTES = 1024;

/** The cursors of a list of nodes are valid for its table only. */
export const NODES_BINDING = 'nodes';

export class NodeList implements AnswerText, AnswerFrame, QueryFacts {
  readonly frameBytes = FRAME_BYTES;
  readonly strategy = 'NODE_LOOKUP';
  readonly #call: Call;
  readonly #request: NodeListRequest;
  readonly #pin: Pin;
  readonly #order: KeyOrder;
  /** Place of the first node of the page in the order. */
  readonly #first: number;
  /** Place of the next node to be read. */
  #place: number;
  /** Number of rows written, and the node of the last one. */
  #rows = 0;
  #last = 0;
  /** Whether more nodes follow the page; undefined as long as that is not known. */
  #hasMore: boolean | undefined;
  /** The cursor of an NDJSON stream, which is sent in a header before the rows. */
  #cursor: string | null = null;
  #closed = false;

  /** Takes over the pin and the order; `first` is where the page begins in the order. */
  constructor(call: Call, request: NodeListRequest, pin: Pin, order: KeyOrder, first: number) {
    this.#call = call;
    this.#request = request;
    this.#pin = pin;
    this.#order = order;
    this.#first = first;
    this.#place = first;
  }

  get format(): AnswerFormat {
    return this.#request.format;
  }

  get frame(): AnswerFrame {
    return this;
  }

  get isEnded(): boolean {
    return this.#hasMore !== undefined;
  }

  /** Checks the deadline only if all rows are read before the answer begins. */
  look(): void {
    const { format, limit } = this.#request;
    if (format.rows === 'ndjson' && limit !== undefined) checkDeadline(this.#call);
  }

  /** Returns some rows; nothing if the nodes that were looked at are not in the snapshot. */
  next(): Uint8Array | null {
    if (this.isEnded) return null;
    const { now } = this.#call.services;
    const endMs = now() + STEP_MS;
    let text = '';
    while (!this.isEnded && text.length < PIECE_BYTES && (text === '' || now() < endMs)) {
      text += this.#some();
      if (now() >= endMs) break;
    }
    return this.isEnded && text === '' ? null : Buffer.from(text);
  }

  /** Reads the next nodes of the order, or looks whether there is one after the page. */
  #some(): string {
    const { numbers } = this.#order;
    const { table, limit = Number.POSITIVE_INFINITY, format } = this.#request;
    const left = limit - this.#rows;
    const count = Math.min(left > 0 ? left : NODES_AT_ONCE, NODES_AT_ONCE, numbers.length - this.#place);
    if (count === 0) {
      this.#hasMore = false;
      return '';
    }
    const some = numbers.subarray(this.#place, this.#place + count);
    const rows = this.#call.database.nodes.texts(table, this.#pin.snapshot, some);
    if (left === 0) {
      this.#place += count;
      if (rows.some((row) => row !== undefined)) this.#hasMore = true;
      return '';
    }
    let text = '';
    for (const [index, row] of rows.entries()) {
      if (row === undefined) continue;
      text += format.rows === 'ndjson' ? `${row}\n` : this.#rows === 0 ? row : `,${row}`;
      this.#rows += 1;
      this.#last = some[index]!;
    }
    this.#place += count;
    return text;
  }

  writeHead(into: Uint8Array): number {
    return writeAscii(into, 0, `{"table":"${this.#request.table.name}","nodes":[`);
  }

  writeTail(into: Uint8Array, from: number): number {
    const cursor = JSON.stringify(this.#nextCursor());
    return writeAscii(into, from, `],"num_tuples":${this.#rows},"next_cursor":${cursor}}`);
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    const { format, limit, tag } = this.#request;
    // A cursor is valid only for minutes: an answer that contains one must not be cached for long.
    const mayHaveCursor = source === undefined ? this.#hasMore === true : limit !== undefined;
    const cursor = format.rows === 'json' ? null : source === undefined ? this.#nextCursor() : this.#cursor;
    return {
      status: 200,
      contentType: format.mediaType,
      body: body ?? '',
      lsn: this.#pin.snapshot.lsn,
      headers: cursor === null ? undefined : [['X-Next-Cursor', cursor]],
      source,
      tag: mayHaveCursor ? undefined : tag,
      facts: { query: this },
    };
  }

  /** Returns the cursor of the next page, or null if there is none. Call it only after the end. */
  #nextCursor(): string | null {
    if (this.#hasMore !== true || this.#rows === 0) return null;
    const { services, caller } = this.#call;
    const last = { eventTs: this.#last, id: this.#last };
    return services.cursors.issue(this.#pin, last, NODES_BINDING, caller.keyId);
  }

  /** Starts again from the first row, now that the cursor of the next page is known. */
  restart(): void {
    this.#cursor = this.#nextCursor();
    this.#place = this.#first;
    this.#rows = 0;
    this.#hasMore = undefined;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#order.release();
    this.#call.services.cursors.release(this.#pin);
  }

  // Facts for the observer.

  get table(): string {
    return this.#request.table.name;
  }

  get records(): number {
    return this.#rows;
  }
}
