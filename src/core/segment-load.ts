// Loads a segment file into an instance in steps: reads it piece by piece, then checks it piece by
// piece.

import { SECTION_KIND } from './abi-fields.ts';
import type { Core } from './load.ts';
import { allocate } from './region.ts';
import { ResidentSegment } from './segment.ts';
import { assertChecksum, corruptStatus, factsAt } from './segment-facts.ts';
import { STATUS } from './status.ts';
import { openTextBlock } from './text-block.ts';

export interface SegmentLoadOptions {
  /**
   * Whether all orders, bounds and references are checked; otherwise only the header and the
   * checksums.
   */
  readonly deep: boolean;
  /** Name of the file, for errors. */
  readonly file: string;
  /** Checksum of the file that must be there (see SegmentFacts); undefined if any may be there. */
  readonly checksum?: number | undefined;
}

/** Copies the bytes of the file from `position` on to `target`. */
export type ReadSegment = (target: Uint8Array, position: number) => void;

/** Number of bytes that a step reads; takes about 0.3 ms if they are in the page cache. */
export const READ_BYTES = 262_144;
/**
 * Units of `hg_segment_check_step` that a step does. They take 0.1 to 0.3 ms, and a few times as
 * long before the core is optimised by the runtime.
 */
export const CHECK_UNITS = 16_384;
const ALL_UNITS = 2 ** 32 - 1;
/** Number of bytes after the file that the core may read. */
const SLACK_BYTES = 16;
/** Status of a check that is not finished. */
const MORE = 1;

/**
 * A load of `bytes` bytes through `read`. After an error, or if it is given up, reset the instance.
 */
export class SegmentLoad {
  readonly core: Core;
  readonly #bytes: number;
  readonly #read: ReadSegment;
  readonly #options: SegmentLoadOptions;
  readonly #base: number;
  /** Address of the state of the check, in the same region as the file. */
  readonly #state: number;
  #bytesRead = 0;

  /** Allocates the memory of the file. Throws `overloaded`. */
  constructor(core: Core, bytes: number, read: ReadSegment, options: SegmentLoadOptions) {
    this.core = core;
    this.#bytes = bytes;
    this.#read = read;
    this.#options = options;
    const stateBytes = core.exports.HG_CHECK_STATE_BYTES.value;
    const fileBytes = (bytes + SLACK_BYTES + 7) & ~7;
    this.#base = allocate(core, fileBytes + stateBytes);
    this.#state = this.#base + fileBytes;
    core.memory.borrow(this.#state, stateBytes).fill(0);
  }

  /** Size in bytes of the instance's linear memory. */
  get residentBytes(): number {
    return this.core.memory.size;
  }

  /**
   * Reads READ_BYTES or does CHECK_UNITS of the check. Returns the segment once it is complete.
   * Throws `corrupt` with file and offset, also if the file is not the one with the checksum, or
   * `overloaded`.
   */
  step(): ResidentSegment | undefined {
    return this.#step(READ_BYTES, CHECK_UNITS);
  }

  /** Does all that is left, with at most one read. Throws like `step`. */
  finish(): ResidentSegment {
    for (;;) {
      const segment = this.#step(this.#bytes, ALL_UNITS);
      if (segment !== undefined) return segment;
    }
  }

  #step(mostBytes: number, units: number): ResidentSegment | undefined {
    const { core } = this;
    const left = this.#bytes - this.#bytesRead;
    if (left > 0) {
      const bytes = Math.min(left, mostBytes);
      this.#read(core.memory.borrow(this.#base + this.#bytesRead, bytes), this.#bytesRead);
      this.#bytesRead += bytes;
      return undefined;
    }
    const { deep, file, checksum } = this.#options;
    const status = core.exports.hg_segment_check_step(this.#base, this.#bytes, deep ? 1 : 0, this.#state, units);
    if (status === MORE) return undefined;
    if (status < 0) throw corruptStatus(core, status, file);
    const facts = factsAt(core, this.#base);
    assertChecksum(facts, checksum, file);
    if (deep && facts.textTag !== undefined) this.#checkText(file, facts.rows);
    return new ResidentSegment(core, this.#base, facts);
  }

  /** Checks the text block, whose documents are the rows. */
  #checkText(file: string, rows: number): void {
    const { exports } = this.core;
    const pointer = this.#base + (exports.hg_segment_section(this.#base, SECTION_KIND.text, 0) >>> 0);
    const { documents } = openTextBlock(this.core, { pointer, bytes: exports.hg_result_rows() >>> 0 }, file);
    if (documents !== rows) throw corruptStatus(this.core, STATUS.corrupt, file);
  }
}

/**
 * Loads a file of `bytes` bytes at once, with one call of `read` for the whole file. Throws
 * `corrupt` with file and offset, or `overloaded`.
 */
export function loadSegment(
  core: Core,
  bytes: number,
  read: ReadSegment,
  options: SegmentLoadOptions,
): ResidentSegment {
  return new SegmentLoad(core, bytes, read, options).finish();
}
