// Simulated memory: a core whose instances cannot grow beyond a page limit, in which the Nth
// allocation fails, and of which the Nth instance cannot be created.
//
// A wrapper around the exports sees only calls from outside. To make growth fail inside an export
// too, the maximum page count of the memory is patched in the core's bytes. memory.grow then
// returns -1, as it does when the machine is out of memory.

import { readFileSync } from 'node:fs';
import { type CoreBuild, type CoreModule, compileCore, loadCore } from '../../src/core/load.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { Random } from '../support/random.ts';

const FILES: Record<CoreBuild, string> = { release: 'core.wasm', plain: 'core.plain.wasm', debug: 'core.debug.wasm' };
const MEMORY_SECTION = 5;
/** Page limits, as numbers of pages beyond the initial size of an instance. */
const GROWTHS = [0, 1, 2, 4, 9] as const;
/** Allocating exports that return 0 when out of memory. */
const ANSWER_ZERO = ['hg_memory_alloc', 'hg_memtable_new', 'hg_memtable_reserve', 'hg_segment_open'] as const;
/** Exports that allocate and that return a status. */
const ANSWER_STATUS = [
  'hg_memtable_sort',
  'hg_memtable_index',
  'hg_memtable_lookup',
  'hg_records_encode',
  'hg_records_encode_roles',
  'hg_records_json',
  'hg_records_merge',
  'hg_segment_build',
  'hg_segment_check',
  'hg_segment_check_step',
  'hg_text_build',
  'hg_text_query',
  'hg_text_top',
  'hg_words_new',
  'hg_words_add',
] as const;
const OUT_OF_MEMORY = -3;

const bytesOf = new Map<CoreBuild, Uint8Array<ArrayBuffer>>();
const capped = new Map<string, CoreModule>();

function coreBytes(build: CoreBuild): Uint8Array<ArrayBuffer> {
  let bytes = bytesOf.get(build);
  if (bytes === undefined) {
    bytes = new Uint8Array(readFileSync(new URL(`../../build/${FILES[build]}`, import.meta.url)));
    bytesOf.set(build, bytes);
  }
  return bytes;
}

function readLeb(bytes: Uint8Array, at: number): { value: number; end: number } {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]!;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return { value, end: at };
  }
}

function leb(value: number): number[] {
  const bytes: number[] = [];
  do {
    bytes.push((value % 128) + (value >= 128 ? 128 : 0));
    value = Math.floor(value / 128);
  } while (value > 0);
  return bytes;
}

/** Returns the core with a memory that can grow by only `pages` pages. */
function cap(build: CoreBuild, pages: number): CoreModule {
  const name = `${build} ${pages}`;
  const known = capped.get(name);
  if (known !== undefined) return known;
  const bytes = coreBytes(build);
  let at = 8;
  while (at < bytes.length) {
    const length = readLeb(bytes, at + 1);
    if (bytes[at] === MEMORY_SECTION) {
      const flags = length.end + 1;
      const initial = readLeb(bytes, flags + 1);
      if (bytes[length.end] !== 1 || bytes[flags]! > 1)
        throw new Error('the core has more than one memory, or a shared one');
      const body = [1, 1, ...leb(initial.value), ...leb(initial.value + pages)];
      const end = length.end + length.value;
      const parts = [bytes.subarray(0, at), Uint8Array.from([MEMORY_SECTION, ...leb(body.length), ...body])];
      const module = compileCore(new Uint8Array(Buffer.concat([...parts, bytes.subarray(end)])));
      capped.set(name, module);
      return module;
    }
    at = length.end + length.value;
  }
  throw new Error('the core has no memory section');
}

/**
 * Initial number of pages in an instance. Few histories need more, and an instance that has not
 * grown can be reused by the next history.
 */
const FIRST_PAGES = 16;
const PAGE_BYTES = 65536;
const MOST_POOLED = 200;

type Core = ReturnType<CoreModule['instantiate']>;

