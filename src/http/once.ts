// Writes that carry an Idempotency-Key: the first answer under 400 is kept and given again, the work is done once (contract section 1).

import * as crypto from 'node:crypto';
import type { Attach, ReplayEntry } from '../engine/index.ts';
import { refusal } from '../errors.ts';
import type { RequestCall } from './call.ts';
import { JSON_TYPE } from './media.ts';
import type { Reply, ReplyFacts } from './reply.ts';
import type { Route } from './route.ts';

/** What a handler hands to the engine's `attach`; when it does not, the answer is stored in a frame of its own before it goes out. */
export interface Once {
  /** The entry that replays this answer. The handler must then answer with this status, body and type (default JSON). */
  entry(status: number, body: string, contentType?: string): ReplayEntry;
}

/** The body of a write's answer: made when the write is about to be logged if it is kept under an Idempotency-Key, else when the write is done. */
export class WriteAnswer<T> {
  /** For the engine; undefined when the answer is not kept. */
  readonly attach: Attach<T> | undefined;
  readonly #make: (outcome: T) => string;
  #body: string | undefined;

  /** `make` gives text of the type, by default JSON. */
  constructor(once: Once | undefined, status: number, make: (outcome: T) => string, contentType?: string) {
    this.#make = make;
    if (once === undefined) return;
    this.attach = (outcome) => {
      this.#body = make(outcome);
      return once.entry(status, this.#body, contentType);
    };
  }

  body(outcome: T): string {
    return this.#body ?? this.#make(outcome);
  }
}

const LONGEST_KEY = 255;
/** Hashed in one step, so that a step stays well under the time slice. */
const HASH_STEP_BYTES = 2 ** 20;
const REPLAYED: Reply['headers'] = [['Idempotent-Replayed', 'true']];
const REPLAYED_FACTS: ReplyFacts = { replayed: true };

/** `count`: how often the header was sent. Throws `invalid_input` for what is no key: 1 to 255 characters of printable ASCII, once. */
export function checkIdempotencyKey(key: string, count: number): void {
  if (count === 0 || (count === 1 && key.length <= LONGEST_KEY && /^[ -~]+$/.test(key))) return;
  throw refusal('invalid_input', 'Idempotency-Key takes 1 to 255 characters of printable ASCII, once.', {
    errors: [{ loc: ['header', 'Idempotency-Key'], msg: 'must be 1 to 255 characters of printable ASCII' }],
  });
}

export class OnceOnly {
  /** Ids of the writes that run now. */
  readonly #running = new Set<string>();
  /** Epoch milliseconds. */
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The kept answer, or that of the handler, which is kept. Rejects `idempotency_conflict`. */
  async run(route: Route, call: RequestCall): Promise<Reply> {
    const id = scopeOf(route, call);
    // Before the first await: of two requests at once only one may pass.
    if (this.#running.has(id)) throw refusal('idempotency_conflict', RUNNING);
    this.#running.add(id);
    try {
      const bodyHash = await hashOf(call);
      const kept = call.database.replays.find(id);
      if (kept !== undefined) return replay(kept, bodyHash);
      const once = new PendingOnce(id, bodyHash, this.#now);
      call.once = once;
      const reply = await route.handler(call);
      if (!once.used && reply.status < 400 && reply.facts?.kept !== false)
        await call.database.replays.store(once.ofReply(reply));
      return reply;
    } finally {
      this.#running.delete(id);
    }
  }
}

class PendingOnce implements Once {
  /** An entry was made: it is stored with the write. */
  used = false;
  readonly #id: string;
  readonly #bodyHash: string;
  readonly #now: () => number;

  constructor(id: string, bodyHash: string, now: () => number) {
    this.#id = id;
    this.#bodyHash = bodyHash;
    this.#now = now;
  }

  entry(status: number, body: string, contentType: string = JSON_TYPE): ReplayEntry {
    this.used = true;
    return { id: this.#id, bodyHash: this.#bodyHash, status, contentType, body, at: this.#now() };
  }

  ofReply({ status, body, contentType }: Reply): ReplayEntry {
    return this.entry(status, typeof body === 'string' ? body : Buffer.from(body).toString(), contentType);
  }
}

const RUNNING = 'A request with this Idempotency-Key is still running. Try again when it is done.';

function replay(kept: ReplayEntry, bodyHash: string): Reply {
  if (kept.bodyHash !== bodyHash) {
    throw refusal(
      'idempotency_conflict',
      'This Idempotency-Key was used with another body. Take a new key for a new request.',
    );
  }
  const { status, contentType, body } = kept;
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

/** One request of one caller: the same key means something else to another caller, method or path. No part but the last can hold a line break. */
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
  if (step()) await services.slices.run(step);
  return hash.digest('base64url');
}
