// Cuts a stream of bytes into batches of whole lines in bounded memory, and numbers the lines.

import type { EdgeInput, PropertyValue } from '../../engine/index.ts';

/** A position in an input at which a batch may begin. */
export interface Position {
  /**
   * How much of the input precedes the position: the number of bytes of the uncompressed input for
   * text, the number of rows or edges for other formats.
   */
  readonly offset: number;
  /** 1-based number of the line, row or edge that begins there. */
  readonly line: number;
}

export const START: Position = { offset: 0, line: 1 };

/** A row of a node table: the key and the attributes that have a value, by column. */
export type NodeRow = Readonly<Record<string, PropertyValue>>;

/** A node that has a name in the input and received a number from the import. */
export interface NamedNode {
  readonly id: number;
  readonly name: string;
  /** Time of the first edge in which the node occurred. */
  readonly event_ts: number;
}

/** Consecutive lines of an input. */
export interface LineBatch {
  /** Number of lines. */
  readonly count: number;
  readonly bytes: Buffer;
  /**
   * Offset in `bytes` of the end of each line, without its newline. Line i begins after the newline
   * of line i - 1; the first line begins at 0.
   */
  readonly ends: readonly number[];
  /** 1-based number of the first line within the input. */
  readonly firstLine: number;
  /**
   * True when the batch holds only the beginning of a single line that is longer than the limit.
   * The rest of the line is dropped.
   */
  readonly tooLong: boolean;
  /**
   * Returns the position in the input after line i; for -1, the position at which the batch begins.
   */
  after(index: number): Position;
  /**
   * Returns the row from which line i was made, in readable form. Only for formats other than
   * NDJSON.
   */
  original?(index: number): string;
  /**
   * The edge or node in each line, so that the lines need not be parsed. An element is undefined if
   * none could be made from its row. Only for formats other than NDJSON.
   */
  readonly items?: readonly (EdgeInput | NodeRow | undefined)[];
  /**
   * Returns data that identifies the content of the batch. The data differ when the input was cut
   * or read in another way. Only for formats other than NDJSON.
   */
  content?(): string | Uint8Array;
  /**
   * Frees the memory of the lines, when they have been read for the last time and the batch is not
   * durable yet. Afterwards only the positions of the lines are available.
   */
  release?(): void;
  /**
   * What is wrong with the rows from which no edge could be made, by index; their lines are empty.
   */
  readonly faults?: ReadonlyMap<number, string> | undefined;
  /** Nodes that first occur in this batch; they must be stored before the batch. */
  readonly names?: readonly NamedNode[] | undefined;
}

export interface BatchLimits {
  rows: number;
  /**
   * A batch is closed as soon as it has at least this many bytes.
   */
  bytes: number;
  /** Limit for the size of a line in bytes. Only the beginning of a longer line is kept. */
  lineBytes: number;
  /**
   * True: a batch of rows ends with its first bad row, because the rows after it are not imported.
   */
  endsAtFault?: boolean | undefined;
}

const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** Of a line that is too long, this many bytes are kept to be shown. */
const SHOWN_BYTES = 200;

export function startOf(batch: LineBatch, index: number): number {
  return index === 0 ? 0 : batch.ends[index - 1]! + 1;
}

export function lineText(batch: LineBatch, index: number): string {
  if (batch.original !== undefined) return batch.original(index);
  return batch.bytes.toString('utf8', startOf(batch, index), batch.ends[index]!);
}

/**
 * Cuts the chunks into batches; `from` is the position of the first chunk. The same bytes from the
 * same position always give the same batches.
 */
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
  /** Position in the input of the first byte in `#bytes`. */
  #offset: number;
  /** The beginning of a line that is too long, until its end has been found. */
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
    // Cuts here only when a line is too long, because batches must not depend on how the input is
    // divided into chunks.
    if (this.#used - this.#finished > lineBytes) {
      if (this.#ends.length > 0) yield this.#take();
      this.#beginLong();
    }
  }

  /** Number of bytes in the complete lines. */
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

  /** Returns the complete lines as a batch; keeps an incomplete line for the next batch. */
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
