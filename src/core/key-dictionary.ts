// The key dictionary of the node tables: it maps keys to node numbers and back, and puts keys in
// place of the numbers in row text (assembly/keys). It has an instance of the core to itself.

import { assert } from '../assert.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { asBuffer, KeyText, MOST_KEY_BYTES } from './key-text.ts';
import type { Core } from './load.ts';
import { findKeyProperty, recordPieces } from './node-records.ts';
import { allocate, Region } from './region.ts';
import { coreError, STATUS } from './status.ts';

/** Secret key of the hash, chosen once per process. */
const SEED = crypto.getRandomValues(new Uint32Array(4));
const MOST_NUMBER = 2 ** 32 - 1;
const KEY_REGION_BYTES = 3 * MOST_KEY_BYTES + 16;
/** How many numbers are passed to the core in one call. */
const LIST_NUMBERS = 4096;
const TEXT_BYTES = 65_536;
const OUT_BYTES = 4 * TEXT_BYTES;
/** A key of at most this size is copied faster by a loop than by a call. */
const SHORT_KEY_BYTES = 32;
/** States of `hg_keys_state`, in its two lowest bits. */
const LIVE = 2;
const DEAD = 3;

/** How a key is written in place of a mark, with the core's numbers. */
const FORMS = { keys: 0, objects: 1, texts: 2, 'kind texts': 3 } as const;
export type KeyForm = keyof typeof FORMS;

interface Kind {
  readonly name: string;
  readonly isInteger: boolean;
}

/** Node numbers that a commit must create, all of one kind. */
export interface UnbornNodes {
  readonly slot: number;
  /** Ascending. */
  readonly numbers: Uint32Array;
}

/**
 * States: a number is held (its node is about to be created by one or more writers), live (a node
 * row is applied), or dead (deleted; its key can still be read, for older snapshots). Calls do not
 * overlap. Methods throw `overloaded`, with nothing changed, if the instance gets no memory.
 */
export class KeyDictionary {
  readonly core: Core;
  readonly #text: KeyText;
  readonly #list: number;
  readonly #records: Region;
  readonly #kinds: (Kind | undefined)[] = [];
  /** Memory for the next `setKind`. */
  readonly #forKind: Region[] = [];
  #from: Region | undefined;
  #to: Region | undefined;

  constructor(core: Core) {
    this.core = core;
    core.exports.hg_keys_seed(SEED[0]!, SEED[1]!, SEED[2]!, SEED[3]!);
    this.#text = new KeyText(core, allocate(core, KEY_REGION_BYTES));
    this.#list = allocate(core, LIST_NUMBERS * 8);
    this.#records = new Region(core, TEXT_BYTES);
  }

  /** Number of the next new node, from 1 to 2^32. It can only be raised. */
  get next(): number {
    return this.core.exports.hg_keys_next();
  }

  set next(number: number) {
    assert(this.core.exports.hg_keys_raise(number) === 0, 'the number of the next node is only raised, up to 2^32');
  }

  /** Greatest number that `hold` gives out; only tests lower it. */
  set limit(number: number) {
    this.core.exports.hg_keys_limit(number);
  }

  /** Number of live nodes. */
  get live(): number {
    return this.core.exports.hg_keys_live() >>> 0;
  }

  /** Size in bytes of the instance's memory, which grows and never shrinks. */
  get bytes(): number {
    return this.core.memory.size;
  }

