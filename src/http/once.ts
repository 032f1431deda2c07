// Carries out writes with an Idempotency-Key only once: the first answer with a status under 400 is
// stored, and retries get the stored answer.
//
// A request is identified by its id, a hash of its caller, method, path, query and key (`scopeOf`).
// Only one request per id runs at a time. If an answer is stored for the id, it is sent again,
// provided that the body has the same hash. Otherwise the handler runs; most handlers pass `attach`
// to the engine, which stores the answer in the log frame of the write itself, so that a crash
// leaves both or neither.

import * as crypto from 'node:crypto';
import { refusal } from '../errors.ts';
import {
  type AnswerToKeep,
  type Attach,
  type KeptAnswer,
  SMALL_BODY_LENGTH,
  type WrittenIds,
} from '../model/kept-answer.ts';
import type { RequestCall } from './call.ts';
import { JSON_TYPE } from './media.ts';
import type { Reply, ReplyFacts } from './reply.ts';
import type { Route } from './route.ts';

/**
 * A handler passes this to the engine's `attach`. If a handler does not, its answer is stored in a
 * separate frame before it is sent.
 */
export interface Once {
  /**
   * Returns the entry from which this answer can be repeated. The handler must then answer with
   * this status, body and type (default JSON). `written` contains the ids that a retry still
   * reports once the answer is no longer kept.
   */
  entry(status: number, body: string, contentType?: string, written?: WrittenIds): AnswerToKeep;
}

/**
 * The body of the answer to a write. It is made just before the write is logged if it is kept under
 * an Idempotency-Key, otherwise after the write.
 */
export class WriteAnswer<T> {
  /** Passed to the engine; undefined if the answer is not kept. */
  readonly attach: Attach<T> | undefined;
  readonly #make: (outcome: T) => string;
  #body: string | undefined;

  /**
   * `make` returns text of the content type, by default JSON. `idsOf` returns the ids of what was
   * written.
   */
  constructor(
    once: Once | undefined,
    status: number,
    make: (outcome: T) => string,
    contentType?: string,
    idsOf?: (outcome: T) => WrittenIds | undefined,
  ) {
    this.#make = make;
    if (once === undefined) return;
    this.attach = (outcome) => {
      this.#body = make(outcome);
      // A small answer is kept as long as its key.
      const isLarge = this.#body.length > SMALL_BODY_LENGTH;
      return once.entry(status, this.#body, contentType, isLarge ? idsOf?.(outcome) : undefined);
    };
  }

  body(outcome: T): string {
    return this.#body ?? this.#make(outcome);
  }
}

const LONGEST_KEY = 255;
/** Bytes hashed in one step, so that a step stays well within the time slice. */
const HASH_STEP_BYTES = 2 ** 20;
const REPLAYED: Reply['headers'] = [['Idempotent-Replayed', 'true']];
const REPLAYED_FACTS: ReplyFacts = { replayed: true };

/**
 * Throws `invalid_input` unless the key is absent, or is 1 to 255 characters of printable ASCII and
 * was sent once. `count` is how often the header was sent.
 */
export function checkIdempotencyKey(key: string, count: number): void {
  if (count === 0 || (count === 1 && key.length <= LONGEST_KEY && /^[ -~]+$/.test(key))) return;
  throw refusal('invalid_input', 'Idempotency-Key takes 1 to 255 characters of printable ASCII, once.', {
    errors: [{ loc: ['header', 'Idempotency-Key'], msg: 'must be 1 to 255 characters of printable ASCII' }],
  });
}

export class OnceOnly {
  /** Ids of the writes that are running. */
  readonly #running = new Set<string>();

