// Checks records read from a file, without a memtable to put them in.

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

  /** Offset of the first byte at which `bytes` fails to be exactly `count` records, or -1. */
  check(bytes: Uint8Array, count: number): number {
    const { exports, memory } = this.#core;
    this.#region.ensure(bytes.length);
    memory.write(this.#region.pointer, bytes);
    return exports.hg_records_check(this.#region.pointer, bytes.length, count) < 0
      ? exports.hg_result_offset() >>> 0
      : -1;
  }
}
