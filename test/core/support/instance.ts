// A core instance for tests: places bytes, words and numbers in its memory, calls exports, and
// reads results.

import { type Core, type CoreBuild, type CoreExports, loadCore } from '../../../src/core/index.ts';

/** Every build of the core. All of them must give the same answers. */
export const BUILDS: readonly CoreBuild[] = ['release', 'plain', 'debug'];

export const STATUS = {
  badArgument: -1,
  tooSmall: -2,
  outOfMemory: -3,
  corrupt: -4,
  tooManyMembers: -5,
  emptyMembers: -6,
  badInteger: -7,
  unsupported: -8,
  exhausted: -9,
} as const;

export class Instance {
  readonly core: Core;
  readonly x: CoreExports;

  constructor(build: CoreBuild) {
    this.core = loadCore(build).instantiate();
    this.x = this.core.exports;
  }

  /** Allocates a region of `bytes` bytes, and throws if there is no memory. */
  alloc(bytes: number): number {
    const pointer = this.x.hg_memory_alloc(bytes) >>> 0;
    if (pointer === 0) throw new Error(`no memory for ${bytes} bytes`);
    return pointer;
  }

  put(bytes: Uint8Array): number {
    const pointer = this.alloc(bytes.length);
    this.core.memory.write(pointer, bytes);
    return pointer;
  }

  putWords(words: ArrayLike<number>): number {
    const pointer = this.alloc(words.length * 4);
    this.core.memory.words.set(words, pointer / 4);
    return pointer;
  }

  putNumbers(numbers: ArrayLike<number>): number {
    const pointer = this.alloc(numbers.length * 8);
    this.core.memory.numbers.set(numbers, pointer / 8);
    return pointer;
  }

  bytes(pointer: number, length: number): Uint8Array<ArrayBuffer> {
    return this.core.memory.borrow(pointer, length).slice();
  }

  words(pointer: number, count: number): number[] {
    return Array.from(this.core.memory.words.subarray(pointer / 4, pointer / 4 + count));
  }

  numbers(pointer: number, count: number): number[] {
    return Array.from(this.core.memory.numbers.subarray(pointer / 8, pointer / 8 + count));
  }

  text(pointer: number, length: number): string {
    return new TextDecoder('utf-8', { fatal: true }).decode(this.core.memory.borrow(pointer, length));
  }

  get needed(): number {
    return this.x.hg_result_needed() >>> 0;
  }

  get offset(): number {
    return this.x.hg_result_offset() >>> 0;
  }

  get rows(): number {
    return this.x.hg_result_rows() >>> 0;
  }

  get pointer(): number {
    return this.x.hg_result_pointer() >>> 0;
  }
}

/**
 * Returns the whole output of a call that writes JSON text. Repeats the call with a buffer of
 * `capacity` bytes, which grows if a single row needs more.
 */
export function gatherText(
  instance: Instance,
  rows: readonly number[],
  separator: number,
  capacity: number,
  call: (list: number, n: number, separator: number, out: number, capacity: number) => number,
): string {
  const list = instance.putWords(rows.length > 0 ? rows : [0]);
  let room = capacity;
  let out = instance.alloc(room);
  let text = '';
  for (let done = 0; done < rows.length; ) {
    const kind = separator === 0 && done > 0 ? 1 : separator;
    const written = call(list + done * 4, rows.length - done, kind, out, room);
    if (written === STATUS.tooSmall) {
      if (instance.needed <= room) throw new Error(`asked for ${instance.needed} bytes, has ${room}`);
      room = instance.needed;
      instance.x.hg_memory_free(out);
      out = instance.alloc(room);
      continue;
    }
    if (written < 0 || written > room) throw new Error(`status ${written}`);
    if (instance.rows === 0) throw new Error('no progress');
    text += instance.text(out, written);
    done += instance.rows;
  }
  instance.x.hg_memory_free(out);
  instance.x.hg_memory_free(list);
  return text;
}
