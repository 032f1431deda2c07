// The feed of changes: what has been committed after an LSN, as NDJSON or as server-sent events.

import type { ChangeForm, ChangeReader, ChangeTail } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import { type ChunkSource, contentReply, detailOf, invalidFields, NDJSON_TYPE, parseInteger } from '../http/index.ts';
import { type Call, type Route, validated } from './application.ts';
import { change, changesAnswer, changesQuery } from './schemas/changes.ts';
import { after, assertKeyValid, NOTHING, SOON_MS } from './stream-waits.ts';

export const EVENTS_TYPE = 'text/event-stream';

/** Changes that are read at once. */
const SOME = 1024;
/** A reader that waits looks this often whether the service shuts down. */
const LOOK_MS = 1000;
/** After this time, a comment shows client and proxies that the stream is alive. */
const COMMENT_MS = 15_000;
/**
 * Once there are changes, a reader with a limit that waited lets this much time pass for each open
 * reader before it reads them. A reader takes about 0.3 ms for a commit, so all together take about
 * a seventh of the time, however many commits there are.
 */
const REST_MS_A_READER = 2;

interface Form {
  readonly first: string;
  readonly each: ChangeForm;
  /**
   * Sent while there is nothing else to send, with the LSN up to which everything was sent;
   * undefined if the answer then ends.
   */
  readonly comment: ((lsn: number) => string) | undefined;
}

const NDJSON: Form = { first: '', each: ({ text }) => `${text}\n`, comment: undefined };

const eachEvent: ChangeForm = ({ lsn, text }) => `id: ${lsn}\ndata: ${text}\n\n`;

function eventsFrom(lsn: number): Form {
  return {
    first: `retry: 1000\n: changes after LSN ${lsn}\n\n`,
    each: eachEvent,
    // The id moves a reader of one table on, so that it is not told that changes of other tables,
    // which it did not want, are no longer kept.
    comment: (id) => `id: ${id}\n: nothing new\n\n`,
  };
}

/**
 * Reads changes when the client can take more. `next` returns what was read, `wait` reads on. As
 * NDJSON, the source ends when it has returned something and there is nothing more, or when the
 * time to wait is over. A source without a limit that has caught up with the log follows the tail,
 * which reads it once for all.
 */
class ChangeSource implements ChunkSource {
  readonly follows: boolean;
  readonly #call: Call;
  #reader: ChangeReader;
  #tail: ChangeTail | undefined;
  /** Everything up to this LSN has been returned, or is about to be. */
  #lsn: number;
  readonly #form: Form;
  /** Changes that may still be sent. */
  #left: number;
  #untilMs: number;
  #commentMs: number;
  #bytes: Uint8Array;
  #sent = 0;
  #ended = false;
  #failure: unknown;

  constructor(call: Call, reader: ChangeReader, form: Form, limit: number, waitMs: number) {
    const now = call.services.now();
    this.#call = call;
    this.#reader = reader;
    this.#lsn = reader.lsn;
    this.#form = form;
    this.#left = limit;
    this.#untilMs = now + waitMs;
    this.#commentMs = now + COMMENT_MS;
    this.#bytes = Buffer.from(form.first);
    this.follows = waitMs > 0;
  }

  next(): Uint8Array | null {
    if (this.#bytes.length > 0) {
      const bytes = this.#bytes;
      this.#bytes = NOTHING;
      return bytes;
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.#ended ? null : NOTHING;
  }

  wait(resume: () => void): boolean {
    if (this.#ended || this.#bytes.length > 0) return false;
    this.#read().then(resume, (error: unknown) => {
      this.#fail(error);
      resume();
    });
    return true;
  }

  close(): void {
    this.#ended = true;
    this.#reader.close();
    this.#tail?.leave();
    this.#tail = undefined;
  }

