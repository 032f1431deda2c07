// Checks records that were read from a file, without adding them to a memtable.

import type { Core } from './load.ts';
import { Region } from './region.ts';

const INITIAL_BYTES = 65_536;

export class RecordChecker {
  readonly #core: Core;
  readonly #region: Region;

  constructor(core: Core) {
    this.#core = core;
    this.#region = new Region(core, INITIAL_BYTES);
  }

  /** Returns -1 if `bytes` is exactly `count` records, otherwise the offset of the first fault. */
  check(bytes: Uint8Array, count: number): number {
    const { exports, memory } = this.#core;
    this.#region.ensure(bytes.length);
    memory.write(this.#region.pointer, bytes);
    return exports.hg_records_check(this.#region.pointer, bytes.length, count) < 0
      ? exports.hg_result_offset() >>> 0
      : -1;
  }
}
