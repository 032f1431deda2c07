// Turns the scan that runs for one request into the text of its answer. Holds the snapshot that the
// scan reads, and issues the cursor with which the answer may end.

import { markedPlanOf, type RowKey, type Scan, type Table } from '../engine/index.ts';
import {
  type AnswerFormat,
  type AnswerFrame,
  type AnswerText,
  type ChunkSource,
  checkDeadline,
  type EntityTag,
  type Reply,
} from '../http/index.ts';
import type { QueryFacts } from '../observe/observer.ts';
import type { Call } from './application.ts';
import { type CursorPlace, cursorGone, type Pin } from './cursors.ts';
import { isoRows } from './iso-rows.ts';
import type { NamedNode } from './looked-up-node.ts';
import type { MemberForm } from './member-form.ts';
import { frameBytesOf, type LookedUpNode, writeHead, writeTail } from './rows-frame.ts';

export interface RowsRequest {
  table: Table;
  named: NamedNode | undefined;
  /** A role of the table that the node must have. */
  role: string | undefined;
  startTs: number | undefined;
  endTs: number | undefined;
  /** Only edges that hold at this time. */
  at: number | undefined;
  limit: number | undefined;
  /** Where the page begins; undefined for the first page. */
  place: CursorPlace | undefined;
  format: AnswerFormat;
  /** True if times are written as ISO 8601. */
  isoTimes: boolean;
  /** How members are shown. */
  members: MemberForm;
  /** Entity tag of the table's current state; undefined if the page shows an older state. */
  tag: EntityTag | undefined;
}

export class OpenRows implements AnswerText, AnswerFrame, QueryFacts {
  readonly frameBytes: number;
  readonly request: RowsRequest;
  /** The log position that the rows reflect. */
  readonly lsn: number;
  readonly #call: Call;
  readonly #pin: Pin | undefined;
  readonly #after: RowKey | undefined;
  readonly #node: LookedUpNode | undefined;
  #scan: Scan;
  /** The cursor of an NDJSON stream, which is sent in a header before the rows. */
  #cursor: string | null = null;
  #closed = false;

  constructor(call: Call, request: RowsRequest) {
    this.request = request;
    this.frameBytes = frameBytesOf(request.named?.text);
    this.#call = call;
    const { cursors } = call.services;
    if (request.place !== undefined) {
      this.#pin = cursors.resume(request.place, request.table);
      this.#after = request.place.after;
    } else if (request.limit !== undefined) {
      this.#pin = cursors.pin(call.database, request.table);
    }
    this.lsn = this.#pin === undefined ? call.database.lastLsn : this.#pin.snapshot.lsn;
    try {
      this.#node = request.named && nodeAt(request.named, this.lsn);
      this.#scan = this.#start();
    } catch (error) {
      if (this.#pin !== undefined) cursors.release(this.#pin);
      throw error;
    }
  }

  get format(): AnswerFormat {
    return this.request.format;
  }

  get frame(): AnswerFrame {
    return this;
  }

  /** Returns the next slice of encoded rows, or null at the end. */
  next(): Uint8Array | null {
    const { isoTimes, format } = this.request;
    const { rows } = this.#scan;
    const slice = this.#scan.borrowNext();
    return isoTimes && slice !== null ? isoRows(slice, rows, format.rows, this.request.table.columns.end?.name) : slice;
  }

  get isEnded(): boolean {
    return this.#scan.isEnded;
  }

  /** Checks the deadline only if all rows are read before the answer begins. */
  look(): void {
    const { format, limit } = this.request;
    if (format.rows === 'ndjson' && limit !== undefined) checkDeadline(this.#call);
  }

  writeHead(into: Uint8Array): number {
    return writeHead(into, this.request.table, this.#node);
  }

  writeTail(into: Uint8Array, from: number): number {
    return writeTail(into, from, this.#scan.rows, this.#scan.plan(), this.#nextCursor());
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    const { format, limit, tag } = this.request;
    // A cursor is valid only for minutes: an answer that contains one, or may still get one, must
    // not be cached for long.
    const mayHaveCursor = source === undefined ? this.#hasNext : limit !== undefined;
    const cursor = format.rows === 'json' ? null : source === undefined ? this.#nextCursor() : this.#cursor;
    return {
      status: 200,
      contentType: format.mediaType,
      body: body ?? '',
      lsn: this.lsn,
      headers: cursor === null ? undefined : [['X-Next-Cursor', cursor]],
      source,
      tag: mayHaveCursor ? undefined : tag,
      facts: { query: this },
    };
  }

  // Facts for the observer.

  get strategy(): string {
    return this.#scan.plan().strategy;
  }

  get table(): string {
    return this.request.table.name;
  }

  get records(): number {
    return this.#scan.rows;
  }

  /** True if more rows follow the last row of this page. Read it only after the end of the page. */
  get #hasNext(): boolean {
    return this.#pin !== undefined && this.#scan.lastKey !== undefined && this.#scan.hasMore;
  }

  /** Returns the cursor of the next page, or null if there is none. Call it only after the end. */
  #nextCursor(): string | null {
    const last = this.#scan.lastKey;
    if (this.#pin === undefined || last === undefined || !this.#scan.hasMore) return null;
    const { services, caller } = this.#call;
    return services.cursors.issue(this.#pin, last, bindingOf(this.request), caller.keyId);
  }

  /** Starts the scan of the same rows again, now that the cursor of the next page is known. */
  restart(): void {
    this.#cursor = this.#nextCursor();
    this.#scan.close();
    this.#scan = this.#start();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#scan.close();
    if (this.#pin !== undefined) this.#call.services.cursors.release(this.#pin);
  }

  #start(): Scan {
    const { table, role, startTs, endTs, at, limit, format, isoTimes, members } = this.request;
    const node = this.#node;
    const snapshot = this.#pin?.snapshot;
    return table.scan(
      {
        startTs,
        endTs,
        at,
        nodes: node === undefined ? undefined : [node.number],
        inRoles: node === undefined || role === undefined ? undefined : [{ node: node.number, role }],
        limit,
        after: this.#after,
        // Rows that are rewritten need a newline after each row, which marks where the row ends.
        format: isoTimes ? 'ndjson' : format.rows,
        // All pages of a cursor have the columns of the cursor's snapshot, even if the table is
        // altered between two pages.
        rows: members === 'numbers' ? snapshot?.rowPlan : markedPlanOf((snapshot ?? table).columns, table.definition),
        keys: members === 'numbers' ? undefined : members,
      },
      snapshot,
    );
  }
}

/** Throws `cursor_gone` if the state at the LSN is no longer held. */
function nodeAt({ text, numberAt }: NamedNode, lsn: number): LookedUpNode {
  const number = numberAt(lsn);
  if (number === undefined) throw cursorGone(lsn);
  return { number, text };
}

/**
 * Returns the parameters to which a cursor is bound, in addition to its snapshot. The page size and
 * the format may change between pages.
 */
export function bindingOf(request: Pick<RowsRequest, 'table' | 'named' | 'role' | 'startTs' | 'endTs' | 'at'>): string {
  const { table, named, role, startTs = '', endTs = '', at } = request;
  const roleText = role === undefined ? '' : `|${role.toLowerCase()}`;
  return `${table.name}|${named?.name ?? ''}|${startTs}|${endTs}${roleText}${at === undefined ? '' : `|at ${at}`}`;
}
