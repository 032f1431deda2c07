// The answer of a measure as JSON text: the bytes of the result, and around them the facts about
// how it was computed.

import { HedgerowError } from '../errors.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { Chunks } from './chunks.ts';
import type { Basis } from './measure.ts';
import type { ParameterValues } from './parameters.ts';

/** The whole answer as one value. */
export interface MeasureValue {
  measure: string;
  table: string;
  /** Has the shape that the measure's result schema describes. */
  result: unknown;
  /** The variant of the measure that was used. */
  definition: string;
  /** `distinct` if equal member sets counted once, else `events`; null if both give the same. */
  basis: Basis | null;
  /** The parameters as applied, with defaults filled in. */
  params: ParameterValues;
}

export interface AnswerFacts extends Omit<MeasureValue, 'result'> {
  /** Log position (LSN) of the state that the answer describes. */
  lsn: number;
}

/**
 * Maximum size in bytes of the JSON text that `value()` reads. A larger answer can only be read as
 * a stream of bytes.
 */
const MOST_VALUE_BYTES = 256 * 2 ** 20;

export class MeasureAnswer implements Chunks {
  readonly facts: AnswerFacts;
  readonly #result: Chunks;
  readonly #scheduler: Scheduler;
  #place: 'head' | 'result' | 'end' = 'head';

  constructor(facts: AnswerFacts, result: Chunks, scheduler: Scheduler) {
    this.facts = facts;
    this.#result = result;
    this.#scheduler = scheduler;
  }

  get lsn(): number {
    return this.facts.lsn;
  }

  /**
   * Returns the next bytes of the answer's JSON text; see Chunks. If the result was interrupted by
   * an error, throws that error.
   */
  next(): Uint8Array<ArrayBuffer> | null {
    const { measure, table, definition, basis, params } = this.facts;
    if (this.#place === 'head') {
      this.#place = 'result';
      return bytesOf(`{"measure":${JSON.stringify(measure)},"table":${JSON.stringify(table)},"result":`);
    }
    if (this.#place === 'end') return null;
    const bytes = this.#result.next();
    if (bytes !== null) return bytes;
    this.#place = 'end';
    return bytesOf(`,${JSON.stringify({ definition, basis, params }).slice(1)}`);
  }

  wait(resume: () => void): boolean {
    return this.#place === 'result' && this.#result.wait(resume);
  }

  close(): void {
    this.#place = 'end';
    this.#result.close();
  }

  /** Yields all bytes of the answer. If the caller leaves the loop early, the work ends. */
  async *bytes(): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    try {
      for (let bytes = this.next(); bytes !== null; bytes = this.next()) {
        if (bytes.length > 0) yield bytes;
        else await this.more();
      }
    } finally {
      this.close();
    }
  }

  /** Resolves when `next` should be called again. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.wait(resolve)) void this.#scheduler.pause('measure').then(resolve);
    });
  }

  /**
   * Resolves to the whole answer. Rejects with `query_too_large` if the answer is larger than
   * MOST_VALUE_BYTES.
   */
  async value(): Promise<MeasureValue> {
    const all: Uint8Array[] = [];
    let size = 0;
    for await (const bytes of this.bytes()) {
      all.push(bytes);
      size += bytes.length;
      if (size > MOST_VALUE_BYTES)
        throw new HedgerowError(
          'query_too_large',
          `The answer has more than ${MOST_VALUE_BYTES} bytes: set a limit, or read the answer as bytes with open().`,
        );
    }
    return JSON.parse(Buffer.concat(all).toString()) as MeasureValue;
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(text) as Uint8Array<ArrayBuffer>;
}

const ENCODER = new TextEncoder();
