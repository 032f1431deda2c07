// The result of a step over the rows of one source, and the memory that steps work in.

import type { Core } from './load.ts';
import type { RangeSet } from './ranges.ts';
import { allocate, Region } from './region.ts';
import type { RowPlan } from './row-plan.ts';

/** Maximum number of rows per step; their row numbers take 32 KiB. */
export const STEP_ROWS = 8192;
const TEXT_BYTES = 65536;
/** Size in bytes of the buffer for column blocks: enough for some columns of all rows of a step. */
export const BLOCK_BYTES = 4 * TEXT_BYTES;
const MAX_NODES = 255;

/** Result of a step. The next step overwrites it, so read it before that. */
export interface StepResult {
  rows: number;
  firstTs: number;
  lastTs: number;
  lastId: number;
  /** Number of distinct buckets of the rows. */
  buckets: number;
  state: StepState;
}

/**
 * `more`: not all rows within the bounds were examined; `end`: the source has no more rows within
 * the bounds; `stop`: all rows below the stop were returned, and there are rows after it.
 */
export const STEP_STATE = { more: 0, end: 1, stop: 2 } as const;
export type StepState = (typeof STEP_STATE)[keyof typeof STEP_STATE];

/**
 * Bounds of a step: keys in [low, stop), and times up to `endTs`. If `stopTs` is infinite, there is
 * no stop.
 */
export interface StepBounds {
  lowTs: number;
  lowId: number;
  endTs: number;
  stopTs: number;
  stopId: number;
}

/** Collects the row text of several steps in one buffer. */
export class TextSink {
  #buffer = Buffer.allocUnsafe(2 * TEXT_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#length + bytes.length));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Empties the sink. */
  clear(): void {
    this.#length = 0;
    this.#shrink();
  }

  #shrink(): void {
    if (this.#buffer.length > 8 * TEXT_BYTES) this.#buffer = Buffer.allocUnsafe(2 * TEXT_BYTES);
  }

  /** Appends ASCII text. */
  appendAscii(text: string): void {
    if (this.#length + text.length > this.#buffer.length) this.append(Buffer.from(text, 'latin1'));
    else this.#length += this.#buffer.write(text, this.#length, 'latin1');
  }

  /** Returns a view of the collected bytes, valid until the sink is used again. */
  borrow(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length) as Uint8Array<ArrayBuffer>;
  }

  /** Same as `take`, but in a buffer of its own that is aligned to 8 bytes, for column blocks. */
  takeAligned(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(this.#length).buffer);
    bytes.set(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    return bytes;
  }

  /** Returns the collected bytes, owned by the caller, and empties the sink. */
  take(): Uint8Array<ArrayBuffer> {
    const text = Buffer.allocUnsafe(this.#length);
    text.set(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    this.#shrink();
    return text as Uint8Array<ArrayBuffer>;
  }
}

/** Memory of one instance for reading rows: row numbers, text, nodes, keys and the plan. */
export class RowWorkspace {
  readonly rows: number;
  readonly nodes: number;
  readonly key: number;
  /** Request and response of `hg_segment_step`. */
  readonly block: number;
  readonly text: Region;
  readonly #core: Core;
  #plan: RowPlan | undefined;
  #planRegion: Region | undefined;
  #ranges: RangeSet | undefined;
  #rangesRegion: Region | undefined;

  constructor(core: Core) {
    this.#core = core;
    this.rows = allocate(core, STEP_ROWS * 4 + 64);
    this.nodes = allocate(core, MAX_NODES * 8);
    this.key = allocate(core, 16);
    this.block = allocate(core, 256);
    this.text = new Region(core, TEXT_BYTES);
  }

  /**
   * Returns the address of the plan in this instance, after uploading it if it is not the last plan
   * used.
   */
  plan(plan: RowPlan): number {
    if (this.#plan !== plan) {
      this.#planRegion ??= new Region(this.#core, plan.bytes.length);
      this.#planRegion.ensure(plan.bytes.length);
      this.#core.memory.write(this.#planRegion.pointer, plan.bytes);
      this.#plan = plan;
    }
    return this.#planRegion!.pointer;
  }

  /**
   * Returns the address of the ranges in this instance, after uploading them if they are not the
   * last ranges used.
   */
  ranges(ranges: RangeSet): number {
    if (this.#ranges !== ranges) {
      this.#rangesRegion ??= new Region(this.#core, ranges.bytes.length);
      this.#rangesRegion.ensure(ranges.bytes.length);
      this.#core.memory.write(this.#rangesRegion.pointer, ranges.bytes);
      this.#ranges = ranges;
    }
    return this.#rangesRegion!.pointer;
  }

  setNodes(nodes: readonly number[]): void {
    const numbers = this.#core.memory.numbers;
    const at = this.nodes / 8;
    for (let i = 0; i < nodes.length; i++) numbers[at + i] = nodes[i]!;
  }
}
