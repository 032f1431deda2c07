// Parses a long JSON body in steps of about a millisecond: JSON.parse cannot be interrupted, and
// takes a second for some bodies of 64 MB.
//
// The bytes are scanned once, only for strings, brackets and commas. When the unread part of a list
// or object has reached the size of a piece, it is cut at a comma: the piece is put in brackets and
// parsed by JSON.parse, and its items are added to the value under construction. All enclosing
// lists and objects then become values under construction too, outermost first: the items before
// the current item are parsed, and the current item is attached when its bracket closes. A list or
// object that ends before it was cut stays part of its parent's piece.
//
// Invariants: the open lists and objects that have a value are the outermost ones; such a value
// contains everything before `pieceStart`. So JSON.parse checks the grammar inside the pieces. What
// joins the pieces is checked here: matching brackets, one comma between items, and no comma after
// the last item.
//
// Example, with tiny pieces: in `{"edges":[1,2,3,4]}` the text is cut at the comma after 2. The
// object becomes {}, `[1,2]` is parsed into the list; at `]` the rest `[3,4]` is parsed and
// appended; then the key is parsed from `{"edges":[]}` and the list is attached to the object.

import { setField } from '../model/set-field.ts';
import {
  MOST_JSON_DEPTH,
  MOST_JSON_NODES,
  MOST_JSON_VALUES,
  tooDeep,
  tooManyNodes,
  tooManyValues,
} from './json-depth.ts';

/** Approximate bytes per piece; JSON.parse takes a millisecond for it. */
const PIECE_BYTES = 64 * 1024;
/** Bytes scanned in one step. */
const STEP_BYTES = 128 * 1024;
/** Maximum bytes without a place to cut: a single string, or brackets around one. */
const MOST_PIECE_BYTES = 4 * 2 ** 20;
/** Maximum number of fields in one object: no valid body has a hundred. */
const MOST_FIELDS = 100_000;
/**
 * Maximum number of items in one list: no valid list has more, and an array of millions takes a
 * tenth of a second to grow.
 */
const MOST_ITEMS = 1_000_000;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** A list or object that has begun and has not ended. */
interface Open {
  readonly isList: boolean;
  /** Offset of its opening bracket. */
  readonly start: number;
  /**
   * The value under construction, once the text has been cut inside it; undefined while it is still
   * part of a piece of its parent.
   */
  value: unknown[] | Record<string, unknown> | undefined;
  /** Offset where the unparsed part begins. */
  pieceStart: number;
  /** Offset where the current item begins. */
  itemStart: number;
  /**
   * True if the current item has already been attached; then only a comma or the closing bracket
   * may follow.
   */
  isRead: boolean;
  /** Number of commas between its items or fields so far. */
  items: number;
}

/**
 * The error for a body that is not JSON or is not accepted. The message is the rest of a sentence
 * about the body.
 */
export class JsonProblem extends Error {}

export class JsonPieces {
  readonly #body: Buffer;
  readonly #textStart: number;
  readonly #pieceBytes: number;
  readonly #open: Open[] = [];
  #at: number;
  /** True inside a string; the byte after a backslash is skipped. */
  #inText = false;
  #nodes = 0;
  #values = 1;
  /** Set if the whole value was a list or object assembled from pieces. */
  #whole: { value: unknown } | undefined;
  /** Offset of the whole value's opening bracket, and offset after its end. */
  #start = -1;
  #end = -1;

  /** `start`: offset of the text in the body. Tests use smaller pieces. */
  constructor(body: Buffer, start: number, pieceBytes = PIECE_BYTES) {
    this.#body = body;
    this.#at = start;
    this.#textStart = start;
    this.#pieceBytes = pieceBytes;
  }