/**
 * Instances from earlier histories. Creating an instance costs 100 us and much address space, which
 * only the garbage collector releases.
 */
const pool: Record<CoreBuild, Core[]> = { release: [], plain: [], debug: [] };
let given: { build: CoreBuild; core: Core }[] = [];

function fromPool(build: CoreBuild): Core {
  let core = pool[build].pop();
  if (core === undefined) {
    core = loadCore(build).instantiate();
    const memory = core.exports.memory as WebAssembly.Memory;
    memory.grow(FIRST_PAGES - memory.buffer.byteLength / PAGE_BYTES);
  } else core.exports.hg_memory_reset();
  given.push({ build, core });
  return core;
}

/** A compiled core whose memory runs out when the simulation decides so. */
export class SimMemory implements CoreModule {
  readonly #random: Random;
  readonly #build: CoreBuild;
  readonly #wrapped: boolean;
  /** Number of allocating calls since the start. */
  allocations = 0;
  instances = 0;
  /** Number of failures since the start. */
  failures = 0;
  /**
   * Number of the first allocation that fails, and number from which allocations succeed again. The
   * next two fields are the same for instances. Infinity means that none fails.
   */
  #failFrom = Infinity;
  #failUntil = -Infinity;
  #instanceFrom = Infinity;
  #instanceUntil = -Infinity;
  /** Probability that a new instance gets a memory that can hardly grow. */
  #tight = 0;

  /** If `wrapped`, allocations are counted and may fail. */
  constructor(random: Random, build: CoreBuild, wrapped: boolean) {
    this.#random = random;
    this.#build = build;
    this.#wrapped = wrapped;
  }

  /**
   * Returns the instances of the ended process to the pool, except for those that have grown: the
   * size of an instance must not depend on earlier histories.
   */
  static takeBack(): void {
    for (const { build, core } of given) {
      if (core.memory.size === FIRST_PAGES * PAGE_BYTES && pool[build].length < MOST_POOLED) pool[build].push(core);
    }
    given = [];
  }

  /** Makes memory run out after this many allocations and instances, for `count` of them. */
  shorten(allocations: number, instances: number, count: number, tight: number): void {
    this.#failFrom = this.allocations + 1 + allocations;
    this.#failUntil = this.#failFrom + count;
    this.#instanceFrom = this.instances + 1 + instances;
    this.#instanceUntil = this.#instanceFrom + count;
    this.#tight = tight;
  }

  /** Makes memory available again. */
  relieve(): void {
    this.#failFrom = Infinity;
    this.#instanceFrom = Infinity;
    this.#tight = 0;
  }

  instantiate(): Core {
    const index = ++this.instances;
    if (index >= this.#instanceFrom && index < this.#instanceUntil) {
      this.failures++;
      // This is the message of core/load.ts.
      throw new HedgerowError('overloaded', 'The process gets no memory for another instance of the core.');
    }
    const isTight = this.#tight > 0 && this.#random.chance(this.#tight);
    const pages = GROWTHS[isTight ? this.#random.below(GROWTHS.length) : 0]!;
    // The instance fails when it needs more memory. This cannot be observed from here, so the
    // failure is counted in advance.
    if (isTight) this.failures++;
    const core = isTight ? cap(this.#build, pages).instantiate() : fromPool(this.#build);
    if (!this.#wrapped) return core;
    const exports: Record<string, unknown> = { ...core.exports };
    for (const name of ANSWER_ZERO) this.#wrap(exports, name, 0);
    for (const name of ANSWER_STATUS) this.#wrap(exports, name, OUT_OF_MEMORY);
    return { exports: exports as unknown as typeof core.exports, memory: core.memory };
  }

  #wrap(exports: Record<string, unknown>, name: string, refusal: number): void {
    const inner = exports[name] as (...values: number[]) => number;
    exports[name] = (...values: number[]): number => {
      const index = ++this.allocations;
      if (index < this.#failFrom || index >= this.#failUntil) return inner(...values);
      this.failures++;
      return refusal;
    };
  }
}
