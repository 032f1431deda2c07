// Cuts a stream of bytes into batches of whole lines, with every line's number, in bounded memory.

import type { EdgeInput } from '../../engine/index.ts';

/** A place in an input where a batch may begin. */
export interface Position {
  /** Bytes of the unpacked input, or rows, or edges, before it. */
  readonly offset: number;
  /** 1-based number of the line, row or edge that begins there. */
  readonly line: number;
}

export const START: Position = { offset: 0, line: 1 };

/** A node of the input that has a name there, and got a number here. */
export interface NamedNode {
  readonly id: number;
  readonly name: string;
  /** Time of the first edge it was seen in. */
  readonly event_ts: number;
}

/** Some lines of an input, one after another. */
export interface LineBatch {
  /** How many lines. */
  readonly count: number;
  readonly bytes: Buffer;
  /**
   * Where line i ends, its newline not counted. It starts after the newline of line i - 1, the
   * first one at 0.
   */
  readonly ends: readonly number[];
  /** 1-based number of the first line in its input. */
  readonly firstLine: number;
  /**
   * The batch is the beginning of a single line that is longer than the limit; the rest of it is
   * dropped.
   */
  readonly tooLong: boolean;
  /** Where the input continues after line i; -1: where the batch itself begins. */
  after(index: number): Position;
  /** Of an input that is no NDJSON: the row that line i was made from, as it can be shown. */
  original?(index: number): string;
  /**
   * Of an input that is no NDJSON: the edges that the lines hold, so that they need not be read
   * again. Undefined: no line could be made of the row.
   */
  readonly edges?: readonly (EdgeInput | undefined)[];
  /**
   * Of an input that is no NDJSON: what tells this batch from one that was cut or read in another
   * way.
   */
  content?(): string | Uint8Array;
  /**
   * Its lines will not be asked for again: only their places. Memory stays small while the batch
   * becomes durable.
   */
  release?(): void;
  /** What is wrong with rows that no line could be made of; their lines are empty. */
  readonly faults?: ReadonlyMap<number, string> | undefined;
  /** Nodes that first occur in this batch: they are stored before it. */
  readonly names?: readonly NamedNode[] | undefined;
}

export interface BatchLimits {
  rows: number;
  /** A batch is closed when it has this many bytes; one with a longer line has more. */
  bytes: number;
  /** Longer lines are not kept. */
  lineBytes: number;
  /** A batch of rows ends with the first bad one: nothing of those after it is wanted. */
  endsAtFault?: boolean | undefined;
}

const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** What is kept of a line that is too long, to show it. */
const SHOWN_BYTES = 200;

export function startOf(batch: LineBatch, index: number): number {
  return index === 0 ? 0 : batch.ends[index - 1]! + 1;
}

export function lineText(batch: LineBatch, index: number): string {
  if (batch.original !== undefined) return batch.original(index);
  return batch.bytes.toString('utf8', startOf(batch, index), batch.ends[index]!);
}

/** `from`: where the first chunk begins. The same bytes from there on give the same batches. */
export async function* lineBatches(
  chunks: AsyncIterable<Buffer>,
  limits: BatchLimits,
  from: Position = START,
): AsyncGenerator<LineBatch> {
  const cutter = new LineCutter(limits, from);
  for await (const chunk of chunks) yield* cutter.add(chunk);
  yield* cutter.end();
}

class LineCutter {
  readonly #limits: BatchLimits;
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #used = 0;
  #ends: number[] = [];
  #line: number;
  /** Bytes of the input before those that are kept. */
  #offset: number;
  /** The beginning of a line that is too long, while its end is looked for. */
  #long: Buffer | undefined;

  constructor(limits: BatchLimits, from: Position) {
    this.#limits = limits;
    this.#line = from.line;
    this.#offset = from.offset;
  }

  *add(chunk: Buffer): Generator<LineBatch> {
    const { rows, bytes, lineBytes } = this.#limits;
    let copied = 0;
    if (this.#long !== undefined) {
      const newline = chunk.indexOf(NEWLINE);
      copied = newline < 0 ? chunk.length : newline + 1;
      this.#offset += copied;
      if (newline >= 0) yield this.#takeLong(this.#long);
    } else if (this.#offset === 0 && this.#used === 0 && chunk.subarray(0, 3).equals(BYTE_ORDER_MARK)) {
      copied = 3;
      this.#offset = 3;
    }
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
    // Only when it must be: batches are not to depend on how the input is cut into chunks.
    if (this.#used - this.#finished > lineBytes) {
      if (this.#ends.length > 0) yield this.#take();
      this.#beginLong();
    }
  }

  /** Bytes of the lines that are whole. */
  get #finished(): number {
    return this.#ends.length === 0 ? 0 : this.#ends[this.#ends.length - 1]! + 1;
  }

  *end(): Generator<LineBatch> {
    if (this.#long !== undefined) yield this.#takeLong(this.#long);
    if (this.#used > this.#finished) {
      // The last line has no newline.
      this.#ends.push(this.#used);
      this.#append(Buffer.from('\n'));
    }
    if (this.#ends.length > 0) yield this.#take();
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

  /** The finished lines; an unfinished one is kept for the next batch. */
  #take(): LineBatch {
    const ends = this.#ends;
    const finished = this.#finished;
    const offset = this.#offset;
    const firstLine = this.#line;
    const after = (index: number): Position =>
      index < 0 ? { offset, line: firstLine } : { offset: offset + ends[index]! + 1, line: firstLine + index + 1 };
    const bytes = this.#bytes.subarray(0, finished);
    const batch: LineBatch = { count: ends.length, bytes, ends, firstLine, tooLong: false, after };
    const rest = this.#bytes.subarray(finished, this.#used);
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(64 * 1024, finished + finished / 8, rest.length));
    rest.copy(this.#bytes);
    this.#used = rest.length;
    this.#ends = [];
    this.#line += ends.length;
    this.#offset += finished;
    return batch;
  }

  #beginLong(): void {
    this.#long = Buffer.from(this.#bytes.subarray(0, SHOWN_BYTES));
    this.#offset += this.#used;
    this.#bytes = Buffer.allocUnsafe(64 * 1024);
    this.#used = 0;
  }

  #takeLong(bytes: Buffer): LineBatch {
    const offset = this.#offset;
    const firstLine = this.#line++;
    this.#long = undefined;
    const after = (index: number): Position => ({ offset, line: index < 0 ? firstLine : firstLine + 1 });
    return { count: 1, bytes, ends: [bytes.length], firstLine, tooLong: true, after };
  }
}
