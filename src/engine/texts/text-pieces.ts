// The text blocks over the rows of one memtable, in an instance of their own. A memtable never
// changes a row, and numbers its rows as they come, so a block over a stretch of row numbers stays
// right as long as the memtable exists; which of its rows are alive, the memtable tells.
//
// Full blocks are built after commits (texts-ahead.ts), others by the searches that need them, in
// steps. A full block has `pieceRows` rows, or as many as take PIECE_BYTES. For a search, later
// rows get a smaller block as soon as they are a 16th of that. It takes in the smaller ones before
// it that have no more rows than itself, so that a row is built at most five times and there are
// few blocks that are not full:
//
//   rows      0 ... 4095 | 4096 ... 8191 | 8192 ... 9215 | 9216 ... 9727 | 9728 ...
//   blocks    full         full            1,024           512             fewer than 256: none
//
// Invariant: the blocks cover the rows from 0 without a gap, in their order.

import { assert } from '../../assert.ts';
import { buildTextBlock, type Core, type CoreMemtable, Scratch, TextBlock, TextInputs } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { Steps } from '../../schedule/steps.ts';
import { analyzerOf } from '../../text/index.ts';
import { splitRecords } from '../changes/before-rows.ts';
import type { TextWork } from '../compaction/work.ts';

/** A block over the rows [from, to) of a memtable: document d is row from + d. */
export interface TextPiece {
  readonly core: Core;
  readonly block: TextBlock;
  readonly from: number;
  readonly to: number;
}

/** Where blocks are built, and how many rows a full one has. */
export interface PieceOptions {
  readonly pieceRows: number;
  /** Returns the instance in which blocks are built, and one for the blocks of a memtable. */
  readonly builder: () => Core;
  readonly instantiate: () => Core;
  /** Called when the memory in use has changed. Returns whether more blocks may be built. */
  readonly measured: () => boolean;
}

/** The end of a stretch of rows, the size in bytes of its records, and whether it is full. */
type Covered = Pick<Placed, 'to' | 'bytes' | 'isFull'>;

interface Placed extends TextPiece {
  readonly pointer: number;
  /** Size in bytes of the records. */
  readonly bytes: number;
  readonly isFull: boolean;
}

/** A full block may have this many times the rows of the smallest. */
const SMALLEST_SHARE = 16;
/** Size in bytes of the records of a block, and distinct words: then it is full. */
export const PIECE_BYTES = 512 * 1024;
const PIECE_WORDS = 16_384;
/** Records that are copied at once, and bytes of them whose words a step collects. */
const RECORDS_AT_ONCE = 32;
const STEP_BYTES = 32 * 1024;

export class TextPieces {
  readonly tag: number;
  readonly #memtable: CoreMemtable;
  readonly #work: TextWork;
  readonly #options: PieceOptions;
  #pieces: Placed[] = [];
  #core: Core | undefined;
  #building: Steps<void> | undefined;
  #isClosed = false;

  constructor(memtable: CoreMemtable, work: TextWork, options: PieceOptions) {
    this.tag = work.tag;
    this.#memtable = memtable;
    this.#work = work;
    this.#options = options;
  }

  /** Size in bytes of the instance with the blocks. */
  get bytes(): number {
    return this.#core?.memory.size ?? 0;
  }

  /** Number of rows, from 0 on, that blocks cover. */
  get covered(): number {
    return this.#pieces.at(-1)?.to ?? 0;
  }

  /** Size in bytes of the records of these rows. */
  get coveredBytes(): number {
    return this.#pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Returns the block with a row, if there is one. It is valid in this event loop turn. */
  at(row: number): TextPiece | undefined {
    let low = 0;
    let high = this.#pieces.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#pieces[middle]!.to <= row) low = middle + 1;
      else high = middle;
    }
    return this.#pieces[low];
  }

