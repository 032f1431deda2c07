// Answers queries on virtual graphs: hyperedges in the order in which they arrive.

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
/** Room for what surrounds the SQL in the tail, in bytes: two numbers and the fixed text. */
const LONGEST_FIGURES = 200;

export interface EdgesForm {
  readonly format: AnswerFormat;
  /** Whether times are written as ISO 8601 instead of seconds. */
  readonly isoTimes: boolean;
}

/**
 * Resolves when the answer can begin; rejects if the query fails before. `ended` is called once,
 * when nothing more is requested from the backend.
 */
export function virtualReply(
  call: Call,
  running: RunningQuery,
  form: EdgesForm,
  ended: () => void,
): Reply | Promise<Reply> {
  return writeAnswer(call, new EdgesText(running, form, ended), OPENINGS.relayed, false);
}

/** Requests a batch from the backend once the one before it has been taken. */
class EdgesText implements AnswerText, AnswerFrame {
  /** No batch will follow. */
  isEnded = false;
  readonly #running: RunningQuery;
  readonly format: AnswerFormat;
  readonly #batches: AsyncIterator<EdgesAsJson>;
  readonly #ended: () => void;
  readonly #sql: string;
  #count = 0;
  /** The batch that has arrived and was not taken. */
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

  /** The signal that the query was given ends it when it is too late. */
  look(): void {}

  next(): Uint8Array | null {
    if (this.#failure !== undefined) throw this.#failure.error;
    const bytes = this.#bytes;
    this.#bytes = NOTHING;
    if (bytes.length > 0) return bytes;
    if (this.isEnded) return null;
    // What was given before has been copied by now: the next batch may take its memory.
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
    // No comma before the first edge.
    this.#bytes = this.#count === 0 && this.format.rows === 'json' ? bytes.subarray(1) : bytes;
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
      // The answer is complete, or was given up.
    } finally {
      this.#ended();
    }
  }
}
