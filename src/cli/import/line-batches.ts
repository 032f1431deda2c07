// Cuts a stream of bytes into batches of whole lines, with every line's number, in bounded memory.

/** Some lines of an input, one after another. */
export interface LineBatch {
  readonly bytes: Buffer;
  /** Where line i ends, its newline not counted. It starts behind the newline of line i - 1, the first one at 0. */
  readonly ends: readonly number[];
  /** 1-based number of the first line in its input. */
  readonly firstLine: number;
  /** The batch is the beginning of a single line that is longer than the limit; the rest of it is dropped. */
  readonly tooLong: boolean;
}

export interface BatchLimits {
  rows: number;
  /** A batch is closed when it has so many bytes; one with a longer line has more. */
  bytes: number;
  /** Longer lines are not kept. */
  lineBytes: number;
}

const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** What is kept of a line that is too long, to show it. */
const SHOWN_BYTES = 200;

export function startOf(batch: LineBatch, index: number): number {
  return index === 0 ? 0 : batch.ends[index - 1]! + 1;
}

export function lineText(batch: LineBatch, index: number): string {
  return batch.bytes.toString('utf8', startOf(batch, index), batch.ends[index]!);
}

export async function* lineBatches(chunks: AsyncIterable<Buffer>, limits: BatchLimits): AsyncGenerator<LineBatch> {
  const cutter = new LineCutter(limits);
  for await (const chunk of chunks) yield* cutter.add(chunk);
  yield* cutter.end();
}

class LineCutter {
  readonly #limits: BatchLimits;
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #used = 0;
  #ends: number[] = [];
  #line = 1;
  #atStart = true;
  #skipping = false;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  *add(chunk: Buffer): Generator<LineBatch> {
    const { rows, bytes, lineBytes } = this.#limits;
    let copied = this.#begin(chunk);
    let at = copied;
    while (at < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, at);
      if (newline < 0) break;
      at = newline + 1;
      this.#ends.push(this.#used + newline - copied);
      if (this.#ends.length < rows && this.#used + at - copied < bytes) continue;
      this.#append(chunk.subarray(copied, at));
      copied = at;
      yield this.#take();
    }
    this.#append(chunk.subarray(copied));
    if (this.#used >= bytes && this.#ends.length > 0) yield this.#take();
    if (this.#ends.length === 0 && this.#used > lineBytes) yield this.#takeTooLong();
  }

  *end(): Generator<LineBatch> {
    const finished = this.#ends.length === 0 ? 0 : this.#ends[this.#ends.length - 1]! + 1;
    if (this.#used > finished) {
      // The last line has no newline.
      this.#ends.push(this.#used);
      this.#append(Buffer.from('\n'));
    }
    if (this.#ends.length > 0) yield this.#take();
  }

  /** Where the bytes of the chunk that count begin. */
  #begin(chunk: Buffer): number {
    if (this.#atStart && chunk.length > 0) {
      this.#atStart = false;
      return chunk.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    }
    if (!this.#skipping) return 0;
    const newline = chunk.indexOf(NEWLINE);
    if (newline < 0) return chunk.length;
    this.#skipping = false;
    return newline + 1;
  }

  #append(piece: Buffer): void {
    const needed = this.#used + piece.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#used);
    this.#used = needed;
  }

  /** The finished lines; an unfinished one stays behind. */
  #take(): LineBatch {
    const ends = this.#ends;
    const finished = ends[ends.length - 1]! + 1;
    const batch: LineBatch = { bytes: this.#bytes.subarray(0, finished), ends, firstLine: this.#line, tooLong: false };
    const rest = this.#bytes.subarray(finished, this.#used);
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(64 * 1024, finished + finished / 8, rest.length));
    rest.copy(this.#bytes);
    this.#used = rest.length;
    this.#ends = [];
    this.#line += ends.length;
    return batch;
  }

  #takeTooLong(): LineBatch {
    const bytes = Buffer.from(this.#bytes.subarray(0, SHOWN_BYTES));
    const batch: LineBatch = { bytes, ends: [bytes.length], firstLine: this.#line, tooLong: true };
    this.#bytes = Buffer.allocUnsafe(64 * 1024);
    this.#used = 0;
    this.#line += 1;
    this.#skipping = true;
    return batch;
  }
}