  /**
   * Does a step of the blocks that are missing, a few milliseconds at most: of all that are worth
   * it, or only of full ones. Returns false if there is nothing to do, or no memory for it; then
   * rows without a block are read one by one.
   */
  step(wanted: 'any' | 'full' = 'any'): boolean {
    if (this.#building === undefined && !this.#isDue(wanted === 'full' ? 1 : SMALLEST_SHARE)) return false;
    this.#building ??= this.#build();
    try {
      if (this.#building.next().done === true) this.#building = undefined;
      return true;
    } catch (error) {
      this.#building = undefined;
      if (error instanceof HedgerowError && error.code === 'overloaded') return false;
      throw error;
    }
  }

  /** Returns whether the rows without a block are this part of a full one. */
  #isDue(share: number): boolean {
    if (this.#isClosed) return false;
    const leastRows = Math.max(1, Math.floor(this.#options.pieceRows / share));
    const { rows, recordBytes } = this.#memtable;
    const isEnough = rows - this.covered >= leastRows || recordBytes - this.coveredBytes >= PIECE_BYTES / share;
    return isEnough && rows > this.covered && this.#options.measured();
  }

  /** Gives all memory up: there are no blocks from now on. */
  close(): void {
    this.#isClosed = true;
    this.#building?.return();
    this.#building = undefined;
    this.#pieces = [];
    this.#core = undefined;
  }

  /** Builds one block over the rows that have none, and the smaller blocks before them. */
  *#build(): Steps<void> {
    const end = this.#memtable.rows;
    let from = this.covered;
    for (const piece of this.#pieces.toReversed()) {
      if (piece.isFull || piece.to - piece.from > end - from) break;
      from = piece.from;
    }
    const builder = this.#options.builder();
    const records = new Scratch(builder);
    const analyzer = analyzerOf(this.#work.language);
    let inputs: TextInputs | undefined;
    try {
      inputs = new TextInputs(builder, { columns: this.#work.columns, termsOf: (text) => analyzer.terms(text) });
      const covered = yield* this.#collect(inputs, builder, records, from, end);
      const input = yield* inputs.inputSteps(this.tag);
      yield undefined;
      this.#place(buildTextBlock(builder, input), from, covered);
    } finally {
      inputs?.free();
      records.free();
      this.#options.measured();
    }
  }

  /** Collects the words of the rows from `from` on, at most up to `end`, until a block is full. */
  *#collect(inputs: TextInputs, builder: Core, records: Scratch, from: number, end: number): Steps<Covered> {
    const { pieceRows } = this.#options;
    const limit = Math.min(end, from + pieceRows);
    let row = from;
    let bytes = 0;
    let pausedAt = 0;
    while (row < limit) {
      const rows = Uint32Array.from({ length: Math.min(RECORDS_AT_ONCE, limit - row) }, (_, place) => row + place);
      const copied = this.#memtable.recordsOf(rows);
      let at = records.take(copied.length);
      builder.memory.write(at, copied);
      for (const { length } of splitRecords(copied)) {
        inputs.add(at);
        at += length;
        row++;
        bytes += length;
        if (bytes >= PIECE_BYTES || inputs.size.words >= PIECE_WORDS) return { to: row, bytes, isFull: true };
        if (bytes < pausedAt + STEP_BYTES) continue;
        pausedAt = bytes;
        yield undefined;
      }
    }
    return { to: row, bytes, isFull: row - from === pieceRows };
  }

  /** Puts a block in the place of those that it takes in. */
  #place(built: Uint8Array<ArrayBuffer>, from: number, covered: Covered): void {
    this.#core ??= this.#options.instantiate();
    const core = this.#core;
    const scratch = new Scratch(core);
    const pointer = scratch.take(built.length);
    core.memory.write(pointer, built);
    const block = new TextBlock(core, pointer);
    assert(block.documents === covered.to - from, 'the documents of a block are the rows that it covers');
    const kept = this.#pieces.filter((piece) => piece.from < from);
    assert((kept.at(-1)?.to ?? 0) === from, 'the blocks of a memtable leave no gap');
    for (const piece of this.#pieces.slice(kept.length)) core.exports.hg_memory_free(piece.pointer);
    this.#pieces = [...kept, { core, block, pointer, from, ...covered }];
  }
}
