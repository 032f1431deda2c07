// Answers queries on virtual graphs: hyperedges in the order they arrive, as one body if they are
// few, otherwise as a stream.

import { type AnswerFormat, type ChunkSource, type Reply, typeOf } from '../http/index.ts';
import type { EdgesAsJson, RunningQuery } from '../virtual/index.ts';

/** Answers up to this size are sent as one body with a Content-Length. */
const WHOLE_BODY_BYTES = 256 * 1024;
const NOTHING = new Uint8Array(0);

export interface EdgesForm {
  readonly format: AnswerFormat;
  /** Whether times are written as ISO 8601 instead of seconds. */
  readonly isoTimes: boolean;
}

/**
 * Resolves when the answer can begin; rejects if the query fails before. `ended` is called once,
 * when nothing more is requested from the backend.
 */
export async function virtualReply(
  running: RunningQuery,
  { format, isoTimes }: EdgesForm,
  ended: () => void,
): Promise<Reply> {
  const texts = new EdgeTexts(running, { format, isoTimes }, ended);
  try {
    const body: Uint8Array[] = [];
    let bytes = 0;
    let next: Uint8Array | null = NOTHING;
    while (next !== null && bytes <= WHOLE_BODY_BYTES) {
      next = await texts.next();
      if (next === null) break;
      // The next piece reuses the same memory.
      body.push(next.slice());
      bytes += next.length;
    }
    const whole = next === null;
    if (whole) await texts.close();
    return {
      status: 200,
      contentType: typeOf(format),
      body: whole ? Buffer.concat(body) : '',
      lsn: undefined,
      headers: undefined,
      source: whole ? undefined : new Later(Buffer.concat(body), texts),
      tag: undefined,
      facts: undefined,
    };
  } catch (error) {
    await texts.close();
    throw error;
  }
}

/** The text of an answer in UTF-8, one piece per batch. */
class EdgeTexts {
  readonly #running: RunningQuery;
  readonly #format: AnswerFormat;
  readonly #batches: AsyncIterator<EdgesAsJson>;
  readonly #ended: () => void;
  #count = 0;
  #part: 'head' | 'edges' | 'end' = 'head';
  #closed = false;

  constructor(running: RunningQuery, { format, isoTimes }: EdgesForm, ended: () => void) {
    this.#running = running;
    this.#format = format;
    const around = format === 'ndjson' ? { before: '', after: '\n' } : { before: ',', after: '' };
    this.#batches = running.json({ ...around, isoTimes })[Symbol.asyncIterator]();
    this.#ended = ended;
  }

  /** The next piece, valid until the next call; null at the end. */
  async next(): Promise<Uint8Array | null> {
    if (this.#part === 'end') return null;
    if (this.#part === 'head' && this.#format === 'json') {
      this.#part = 'edges';
      return Buffer.from('{"hyperedges":[');
    }
    const { done, value } = await this.#batches.next();
    if (done === true) {
      this.#part = 'end';
      return this.#format === 'ndjson' ? NOTHING : Buffer.from(this.#tail());
    }
    const { count, bytes } = value;
    const isFirst = this.#count === 0;
    this.#count += count;
    // No comma before the first edge.
    return isFirst && this.#format === 'json' ? bytes.subarray(1) : bytes;
  }

  #tail(): string {
    const { sql, cached, cacheEnabled: cache_enabled, skipped } = this.#running;
    return `],${JSON.stringify({ count: this.#count, skipped, sql, cached, cache_enabled }).slice(1)}`;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.#batches.return?.();
    } finally {
      this.#ended();
    }
  }
}

/** Requests the next batch once the client has taken the last one. */
class Later implements ChunkSource {
  readonly #texts: EdgeTexts;
  #bytes: Uint8Array | null;
  #failure: { error: unknown } | undefined;
  #asking = false;
  #resume: (() => void) | undefined;

  constructor(first: Uint8Array, texts: EdgeTexts) {
    this.#bytes = first;
    this.#texts = texts;
  }

  next(): Uint8Array | null {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#bytes === null) return null;
    const bytes = this.#bytes;
    this.#bytes = NOTHING;
    // What was returned has been written by now: its memory may be reused for the next piece.
    if (bytes.length === 0) this.#ask();
    return bytes;
  }

  wait(resume: () => void): boolean {
    if (!this.#asking) return false;
    this.#resume = resume;
    return true;
  }

  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    this.#texts
      .next()
      .then(
        (bytes) => {
          this.#bytes = bytes;
        },
        (error) => {
          this.#failure = { error };
        },
      )
      .finally(() => {
        this.#asking = false;
        const resume = this.#resume;
        this.#resume = undefined;
        resume?.();
      });
  }

  close(): void {
    void this.#texts.close().catch(() => undefined);
  }
}