  /**
   * Reserves memory so that the next `setKind` with this slot and name cannot fail. The kind of a
   * new slot is registered at once.
   */
  reserveKind(slot: number, name: string, isInteger: boolean): void {
    if (this.#kinds[slot] === undefined) {
      this.setKind(slot, name, isInteger);
      return;
    }
    for (const region of this.#forKind.splice(0)) region.free();
    const { length } = prefixOf(name);
    // For the prefix, and for the copy of it that the core makes.
    for (let count = 0; count < 2; count++) this.#forKind.push(new Region(this.core, length));
  }

  /** Registers a kind or renames it. `name` is used in the object form of members. */
  setKind(slot: number, name: string, isInteger: boolean): void {
    const known = this.#kinds[slot];
    if (known?.name === name && known.isInteger === isInteger) return;
    const prefix = prefixOf(name);
    const [region = new Region(this.core, prefix.length), copy] = this.#forKind.splice(0);
    region.ensure(prefix.length);
    copy?.free();
    this.core.memory.write(region.pointer, prefix);
    const status = this.core.exports.hg_keys_kind(slot, Number(isInteger), region.pointer, prefix.length);
    region.free();
    if (status < 0) throw coreError(status, 'hg_keys_kind');
    this.#kinds[slot] = { name, isInteger };
  }

  /**
   * Number of the live or held node with this key, 0 if there is none. `key` is a string, or a safe
   * integer for INTEGER kinds.
   */
  find(slot: number, key: string | number): number {
    const bytes = this.#place(slot, key);
    return bytes === 0 ? 0 : this.core.exports.hg_keys_find(slot, this.#text.pointer, bytes) >>> 0;
  }

  isLive(number: number): boolean {
    return (this.#state(number) & 3) === LIVE;
  }

  isDead(number: number): boolean {
    return (this.#state(number) & 3) === DEAD;
  }

  /**
   * Returns the number of the key: of its live node (without a hold), of its held node with one
   * more hold, or a new number, held once. Throws `invalid_input` for a key that its kind cannot
   * have, and `nodes_exhausted` if all numbers are used.
   */
  hold(slot: number, key: string | number): number {
    const bytes = this.#place(slot, key);
    if (bytes === 0) throw this.#keyError(slot);
    const number = this.core.exports.hg_keys_hold(slot, this.#text.pointer, bytes);
    if (number > 0) return number;
    if (number === STATUS.badArgument) throw this.#keyError(slot);
    throw coreError(number, 'hg_keys_hold');
  }

  /**
   * Takes back one hold per occurrence in the list. A held number without holds left is forgotten:
   * its key is free again. Of numbers that are live or dead meanwhile, and of numbers without an
   * entry, nothing else changes. If the forgotten numbers are the last ones given out, `next` goes
   * back.
   */
  release(numbers: ArrayLike<number>): void {
    this.#inPieces(numbers, (count) => this.core.exports.hg_keys_release(this.#list, count));
  }

  /**
   * Reserves memory so that `makeLive`, `add` and `addRecords` of `nodes` nodes with keys of
   * `keyBytes` bytes and with numbers from `next` to `last` cannot fail. It lasts until other nodes
   * are added or held; a second call does not add to the first.
   */
  reserve(nodes: number, keyBytes: number, last = this.next + nodes - 1): void {
    const status = this.core.exports.hg_keys_reserve(nodes, keyBytes, Math.min(last, MOST_NUMBER));
    if (status < 0) throw coreError(status, 'hg_keys_reserve');
  }

  /** Marks held numbers live. Cannot fail; live numbers stay live. */
  makeLive(numbers: ArrayLike<number>): void {
    this.#inPieces(numbers, (count) => {
      const status = this.core.exports.hg_keys_make_live(this.#list, count);
      assert(status === 0, 'a number that becomes live is held');
    });
  }

  /**
   * Adds a live node with a given number (at start, on a follower); raises `next` above it. Same
   * number and key again: no change (a dead or held one becomes live).
   */
  add(slot: number, key: string | number, number: number): void {
    assert(number >>> 0 === number, 'the number of a node is a u32');
    const bytes = this.#place(slot, key);
    if (bytes === 0) throw this.#keyError(slot);
    this.#addPlaced(slot, bytes, number);
  }

  #addPlaced(slot: number, bytes: number, number: number): void {
    const status = this.core.exports.hg_keys_add(slot, this.#text.pointer, bytes, number);
    if (status === STATUS.badArgument) throw this.#clash(slot, number);
    if (status < 0) throw coreError(status, 'hg_keys_add');
  }

  /**
   * Same as `add`, for all records of an INSERT run of a node table (assembly/FORMAT.md section 1:
   * id = number, the key is the property `column`). If one fails, the ones before it are added.
   */
  addRecords(slot: number, records: Uint8Array, count: number, column: number): void {
    for (const piece of recordPieces(records, count, this.#records.bytes)) {
      if (piece.bytes.length > this.#records.bytes) {
        // One record that is larger than the region: only its key is passed on.
        const { number, key } = findKeyProperty(piece.bytes, column);
        this.add(slot, key, number);
        continue;
      }
      this.core.memory.write(this.#records.pointer, piece.bytes);
      const status = this.core.exports.hg_keys_add_records(slot, this.#records.pointer, piece.count, column);
      if (status === STATUS.badArgument) throw this.#clash(slot, undefined);
      if (status < 0) throw coreError(status, 'hg_keys_add_records');
    }
  }

  /** The key becomes free (`find` no longer returns it); `keyOf` stays. No-op if not live. */
  kill(number: number): void {
    if (number >>> 0 === number) this.core.exports.hg_keys_kill(number);
  }

  /** Kind of a held, live or dead number. */
  slotOf(number: number): number | undefined {
    const state = this.#state(number);
    return state === 0 ? undefined : state >>> 2;
  }

  /**
   * Appends the live and dead numbers of a kind in [from, to) to a list; about 20 ns per number of
   * the range.
   */
  settled(slot: number, from: number, to: number, into: number[]): void {
    const { exports } = this.core;
    for (let number = from; number < to; number++) {
      const state = exports.hg_keys_state(number) >>> 0;
      if (state >>> 2 === slot && (state & LIVE) !== 0) into.push(number);
    }
  }

  /**
   * Writes the key of a held, live or dead number at an offset, as UTF-8 (digits of an INTEGER
   * key), and returns its size in bytes, at most MOST_KEY_BYTES.
   */
  writeKey(number: number, into: Uint8Array, at: number): number {
    const { exports, memory } = this.core;
    const bytes = exports.hg_keys_key(number);
    const from = exports.hg_result_pointer() >>> 0;
    if (bytes > SHORT_KEY_BYTES) into.set(memory.borrow(from, bytes), at);
    else {
      const all = memory.bytes;
      for (let i = 0; i < bytes; i++) into[at + i] = all[from + i]!;
    }
    return bytes;
  }

  /** Key of a held, live or dead number. */
  keyOf(number: number): string | number | undefined {
    const slot = this.slotOf(number);
    if (slot === undefined) return undefined;
    const { exports, memory } = this.core;
    const bytes = exports.hg_keys_key(number);
    const text = asBuffer(memory.borrow(exports.hg_result_pointer() >>> 0, bytes)).toString();
    return this.#kinds[slot]!.isInteger ? Number(text) : text;
  }

  /**
   * Encodes INSERT records for these numbers, which all have this kind: event_ts = number, id =
   * number, members [number], one property `column` with the key (TEXT or INTEGER).
   */
  records(numbers: Uint32Array, slot: number, column: number): Uint8Array {
    const { exports, memory } = this.core;
    const pieces: Uint8Array[] = [];
    this.#inPieces(numbers, (count) => {
      for (let done = 0; done < count; done += exports.hg_result_rows() >>> 0) {
        const { pointer, bytes } = this.#records;
        const size = exports.hg_keys_records(this.#list + done * 4, count - done, slot, column, pointer, bytes);
        assert(size > 0, 'the numbers of node records have entries of one kind');
        pieces.push(memory.copyOut(pointer, size));
      }
    });
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  /**
   * Sorted distinct numbers of a list that are held and not live, grouped by kind slot: the nodes a
   * commit must create.
   */
  unborn(numbers: Uint32Array): UnbornNodes[] {
    const { exports, memory } = this.core;
    const kinds = this.#list + LIST_NUMBERS * 4;
    const groups = new Map<number, number[]>();
    let previous = 0;
    this.#inPieces(numbers.slice().sort(), (count) => {
      const kept = exports.hg_keys_unborn(this.#list, count, kinds);
      const words = memory.words;
      for (let i = 0; i < kept; i++) {
        const number = words[this.#list / 4 + i]!;
        const slot = words[kinds / 4 + i]!;
        if (number === previous) continue;
        previous = number;
        const group = groups.get(slot);
        if (group === undefined) groups.set(slot, [number]);
        else group.push(number);
      }
    });
    const slots = [...groups].sort(([a], [b]) => a - b);
    return slots.map(([slot, group]) => ({ slot, numbers: Uint32Array.from(group) }));
  }

  /**
   * Replaces each mark (byte 0x01 and a u32, little-endian) in row text by the key as JSON. Form
   * `keys`: "Ada" or 5; form `objects`: {"kind":"Person","key":"Ada"}; form `texts`: "Ada" or "5";
   * form `kind texts`: "Person:Ada". A number without an entry is written as null, or "null".
   * Returns a new Buffer owned by the caller. The text does not end inside of a mark.
   */
  translate(text: Uint8Array, form: KeyForm): Uint8Array<ArrayBuffer> {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    this.translateTo(text, form, (piece) => pieces.push(copyOf(piece)));
    return pieces.length === 1 ? pieces[0]! : (Buffer.concat(pieces) as Uint8Array<ArrayBuffer>);
  }

  /**
   * Does the same, and passes the result on in pieces, each of which is valid only until `take`
   * returns. `text` is not in this dictionary's instance.
   */
  translateTo(text: Uint8Array, form: KeyForm, take: (piece: Uint8Array) => void): void {
    this.#from ??= new Region(this.core, TEXT_BYTES);
    this.#to ??= new Region(this.core, OUT_BYTES);
    const from = this.#from.pointer;
    const { exports, memory } = this.core;
    for (let at = 0; at < text.length; ) {
      const bytes = Math.min(TEXT_BYTES, text.length - at);
      memory.write(from, bytes === text.length ? text : text.subarray(at, at + bytes));
      // The core stops where its output region ends, or before a mark that the piece cuts.
      let done = 0;
      for (let read = -1; read !== 0 && done < bytes; done += read) {
        const written = this.#translate(from + done, bytes - done, form);
        read = exports.hg_result_offset() >>> 0;
        if (written > 0) take(memory.borrow(this.#to.pointer, written));
      }
      assert(done > 0, 'row text does not end inside of a mark');
      at += done;
    }
  }

  /** Writes text with keys to the output region; returns its size in bytes. */
  #translate(text: number, size: number, form: KeyForm): number {
    const { exports } = this.core;
    const to = this.#to!;
    let written = exports.hg_keys_translate(text, size, FORMS[form], to.pointer, to.bytes);
    if (written === STATUS.tooSmall) {
      to.ensure(exports.hg_result_needed() >>> 0);
      written = exports.hg_keys_translate(text, size, FORMS[form], to.pointer, to.bytes);
    }
    if (written < 0) throw coreError(written, 'hg_keys_translate');
    return written;
  }

  #state(number: number): number {
    return number >>> 0 === number ? this.core.exports.hg_keys_state(number) >>> 0 : 0;
  }

  /** Writes the key for the core; returns its size in bytes, 0 if its kind cannot have it. */
  #place(slot: number, key: string | number): number {
    const kind = this.#kinds[slot];
    assert(kind !== undefined, 'the kind of a key is registered');
    if (kind.isInteger !== (typeof key === 'number')) return 0;
    return typeof key === 'number' ? this.#text.placeInteger(key) : this.#text.place(key);
  }

  /** Passes the numbers to the core, as many at a time as the list has space for. */
  #inPieces(numbers: ArrayLike<number>, use: (count: number) => void): void {
    for (let from = 0; from < numbers.length; from += LIST_NUMBERS) {
      const count = Math.min(LIST_NUMBERS, numbers.length - from);
      const words = this.core.memory.words;
      const list = this.#list / 4;
      for (let i = 0; i < count; i++) words[list + i] = numbers[from + i]!;
      use(count);
    }
  }

  #keyError(slot: number): HedgerowError {
    const { name, isInteger } = this.#kinds[slot]!;
    const what = isInteger
      ? 'an integer between -9007199254740991 and 9007199254740991'
      : `a text of 1 to ${MOST_KEY_BYTES} bytes without control characters`;
    return refusal('invalid_input', `A key of ${name} must be ${what}.`);
  }

  #clash(slot: number, number: number | undefined): HedgerowError {
    const node = number === undefined ? 'A node' : `Node ${number}`;
    const { name } = this.#kinds[slot]!;
    return new HedgerowError(
      'internal',
      `${node} of ${name} has no valid key, or its number or key belongs to another node. This is a bug; please report it.`,
    );
  }
}

/** Returns how a member of a kind begins in object form. */
function prefixOf(name: string): Buffer {
  return Buffer.from(`{"kind":${JSON.stringify(name)},"key":`);
}

function copyOf(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = Buffer.allocUnsafe(text.length);
  copy.set(text);
  return copy as Uint8Array<ArrayBuffer>;
}