  /** Scans the next bytes. Returns true if it must be called again. Throws `JsonProblem`. */
  step(): boolean {
    const body = this.#body;
    const end = Math.min(body.length, this.#at + STEP_BYTES);
    let at = this.#at;
    while (at < end) {
      if (this.#inText) {
        while (at < end && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
        if (at >= end) break;
        this.#inText = false;
        at++;
        continue;
      }
      const code = body[at]!;
      if (code === QUOTE) this.#inText = true;
      else if (code === COMMA) this.#comma(at);
      else if (code === OPEN_LIST || code === OPEN_OBJECT) this.#begin(at, code === OPEN_LIST);
      else if (code === CLOSE_LIST || code === CLOSE_OBJECT) this.#finish(at, code === CLOSE_LIST);
      at++;
    }
    this.#at = at;
    return at < body.length;
  }

  /** Returns the value; call this after the last step. Throws `JsonProblem`. */
  value(): unknown {
    const { length } = this.#body;
    if (this.#open.length > 0 || this.#inText) throw new JsonProblem('ends before its JSON does');
    if (this.#whole === undefined) return this.#parse('', this.#textStart, length, '');
    if (!this.#isBlank(this.#textStart, this.#start)) throw this.#wrongAt(this.#textStart);
    if (!this.#isBlank(this.#end, length)) throw this.#wrongAt(this.#end);
    return this.#whole.value;
  }

  #begin(at: number, isList: boolean): void {
    if (++this.#nodes > MOST_JSON_NODES) throw new JsonProblem(tooManyNodes());
    if (this.#open.length === MOST_JSON_DEPTH) throw new JsonProblem(tooDeep());
    const parent = this.#open[this.#open.length - 1];
    if (parent === undefined ? this.#start >= 0 : parent.isRead) throw this.#wrongAt(at);
    if (parent === undefined) this.#start = at;
    const next = at + 1;
    this.#open.push({
      isList,
      start: at,
      value: undefined,
      pieceStart: next,
      itemStart: next,
      isRead: false,
      items: 0,
    });
  }

  #comma(at: number): void {
    if (++this.#values > MOST_JSON_VALUES) throw new JsonProblem(tooManyValues());
    const last = this.#open[this.#open.length - 1];
    if (last === undefined) throw this.#wrongAt(at);
    last.items++;
    if (last.isList ? last.items > MOST_ITEMS : last.items > MOST_FIELDS) {
      const what = last.isList
        ? `a list of more than ${MOST_ITEMS} items`
        : `an object of more than ${MOST_FIELDS} fields`;
      throw new JsonProblem(`holds ${what}; send several smaller ones`);
    }
    if (last.isRead) {
      if (!this.#isBlank(last.pieceStart, at)) throw this.#wrongAt(last.pieceStart);
      last.isRead = false;
      last.pieceStart = at + 1;
    } else if (at - last.pieceStart >= this.#pieceBytes) {
      this.#takeApart();
      this.#read(last, at);
      last.pieceStart = at + 1;
    }
    last.itemStart = at + 1;
  }

  #finish(at: number, isList: boolean): void {
    const last = this.#open.pop();
    if (last === undefined || last.isList !== isList) throw this.#wrongAt(at);
    if (this.#open.length === 0) this.#end = at + 1;
    if (last.value === undefined) return;
    if (!last.isRead) this.#read(last, at);
    else if (!this.#isBlank(last.pieceStart, at)) throw this.#wrongAt(last.pieceStart);
    this.#attach(last, at);
  }

  /** Attaches an assembled value to its parent. */
  #attach({ start, value }: Open, at: number): void {
    const parent = this.#open[this.#open.length - 1];
    if (parent === undefined) {
      this.#whole = { value };
      return;
    }
    // Between the start of the item and the bracket there is the key of a field, or nothing in a
    // list.
    if (parent.isList) {
      if (!this.#isBlank(parent.itemStart, start)) throw this.#wrongAt(parent.itemStart);
      (parent.value as unknown[]).push(value);
    } else {
      const key = Object.keys(this.#parse('{', parent.itemStart, start, '[]}') as object);
      if (key.length !== 1) throw this.#wrongAt(parent.itemStart);
      setField(parent.value as Record<string, unknown>, key[0]!, value);
    }
    parent.isRead = true;
    parent.pieceStart = at + 1;
  }

  /**
   * Turns the open lists and objects into values, from the outermost inwards, and parses what
   * precedes their current items (in the innermost one, the caller does so).
   */
  #takeApart(): void {
    for (const open of this.#open) {
      if (open.value !== undefined && open.pieceStart === open.itemStart) continue;
      // The comma before the item is not parsed.
      if (open.itemStart > open.pieceStart && open !== this.#open[this.#open.length - 1]) {
        this.#read(open, open.itemStart - 1);
        open.pieceStart = open.itemStart;
      }
      open.value ??= open.isList ? [] : {};
    }
  }

  /** Parses the items from `pieceStart` to `end` and adds them to the value. */
  #read(open: Open, end: number): void {
    open.value ??= open.isList ? [] : {};
    if (open.isList) {
      const items = this.#parse('[', open.pieceStart, end, ']') as unknown[];
      if (items.length === 0) throw this.#wrongAt(end);
      const list = open.value as unknown[];
      for (const item of items) list.push(item);
    } else {
      const fields = this.#parse('{', open.pieceStart, end, '}') as Record<string, unknown>;
      const keys = Object.keys(fields);
      if (keys.length === 0) throw this.#wrongAt(end);
      for (const key of keys) setField(open.value as Record<string, unknown>, key, fields[key]);
    }
  }

  #parse(before: string, start: number, end: number, after: string): unknown {
    if (end - start > MOST_PIECE_BYTES)
      throw new JsonProblem(`holds a text of more than ${MOST_PIECE_BYTES / 2 ** 20} MB; send a shorter one`);
    try {
      return JSON.parse(before + this.#body.toString('utf8', start, end) + after);
    } catch {
      throw this.#wrongAt(start);
    }
  }

  #isBlank(start: number, end: number): boolean {
    for (let at = start; at < end; at++) {
      const code = this.#body[at]!;
      if (code !== 32 && code !== 9 && code !== 10 && code !== 13) return false;
    }
    return true;
  }

  #wrongAt(at: number): JsonProblem {
    return new JsonProblem(`is not valid JSON at byte ${at} or soon after it`);
  }
}
