// What the log in PostgreSQL holds, in pieces of about equal size: how large it is, and up to which
// LSN it may be removed.

import type { LogHistory } from '../storage/index.ts';
import { type ChainedFrame, type LogPiece, lastLsnOf } from './log-rows.ts';

export class LogExtent {
  #pieces: LogPiece[];
  readonly #pieceBytes: number;
  sizeBytes: number;

  constructor(pieces: readonly LogPiece[], pieceBytes: number) {
    this.#pieces = [...pieces];
    this.#pieceBytes = pieceBytes;
    this.sizeBytes = pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Adds a frame at the end. */
  add(frame: ChainedFrame): void {
    const { length } = frame.payload;
    const added = { lastLsn: lastLsnOf(frame), bytes: length, seconds: frame.seconds };
    const last = this.#pieces.at(-1);
    this.sizeBytes += length;
    if (last === undefined || last.bytes + length > this.#pieceBytes) this.#pieces.push(added);
    else this.#pieces[this.#pieces.length - 1] = { ...added, bytes: last.bytes + length };
  }

  /** Bytes of the pieces that end at or below an LSN. */
  bytesUpTo(lsn: number): number {
    let sum = 0;
    for (const { lastLsn, bytes } of this.#pieces) {
      if (lastLsn > lsn) break;
      sum += bytes;
    }
    return sum;
  }

  /**
   * Returns the LSN up to which frames may be removed: those that nobody needs after `limit`, and
   * that `history` does not keep. The newest piece stays, so that the log never becomes empty.
   */
  removable(limit: number, history: LogHistory | undefined, nowSeconds: number): number {
    let kept = this.bytesUpTo(limit);
    let lsn = 0;
    for (const { lastLsn, bytes, seconds } of this.#pieces.slice(0, -1)) {
      if (lastLsn > limit) break;
      const isKept = history !== undefined && seconds > nowSeconds - history.seconds && kept <= history.bytes;
      if (isKept) break;
      lsn = lastLsn;
      kept -= bytes;
    }
    return lsn;
  }

  /** Forgets the pieces that end at or below an LSN, because they were removed. */
  remove(lsn: number): void {
    while (this.#pieces.length > 0 && this.#pieces[0]!.lastLsn <= lsn) this.sizeBytes -= this.#pieces.shift()!.bytes;
  }
}
