// Answers queries on virtual graphs with the hyperedges in the order in which they arrive from the
// backend.

import {
  type AnswerFormat,
  type AnswerFrame,
  type AnswerText,
  type ChunkSource,
  OPENINGS,
  type Reply,
  writeAnswer,
} from '../http/index.ts';
import type { EdgesAsJson, RunningQuery } from '../virtual/index.ts';
import type { Call } from './application.ts';

const NOTHING = new Uint8Array(0);
const HEAD = Buffer.from('{"hyperedges":[');
/** Maximum size in bytes of the tail without the SQL: two numbers and the fixed text. */
const LONGEST_FIGURES = 200;

export interface EdgesForm {
  readonly format: AnswerFormat;
  /** True if times are written as ISO 8601 instead of seconds. */
  readonly isoTimes: boolean;
}

/**
 * Resolves when the answer can begin; rejects if the query fails before that. `ended` is called
 * once, when nothing more will be requested from the backend.
 */
export function virtualReply(
  call: Call,
  running: RunningQuery,
  form: EdgesForm,
  ended: () => void,
): Reply | Promise<Reply> {
  return writeAnswer(call, new EdgesText(running, form, ended), OPENINGS.relayed, false);
}

/**
 * The text of an answer. It requests a batch from the backend once the previous batch has been
 * taken.
 */
class EdgesText implements AnswerText, AnswerFrame {
  get work() {
    return 'virtual' as const;
  }

  /** True if no batch will follow. */
  isEnded = false;
  readonly #running: RunningQuery;
  readonly format: AnswerFormat;
  readonly #batches: AsyncIterator<EdgesAsJson>;
  readonly #ended: () => void;
  readonly #sql: string;
  #count = 0;
  #hasBegun = false;
  /** The batch that has arrived and has not been taken yet. */
  #bytes: Uint8Array = NOTHING;
  #failure: { error: unknown } | undefined;
  #asks = false;
  #resume: (() => void) | undefined;
  #closed = false;

  constructor(running: RunningQuery, { format, isoTimes }: EdgesForm, ended: () => void) {
    this.#running = running;
    this.format = format;
    const around = format.rows === 'ndjson' ? { before: '', after: '\n' } : { before: ',', after: '' };
    this.#batches = running.json({ ...around, isoTimes })[Symbol.asyncIterator]();
    this.#ended = ended;
    this.#sql = JSON.stringify(running.sql);
  }

  get frame(): AnswerFrame {
    return this;
  }

  get frameBytes(): number {
    return HEAD.length + LONGEST_FIGURES + Buffer.byteLength(this.#sql);
  }

  /** Nothing to check here: the signal passed to the query stops it at the deadline. */
  look(): void {}

  next(): Uint8Array | null {
    if (this.#failure !== undefined) throw this.#failure.error;
    const bytes = this.#bytes;
    this.#bytes = NOTHING;
    if (bytes.length > 0) return bytes;
    if (this.isEnded) return null;
    // The caller has copied the previous batch by now, so the next batch may use the same memory.
    if (!this.#asks) this.#ask();
    return NOTHING;
  }

  wait(resume: () => void): boolean {
    if (!this.#asks) return false;
    this.#resume = resume;
    return true;
  }

  #ask(): void {
    this.#asks = true;
    this.#batches
      .next()
      .then(
        ({ done, value }) => {
          if (done === true) this.isEnded = true;
          else this.#take(value);
        },
        (error) => {
          this.#failure = { error };
        },
      )
      .finally(() => {
        this.#asks = false;
        const resume = this.#resume;
        this.#resume = undefined;
        resume?.();
      });
  }

  #take({ count, bytes }: EdgesAsJson): void {
    // Each edge begins with a comma, which is dropped before the first edge.
    this.#bytes = !this.#hasBegun && this.format.rows === 'json' ? bytes.subarray(1) : bytes;
    this.#hasBegun = true;
    this.#count += count;
  }

  writeHead(into: Uint8Array): number {
    into.set(HEAD, 0);
    return HEAD.length;
  }

  writeTail(into: Uint8Array, from: number): number {
    const { cached, cacheEnabled, skipped } = this.#running;
    const figures = `"count":${this.#count},"skipped":${skipped},"sql":${this.#sql}`;
    const tail = Buffer.from(`],${figures},"cached":${cached},"cache_enabled":${cacheEnabled}}`);
    into.set(tail, from);
    return from + tail.length;
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    return {
      status: 200,
      contentType: this.format.mediaType,
      body: body ?? '',
      lsn: undefined,
      headers: undefined,
      source,
      tag: undefined,
      facts: undefined,
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    void this.#end();
  }

  async #end(): Promise<void> {
    try {
      await this.#batches.return?.();
    } catch {
      // Ignored: the answer is already complete or was abandoned.
    } finally {
      this.#ended();
    }
  }
}
