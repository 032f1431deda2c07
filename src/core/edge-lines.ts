// Encodes lines of JSON, one edge in each, to records in one call per piece of text. The core reads
// only plain lines (assembly/json/edges.ts) and stops at the first other one, which the caller then
// reads with a complete parser.

import { KIND_CODES, type ValueKind } from '../model/column-types.ts';
import type { Core } from './load.ts';
import { Region } from './region.ts';
import { coreError, STATUS } from './status.ts';

/** A key that lines may have besides `event_ts` and `members`. */
export interface LineKey {
  readonly name: string;
  /**
   * Undefined: a value without escapes is skipped. `end` is the kind of the integer column with the
   * ends of intervals: a line whose end is before its `event_ts` is not plain.
   */
  readonly column: { readonly id: number; readonly kind: ValueKind | 'end' } | undefined;
}

/** How members of a named table with one kind are read. */
export interface LineNames {
  /** Slot of the kind in the key dictionary of the same instance. */
  readonly slot: number;
  /** Whether keys without a live node are held; otherwise their lines are not read. */
  readonly create: boolean;
}

export interface ReadLines {
  /** Number of lines that were read. */
  readonly rows: number;
  /** Size in bytes of these lines, with their newlines. */
  readonly bytes: number;
  /**
   * The records of these lines, with id 0; a view that is valid until the next call, also of the
   * key dictionary, that may allocate memory.
   */
  readonly records: Uint8Array<ArrayBuffer>;
  /** Node numbers, one for each hold that was taken; a copy. */
  readonly held: Uint32Array;
}

const NEWLINE = 10;
/** Bytes after the text that the core may read. */
const SLACK_BYTES = 16;
const ENTRY_BYTES = 16;
const IGNORED = 255;
const NO_HOLDS = new Uint32Array(0);
const END = 254;
/** Records have at most about twice the size of their lines; otherwise reading stops earlier. */
const RECORD_BYTES = 2;
const LEAST_RECORD_BYTES = 16 * 1024;

export class EdgeLines {
  readonly #core: Core;
  readonly #text: Region;
  readonly #keys: Region;
  readonly #out: Region;
  #held: Region | undefined;
  #keysOf: readonly LineKey[] | undefined;

  constructor(core: Core) {
    this.#core = core;
    this.#text = new Region(core, 1024);
    this.#keys = new Region(core, 1024);
    this.#out = new Region(core, LEAST_RECORD_BYTES);
  }

  /**
   * Reads plain lines from the start of `text`: valid UTF-8 that ends at the end of a line, with or
   * without its newline. `keys` is copied into the instance when it is another list than in the
   * last call. `limit`: maximum number of distinct members per edge. `names`: members are keys.
   */
  read(text: Uint8Array, keys: readonly LineKey[], limit: number, names?: LineNames): ReadLines {
    const { exports, memory } = this.#core;
    const isEnded = text[text.length - 1] === NEWLINE;
    const size = text.length + (isEnded ? 0 : 1);
    this.#text.ensure(size + SLACK_BYTES);
    this.#out.ensure(Math.max(LEAST_RECORD_BYTES, size * RECORD_BYTES));
    if (this.#keysOf !== keys) this.#place(keys);
    memory.write(this.#text.pointer, text);
    if (!isEnded) memory.bytes[this.#text.pointer + text.length] = NEWLINE;
    const written = names === undefined ? this.#parse(size, limit) : this.#parseNamed(size, limit, names);
    const rows = exports.hg_result_rows() >>> 0;
    const bytes = Math.min(text.length, exports.hg_result_offset() >>> 0);
    const held = names === undefined ? NO_HOLDS : this.#holds();
    return { rows, bytes, records: memory.borrow(this.#out.pointer, written), held };
  }

  #parse(size: number, limit: number): number {
    const { exports } = this.#core;
    return this.#fit('hg_records_parse', (out, capacity) =>
      exports.hg_records_parse(this.#text.pointer, size, this.#keys.pointer, limit, out, capacity),
    );
  }

  #parseNamed(size: number, limit: number, { slot, create }: LineNames): number {
    const { exports } = this.#core;
    const heldBytes = 4 * (size / 2 + 1);
    this.#held ??= new Region(this.#core, heldBytes);
    this.#held.ensure(heldBytes);
    const [text, keys, held] = [this.#text.pointer, this.#keys.pointer, this.#held.pointer];
    return this.#fit('hg_records_parse_named', (out, capacity) =>
      exports.hg_records_parse_named(text, size, keys, limit, slot, Number(create), held, out, capacity),
    );
  }

  /** Repeats a call with a larger output region until the first line fits. */
  #fit(name: string, call: (out: number, capacity: number) => number): number {
    let written: number;
    do {
      written = call(this.#out.pointer, this.#out.bytes);
      if (written === STATUS.tooSmall) this.#out.ensure(this.#core.exports.hg_result_needed() >>> 0);
    } while (written === STATUS.tooSmall);
    if (written < 0) throw coreError(written, name);
    return written;
  }

  #holds(): Uint32Array {
    const words = this.#core.memory.words;
    const at = this.#held!.pointer / 4 + 1;
    return words.slice(at, at + words[at - 1]!);
  }

  #place(keys: readonly LineKey[]): void {
    const names = keys.map(({ name }) => Buffer.from(name));
    const start = 4 + keys.length * ENTRY_BYTES;
    this.#keysOf = undefined;
    this.#keys.ensure(names.reduce((sum, { length }) => sum + length, start));
    const { pointer, bytes } = this.#keys;
    const table = new DataView(this.#core.memory.bytes.buffer, pointer, bytes);
    table.setUint32(0, keys.length, true);
    let at = start;
    for (const [index, { column }] of keys.entries()) {
      const name = names[index]!;
      const entry = 4 + index * ENTRY_BYTES;
      table.setUint32(entry, at, true);
      table.setUint32(entry + 4, name.length, true);
      table.setUint32(entry + 8, column?.id ?? 0, true);
      table.setUint32(entry + 12, codeOf(column), true);
      this.#core.memory.write(pointer + at, name);
      at += name.length;
    }
    this.#keysOf = keys;
  }
}

function codeOf(column: LineKey['column']): number {
  if (column === undefined) return IGNORED;
  return column.kind === 'end' ? END : KIND_CODES[column.kind];
}
