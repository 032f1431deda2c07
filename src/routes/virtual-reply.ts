// Answers of queries over virtual graphs: hyperedges as they come, as one body when they are few, else as a stream.

import { JSON_TYPE, NDJSON_TYPE } from '../http/media.ts';
import type { ChunkSource, Reply } from '../http/reply.ts';
import type { HydratedEdge, RunningQuery } from '../virtual/index.ts';

/** Answers up to this size are sent as one body with a Content-Length. */
const WHOLE_BODY_CHARACTERS = 256 * 1024;

/** Resolves when the answer can begin. Rejects what the query fails with before. `ended` is called once, when nothing more is asked of the backend. */
export async function virtualReply(running: RunningQuery, ndjson: boolean, ended: () => void): Promise<Reply> {
  const texts = new EdgeTexts(running, ndjson, ended);
  try {
    let body = '';
    let text: string | null = '';
    while (text !== null && body.length <= WHOLE_BODY_CHARACTERS) {
      body += text;
      text = await texts.next();
    }
    const whole = text === null;
    if (whole) await texts.close();
    return {
      status: 200,
      contentType: ndjson ? NDJSON_TYPE : JSON_TYPE,
      body: whole ? body : '',
      lsn: undefined,
      headers: undefined,
      source: whole ? undefined : new Later(body + text, texts),
      tag: undefined,
      facts: undefined,
    };
  } catch (error) {
    await texts.close();
    throw error;
  }
}

/** The text of an answer, a piece a batch. */
class EdgeTexts {
  readonly #running: RunningQuery;
  readonly #ndjson: boolean;
  readonly #batches: AsyncIterator<readonly HydratedEdge[]>;
  readonly #ended: () => void;
  #count = 0;
  #part: 'head' | 'edges' | 'end' = 'head';
  #closed = false;

  constructor(running: RunningQuery, ndjson: boolean, ended: () => void) {
    this.#running = running;
    this.#ndjson = ndjson;
    this.#batches = running.batches()[Symbol.asyncIterator]();
    this.#ended = ended;
  }

  /** Null at the end. */
  async next(): Promise<string | null> {
    if (this.#part === 'end') return null;
    const head = this.#part === 'head' && !this.#ndjson ? '{"hyperedges":[' : '';
    this.#part = 'edges';
    const { done, value } = await this.#batches.next();
    if (done === true) {
      this.#part = 'end';
      return this.#ndjson ? '' : `${head}${this.#tail()}`;
    }
    const lines = value.map((edge) => JSON.stringify(edge));
    const isFirst = this.#count === 0;
    this.#count += lines.length;
    if (this.#ndjson) return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
    return `${head}${isFirst || lines.length === 0 ? '' : ','}${lines.join(',')}`;
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

/** Asks for the next batch when the client has taken the last one. */
class Later implements ChunkSource {
  readonly #texts: EdgeTexts;
  #text: string | null;
  #failure: { error: unknown } | undefined;
  #asking = false;
  #resume: (() => void) | undefined;

  constructor(first: string, texts: EdgeTexts) {
    this.#text = first;
    this.#texts = texts;
  }

  next(): Uint8Array | null {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#text === null) return null;
    const text = this.#text;
    this.#text = '';
    if (text === '') this.#ask();
    return Buffer.from(text);
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
        (text) => {
          this.#text = text;
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
