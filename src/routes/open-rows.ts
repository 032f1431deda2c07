// The running scan of one request, with the snapshot it reads and the cursor it may end with.

import type { QueryPlan, RowKey, Scan, Table } from '../engine/index.ts';
import type { AnswerFormat, Call, EntityTag, Pin, Services } from '../http/index.ts';
import type { QueryFacts } from '../observe/observer.ts';
import { isoRows } from './iso-rows.ts';

export interface RowsRequest {
  table: Table;
  node: number | undefined;
  startTs: number | undefined;
  endTs: number | undefined;
  limit: number | undefined;
  cursor: string | undefined;
  format: AnswerFormat;
  /** Whether times are written as ISO 8601. */
  isoTimes: boolean;
  /** Tag of the current state; undefined for a page of an older one. */
  tag: EntityTag | undefined;
}

export class OpenRows implements QueryFacts {
  readonly request: RowsRequest;
  /** Log position that the rows reflect. */
  readonly lsn: number;
  readonly #services: Services;
  readonly #keyId: string | null;
  readonly #pin: Pin | undefined;
  readonly #after: RowKey | undefined;
  #scan: Scan;
  #closed = false;

  constructor(call: Call, request: RowsRequest) {
    this.request = request;
    this.#services = call.services;
    this.#keyId = call.caller.keyId;
    const { cursors } = call.services;
    if (request.cursor !== undefined) {
      const resumed = cursors.resume(request.cursor, request.table, bindingOf(request));
      this.#pin = resumed.pin;
      this.#after = resumed.after;
    } else if (request.limit !== undefined) {
      this.#pin = cursors.pin(call.database, request.table);
    }
    this.lsn = this.#pin === undefined ? call.database.lastLsn : this.#pin.snapshot.lsn;
    try {
      this.#scan = this.#start();
    } catch (error) {
      if (this.#pin !== undefined) cursors.release(this.#pin);
      throw error;
    }
  }

  /** The next slice of encoded rows, null at the end. */
  next(): Uint8Array | null {
    const { isoTimes, format } = this.request;
    if (!isoTimes) return this.#scan.next();
    const { rows } = this.#scan;
    const lines = this.#scan.next();
    return lines === null ? null : isoRows(lines, rows, format);
  }

  /** Like `next`; the slice is valid until the engine is called again. */
  borrowNext(): Uint8Array | null {
    return this.request.isoTimes ? this.next() : this.#scan.borrowNext();
  }

  /** Whether the last slice was given. */
  get isEnded(): boolean {
    return this.#scan.isEnded;
  }

  get rows(): number {
    return this.#scan.rows;
  }

  plan(): QueryPlan {
    return this.#scan.plan();
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

  /** After the end: true if more rows follow the last one of this page. */
  get hasNext(): boolean {
    return this.#pin !== undefined && this.#scan.lastKey !== undefined && this.#scan.hasMore;
  }

  /** After the end: the cursor of the next page, null if there is none. */
  nextCursor(): string | null {
    const last = this.#scan.lastKey;
    if (this.#pin === undefined || last === undefined || !this.#scan.hasMore) return null;
    return this.#services.cursors.issue(this.#pin, last, bindingOf(this.request), this.#keyId);
  }

  /** Reads the same rows again from the beginning. */
  restart(): void {
    this.#scan.close();
    this.#scan = this.#start();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#scan.close();
    if (this.#pin !== undefined) this.#services.cursors.release(this.#pin);
  }

  #start(): Scan {
    const { table, node, startTs, endTs, limit, format, isoTimes } = this.request;
    return table.scan(
      {
        startTs,
        endTs,
        nodes: node === undefined ? undefined : [node],
        limit,
        after: this.#after,
        // Rows that are rewritten need a newline after each, which shows where they end.
        format: isoTimes ? 'ndjson' : format,
        // Pages of one cursor have the columns of its snapshot, even if the table is altered in
        // between.
        rows: this.#pin?.snapshot.rowPlan,
      },
      this.#pin?.snapshot,
    );
  }
}

/**
 * What a cursor is bound to, in addition to its snapshot. The page size and the format may change
 * between pages.
 */
function bindingOf(request: RowsRequest): string {
  return `${request.table.name}|${request.node ?? ''}|${request.startTs ?? ''}|${request.endTs ?? ''}`;
}