  /** Reads until there is text to send, or the source has ended. */
  async #read(): Promise<void> {
    while (!this.#ended && this.#bytes.length === 0) {
      assertKeyValid(this.#call);
      if (this.#tail === undefined) await this.#readLog();
      else await this.#readTail(this.#tail);
    }
  }

  async #readLog(): Promise<void> {
    const changes = await this.#reader.next(Math.min(SOME, this.#left));
    this.#lsn = this.#reader.lsn;
    this.#bytes = Buffer.from(changes.map(this.#form.each).join(''));
    this.#sent += changes.length;
    this.#left -= changes.length;
    if (this.#left === 0) this.#ended = true;
    else if (changes.length === 0) await this.#rest();
  }

  async #readTail(tail: ChangeTail): Promise<void> {
    if (!tail.has(this.#lsn)) {
      this.#leave(tail);
      return;
    }
    const piece = tail.pieceAfter(this.#lsn);
    if (piece === undefined) {
      this.#lsn = Math.max(this.#lsn, tail.headLsn);
      await this.#rest();
      return;
    }
    this.#bytes = piece.bytesAfter(this.#lsn, this.#form.each);
    this.#lsn = piece.lsn;
    this.#sent += piece.changes.length;
  }

  /** Follows the tail instead of reading the log, if it has what comes next. */
  #join(): boolean {
    this.#tail = this.#call.database.changes.joinTail(this.#reader);
    if (this.#tail === undefined) return false;
    this.#reader.close();
    return true;
  }

  /** Reads the log again, because the client is too slow for the tail. */
  #leave(tail: ChangeTail): void {
    this.#tail = undefined;
    tail.leave();
    this.#reader = this.#call.database.changes.again(this.#reader, this.#lsn);
  }

  /** Waits for a change, if this answer waits. */
  async #rest(): Promise<void> {
    if (this.#ended) return;
    const { services, database } = this.#call;
    const now = services.now();
    const isOver = this.#form.comment === undefined && (this.#sent > 0 || now >= this.#untilMs);
    if (isOver || services.draining || services.database !== database) {
      this.#ended = true;
      return;
    }
    if (this.#form.comment !== undefined && now >= this.#commentMs) {
      this.#bytes = Buffer.from(this.#form.comment(this.#lsn));
      this.#commentMs = now + COMMENT_MS;
      return;
    }
    const lsn = this.#lsn;
    const leftMs = Math.min(LOOK_MS, Math.max(1, this.#untilMs - now));
    if (this.#tail !== undefined) {
      const turn = this.#tail.next();
      await (leftMs < LOOK_MS ? Promise.race([turn, after(leftMs)]) : turn);
      return;
    }
    if (this.#left === Number.POSITIVE_INFINITY && this.#join()) return;
    if (database.lastLsn > lsn) await after(SOON_MS);
    else if (await database.whenVisible(lsn + 1, leftMs)) await after(REST_MS_A_READER * database.changes.readers);
    // It resolves at once if the log has failed or the database closes.
    else if (services.now() - now < SOON_MS) await after(SOON_MS);
  }

  /** Events end with an event that says why; as NDJSON, the connection is closed. */
  #fail(error: unknown): void {
    if (this.#form.comment !== undefined && error instanceof HedgerowError) {
      const { code, fields } = error;
      const body = { detail: detailOf(error), code, status: error.status, oldest_lsn: fields?.oldest_lsn };
      this.#bytes = Buffer.from(`event: error\ndata: ${JSON.stringify(body)}\n\n`);
      this.#ended = true;
    } else this.#failure = error;
  }
}

/** Returns the LSN in the header `Last-Event-ID`; undefined if there is none. */
function lastEventOf({ lastEventId }: Call): number | undefined {
  if (lastEventId === '') return undefined;
  const lsn = parseInteger(lastEventId);
  if (lsn >= 0) return lsn;
  throw invalidFields([{ loc: ['header', 'Last-Event-ID'], msg: 'must be an LSN: an integer of 0 to 2^53-1' }]);
}

/** Whether the client asks for server-sent events. */
function wantsEvents(accept: string): boolean {
  return accept.split(',').some((each) => {
    const [type, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    return type === EVENTS_TYPE && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

const changes = validated({
  id: 'readChanges',
  method: 'GET',
  path: '/v1/changes',
  role: 'readonly',
  summary: 'Changes that were committed after an LSN, in LSN order; as server-sent events, also those to come.',
  data: true,
  events: true,
  answerTypes: [NDJSON_TYPE, EVENTS_TYPE],
  query: changesQuery,
  row: change,
  answers: { 200: changesAnswer },
  errors: [404, 409, 410, 503],
  handler: ({ query }, call) => {
    const { database } = call;
    const isEvents = wantsEvents(call.accept);
    const from = (isEvents ? lastEventOf(call) : undefined) ?? query.from_lsn;
    const reader = database.changes.read(from, query.table);
    const { lastLsn } = database;
    const form = isEvents ? eventsFrom(reader.lsn) : NDJSON;
    const waitMs = isEvents ? Number.POSITIVE_INFINITY : (query.wait_s ?? 0) * 1000;
    const source = new ChangeSource(call, reader, form, query.limit ?? Number.POSITIVE_INFINITY, waitMs);
    const reply = contentReply(200, isEvents ? EVENTS_TYPE : NDJSON_TYPE, '', [['Cache-Control', 'no-store']]);
    return { ...reply, lsn: lastLsn, source };
  },
});

export const changeRoutes: readonly Route[] = [changes];
