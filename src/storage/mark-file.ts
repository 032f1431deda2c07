// Writes the file `log/mark`: claims a log for one process, records what the log must contain, and
// detects that another process has claimed the log.
//
// Invariants: the counter grows by 1 with every slot. Sequence, epoch and reached LSN never
// decrease. If the current slot on the disk is not the last one that this process wrote, another
// process owns the log.

import { assert } from '../assert.ts';
import { HedgerowError } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import type { Region } from './frame.ts';
import type { FileHandle, Fs } from './fs.ts';
import {
  encodeMark,
  encodeSlot,
  type FoundMark,
  type MarkSlot,
  markPath,
  putWatermark,
  readMark,
  slotOffset,
  startWatermark,
  WATERMARK_AT,
  WATERMARK_BYTES,
} from './log-mark.ts';
import { writeWhole } from './whole-file.ts';

/** The fields that change from slot to slot. */
export type MarkChange = Partial<Pick<MarkSlot, 'sequence' | 'firstLsn' | 'reachedLsn' | 'closed'>>;

export interface ClaimOptions {
  fs: Fs;
  dir: string;
  crc32c: Crc32c;
  /** The mark found by recovery; null if there was none. */
  found: FoundMark | null;
  /**
   * Whether to create a new mark file, even if there is one. True while no log file depends on the
   * mark, because the name of an existing mark file may be only in the page cache.
   */
  anew: boolean;
  owner: number;
  epoch: number;
  /** The newest LSN that recovery found. */
  reachedLsn: number;
}

export class MarkFile {
  readonly #fs: Fs;
  readonly #dir: string;
  readonly #crc32c: Crc32c;
  readonly #handle: FileHandle;
  #slot: MarkSlot;
  /** The slot being written, if any. A reader may or may not see it yet. */
  #next: MarkSlot | null = null;
  #watermarkLsn: number;
  readonly #watermark: Region;

  private constructor({ fs, dir, crc32c }: ClaimOptions, handle: FileHandle, slot: MarkSlot) {
    this.#fs = fs;
    this.#dir = dir;
    this.#crc32c = crc32c;
    this.#handle = handle;
    this.#slot = slot;
    this.#watermarkLsn = slot.reachedLsn;
    this.#watermark = startWatermark(slot.epoch);
  }

  /**
   * Claims the log for this process. A process that claimed the log earlier detects this at its
   * next `assertOwner`. The claim is durable when this resolves.
   */
  static async claim(options: ClaimOptions): Promise<MarkFile> {
    const { fs, dir, crc32c, found, anew } = options;
    const slot = claimedSlot(options);
    if (anew || found === null) await makeMark(fs, dir, slot, crc32c);
    const handle = fs.open(markPath(dir), 'write');
    try {
      const mark = new MarkFile(options, handle, slot);
      if (!anew && found !== null) {
        // The current slot may exist only in the page cache, so it is made durable before the new
        // slot overwrites the other one.
        await mark.#put(found.slot);
        await mark.#put(slot);
      }
      return mark;
    } catch (error) {
      handle.close();
      throw error;
    }
  }

  /**
   * Sequence number of the newest log file whose name is durable; 0 if there is no file of format
   * 2.
   */
  get sequence(): number {
    return this.#slot.sequence;
  }

  /**
   * Writes the next slot, which is durable when this resolves. If it rejects, it is unknown which
   * slot is on the disk.
   */
  async write(change: MarkChange): Promise<void> {
    const before = this.#slot;
    const slot = { ...before, ...change, counter: before.counter + 1 };
    assert(slot.sequence >= before.sequence, 'the newest file of the mark never goes back');
    assert(slot.reachedLsn >= before.reachedLsn, 'the reached LSN of the mark never goes back');
    assert(slot.firstLsn <= slot.reachedLsn + 1, 'the newest file follows the reached LSN');
    assert(this.#next === null, 'one slot of the mark is written at a time');
    this.#next = slot;
    await this.#put(slot);
    assert(this.#slot.counter + 1 === slot.counter, 'the counter of the mark grows by 1');
    this.#slot = slot;
    this.#next = null;
  }

  /** Records that everything up to `lsn` is durable, with one small write that is not synced. */
  writeWatermark(lsn: number): void {
    assert(lsn >= this.#watermarkLsn, 'the watermark never goes back');
    putWatermark(this.#watermark, lsn, this.#crc32c);
    const written = this.#handle.writeNow(this.#watermark.bytes, WATERMARK_AT);
    if (written !== WATERMARK_BYTES)
      throw new Error(
        `short write to ${this.#handle.path} at offset ${WATERMARK_AT}: ${written} of ${WATERMARK_BYTES} bytes were written`,
      );
    this.#watermarkLsn = lsn;
  }

  /**
   * Throws `conflict` if the current slot on the disk is neither the last one that this process
   * wrote nor the one that it is writing.
   */
  assertOwner(): void {
    const path = markPath(this.#dir);
    const slot = readMark(this.#fs, this.#dir, this.#crc32c)?.slot;
    if (isSame(slot, this.#slot) || isSame(slot, this.#next)) return;
    const cause =
      slot === undefined
        ? `The data directory was taken away while it was in use: ${path} is not there.`
        : `Another process took over the data directory: ${path} was changed.`;
    throw new HedgerowError(
      'conflict',
      `${cause} This process refuses writes from now on; nothing it acknowledged before is lost. Stop this process, and make sure that only one process at a time uses the directory.`,
      { fields: { file: path } },
    );
  }

  close(): void {
    this.#handle.close();
  }

  async #put(slot: MarkSlot): Promise<void> {
    await writeWhole(this.#handle, encodeSlot(slot, this.#crc32c), slotOffset(slot.counter));
    await this.#handle.datasync();
  }
}

/**
 * Returns the first slot of a claim. It names the same newest log file as the mark found, even if
 * there is a later file: that file is still empty, and its name may not be durable.
 */
function claimedSlot({ found, owner, epoch, reachedLsn }: ClaimOptions): MarkSlot {
  const before = found?.slot;
  assert(before === undefined || epoch > before.epoch, 'every claim of a log has a new epoch');
  assert(before === undefined || reachedLsn >= before.reachedLsn, 'a claim never takes the reached LSN back');
  const { sequence, firstLsn } = before ?? { sequence: 0, firstLsn: 0 };
  return { epoch, counter: (before?.counter ?? 0) + 1, owner, sequence, firstLsn, reachedLsn, closed: false };
}

function isSame(found: MarkSlot | undefined, mine: MarkSlot | null): boolean {
  if (found === undefined || mine === null) return false;
  return found.counter === mine.counter && found.owner === mine.owner && found.epoch === mine.epoch;
}

/**
 * Creates a mark file with one slot and no watermark. The file and its name are durable when this
 * resolves.
 */
async function makeMark(fs: Fs, dir: string, slot: MarkSlot, crc32c: Crc32c): Promise<void> {
  const temporary = `${markPath(dir)}.tmp`;
  if (fs.exists(temporary)) await fs.remove(temporary);
  const handle = fs.open(temporary, 'create');
  try {
    await writeWhole(handle, encodeMark(slot, crc32c), 0);
    await handle.sync();
  } finally {
    handle.close();
  }
  await fs.rename(temporary, markPath(dir));
  await fs.syncDir(dir);
}