  /**
   * Returns the stored answer, or runs the handler and stores its answer. Rejects with
   * `idempotency_conflict`, `already_done` or `answers_damaged`.
   */
  async run(route: Route, call: RequestCall): Promise<Reply> {
    const id = scopeOf(route, call);
    const { replays } = call.database;
    const known = replays.find(id);
    if (known !== undefined) return replay(known, await hashOf(call));
    // This must happen before the first await: of two concurrent requests only one may proceed.
    if (this.#running.has(id)) throw refusal('idempotency_conflict', RUNNING);
    this.#running.add(id);
    try {
      const bodyHash = await hashOf(call);
      const kept = replays.find(id);
      if (kept !== undefined) return replay(kept, bodyHash);
      const once = new PendingOnce(id, bodyHash, () => replays.time());
      call.once = once;
      const reply = await route.handler(call);
      if (!once.used && reply.status < 400 && reply.facts?.kept !== false) await replays.store(once.ofReply(reply));
      return reply;
    } finally {
      this.#running.delete(id);
    }
  }
}

class PendingOnce implements Once {
  /** True if an entry was made, which is stored with the write. */
  used = false;
  readonly #id: string;
  readonly #bodyHash: string;
  readonly #now: () => number;

  constructor(id: string, bodyHash: string, now: () => number) {
    this.#id = id;
    this.#bodyHash = bodyHash;
    this.#now = now;
  }

  entry(status: number, body: string, contentType: string = JSON_TYPE, written?: WrittenIds): AnswerToKeep {
    this.used = true;
    const entry = { id: this.#id, bodyHash: this.#bodyHash, status, contentType, body, at: this.#now() };
    return written === undefined ? entry : { ...entry, written };
  }

  ofReply({ status, body, contentType }: Reply): AnswerToKeep {
    const text = typeof body === 'string' ? body : Buffer.from(body).toString();
    return this.entry(status, text, contentType, contentType === JSON_TYPE ? idIn(text) : undefined);
  }
}

/** Longer answers are not searched for an id (of a rule, of a virtual graph). */
const LONGEST_WITH_ID = 2 ** 16;
const LONGEST_ID = 200;

/**
 * Returns the id of the rule or graph that was stored, if the answer contains one and is so large
 * that the answer is dropped before its key.
 */
function idIn(text: string): WrittenIds | undefined {
  if (text.length <= SMALL_BODY_LENGTH || text.length > LONGEST_WITH_ID) return undefined;
  const { id } = JSON.parse(text) as { id?: unknown };
  return typeof id === 'string' && id.length <= LONGEST_ID ? { id } : undefined;
}

const RUNNING = 'A request with this Idempotency-Key is still running. Try again when it is done.';

const DONE =
  'This request was carried out before and was not run again, but its answer is no longer kept. Read what it wrote: the read shows it when X-Min-LSN is at least the lsn of this answer. For a new request take a new Idempotency-Key.';

function replay(kept: KeptAnswer, bodyHash: string): Reply {
  if (kept.bodyHash !== bodyHash) {
    throw refusal(
      'idempotency_conflict',
      'This Idempotency-Key was used with another body. Take a new key for a new request.',
    );
  }
  const { status, contentType, body, lsn, written } = kept;
  if (body === null) throw refusal('already_done', DONE, { fields: { lsn, ...written } });
  return {
    status,
    contentType,
    body,
    lsn: undefined,
    headers: REPLAYED,
    source: undefined,
    tag: undefined,
    facts: REPLAYED_FACTS,
  };
}

/**
 * Returns an id for one request of one caller: the same key counts as a different key for another
 * caller, method, path or query. No part but the last can contain a line break, so the hashed texts
 * of different requests differ.
 */
function scopeOf(route: Route, { caller, path, query, idempotencyKey }: RequestCall): string {
  const text = `${caller.keyId ?? 'anonymous'}\n${route.method}\n${path}?${query}\n${idempotencyKey}`;
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', text, 'base64url')
    : crypto.createHash('sha256').update(text).digest('base64url');
}

async function hashOf({ body, bodyType, services }: RequestCall): Promise<string> {
  const hash = crypto.createHash('sha256').update(`${bodyType}\n`);
  let offset = 0;
  const step = (): boolean => {
    hash.update(body.subarray(offset, offset + HASH_STEP_BYTES));
    offset += HASH_STEP_BYTES;
    return offset < body.length;
  };
  if (step()) await services.scheduler.run('body', step);
  return hash.digest('base64url');
}
