// The headers of JSON answers as bytes that are reused between requests; only the numbers in them
// change.
//
// A block is a sequence of texts, each followed by a number. If a new number has as many digits as
// the old one, the digits are overwritten in place. Otherwise the block is laid out again from
// there. Building the same text as a string costs ten times as much (measured: 1.5 us of the 5 us
// of a whole minimal request), since every string must be joined, flattened and encoded on its way
// into the transport.

import { bytesOf } from './byte-text.ts';
import type { EntityTags } from './entity-tag.ts';
import { JSON_TYPE } from './media.ts';

/** The block is written as the value of this header; its texts contain the headers that follow. */
export const BLOCK_NAME = bytesOf('Content-Type');

const LONGEST_NUMBER = 16;
const ZERO = 48;

/** A text with numbers in it, as bytes. */
export class HeadBlock {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  /** `#texts[i]` precedes number i. */
  readonly #texts: readonly Uint8Array[];
  readonly #values: number[];
  /** The offset of the digits of number i, and their count. */
  readonly #offsets: number[];
  readonly #lengths: number[];
  /** Cached views of the first n bytes. */
  readonly #views: (Uint8Array<ArrayBuffer> | undefined)[];

  /** `texts[i]` precedes number i; all numbers are initially 0. */
  constructor(texts: readonly string[]) {
    this.#texts = texts.map(bytesOf);
    const size = this.#texts.reduce((sum, text) => sum + text.length + LONGEST_NUMBER, 0);
    this.#bytes = new Uint8Array(size);
    this.#values = texts.map(() => 0);
    this.#offsets = texts.map(() => 0);
    this.#lengths = texts.map(() => 1);
    this.#views = new Array(size + 1).fill(undefined);
    this.#layOut(0, 0);
  }

  /** Sets one number, a safe integer of 0 or more. */
  set(index: number, value: number): void {
    if (this.#values[index] === value) return;
    this.#values[index] = value;
    const length = digitsOf(value);
    if (length === this.#lengths[index]) {
      writeDigits(this.#bytes, this.#offsets[index]! + length, value);
    } else {
      this.#lengths[index] = length;
      this.#layOut(index, this.#offsets[index]! - this.#texts[index]!.length);
    }
  }

  /** Returns the bytes up to and including number `index`, valid until the next `set`. */
  upTo(index: number): Uint8Array<ArrayBuffer> {
    const end = this.#offsets[index]! + this.#lengths[index]!;
    let view = this.#views[end];
    if (view === undefined) {
      view = new Uint8Array(this.#bytes.buffer, 0, end);
      this.#views[end] = view;
    }
    return view;
  }

  /** Writes the texts and numbers from `index` on. */
  #layOut(index: number, start: number): void {
    let at = start;
    for (let i = index; i < this.#texts.length; i++) {
      const text = this.#texts[i]!;
      this.#bytes.set(text, at);
      this.#offsets[i] = at + text.length;
      at += text.length + this.#lengths[i]!;
      writeDigits(this.#bytes, at, this.#values[i]!);
    }
  }
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits++;
  return digits;
}

/** Writes the decimal digits of `value` so that they end before offset `end`. */
function writeDigits(into: Uint8Array, end: number, value: number): void {
  let at = end;
  let rest = value;
  do {
    const tenth = Math.floor(rest / 10);
    into[--at] = ZERO + (rest - tenth * 10);
    rest = tenth;
  } while (rest > 0);
}

export interface AnswerHeadsOptions {
  /** Value of X-RateLimit-Limit. */
  limit: number;
  vary: string;
  tags: EntityTags;
  /** Precedes the number in request ids. */
  idPrefix: string;
}

/**
 * The blocks of all JSON answers that count against the rate limit: with and without log position
 * and tag.
 */
export class AnswerHeads {
  /** Value of X-RateLimit-Limit. */
  readonly limit: number;
  readonly #blocks: readonly HeadBlock[];

  constructor({ limit, vary, tags, idPrefix }: AnswerHeadsOptions) {
    this.limit = limit;
    const start = `${JSON_TYPE}\r\nVary: ${vary}\r\nX-RateLimit-Limit: ${limit}\r\nX-RateLimit-Reset: `;
    const lsn = '\r\nX-Hedgerow-LSN: ';
    const tag = `\r\nETag: ${tags.prefix}`;
    const remaining = '\r\nX-RateLimit-Remaining: ';
    const id = `\r\nX-Request-Id: ${idPrefix}`;
    this.#blocks = [
      new HeadBlock([start, remaining, id]),
      new HeadBlock([start, lsn, remaining, id]),
      new HeadBlock([start, tag, `"${remaining}`, id]),
      new HeadBlock([start, lsn, tag, `"${remaining}`, id]),
    ];
  }

  /**
   * Returns the block of one answer, valid until the next call. A negative `lsn` or `tag` omits it;
   * a negative `requestNumber` omits the id, which is then written as a separate header. `reset` is
   * in epoch seconds.
   */
  fill(reset: number, remaining: number, lsn: number, tag: number, requestNumber: number): Uint8Array<ArrayBuffer> {
    const block = this.#blocks[(lsn < 0 ? 0 : 1) + (tag < 0 ? 0 : 2)]!;
    let index = 0;
    block.set(index++, reset);
    if (lsn >= 0) block.set(index++, lsn);
    if (tag >= 0) block.set(index++, tag);
    block.set(index, remaining);
    if (requestNumber < 0) return block.upTo(index);
    block.set(index + 1, requestNumber);
    return block.upTo(index + 1);
  }
}
