// Parses a long JSON body in steps of about a millisecond: JSON.parse cannot be interrupted, and takes a second for some bodies of 64 MB.
//
// Its bytes are looked at one by one, only for texts, brackets and commas. Where what has been seen of a list or object is long enough, it is cut at a comma:
// the piece is put in brackets, read by JSON.parse, and its items go to the value that is put together. So the grammar is that of JSON.parse, but for
// what joins the pieces: brackets that match, a comma between items, none after the last.

import {
  MOST_JSON_DEPTH,
  MOST_JSON_NODES,
  MOST_JSON_VALUES,
  tooDeep,
  tooManyNodes,
  tooManyValues,
} from './json-depth.ts';

/** Bytes of a piece, about; JSON.parse takes a millisecond for it. */
const PIECE_BYTES = 64 * 1024;
/** Bytes that are looked at in one step. */
const STEP_BYTES = 128 * 1024;
/** Bytes without a place to cut: a single text, or brackets around one. */
const MOST_PIECE_BYTES = 4 * 2 ** 20;
/** Fields of one object: no body that is understood has a hundred. */
const MOST_FIELDS = 100_000;
/** Items of one list: none that is understood has more, and an array of millions takes a tenth of a second to grow. */
const MOST_ITEMS = 1_000_000;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** A list or object that has begun and not ended. */
interface Open {
  readonly isList: boolean;
  /** Of its bracket. */
  readonly start: number;
  /** The value, once a piece of it has been read; undefined: it is still part of a piece of what holds it. */
  value: unknown[] | Record<string, unknown> | undefined;
  /** Where what has not been read begins. */
  pieceStart: number;
  /** Where the item begins that is looked at. */
  itemStart: number;
  /** The item that is looked at has been read already; only its comma or the end may follow. */
  isRead: boolean;
  /** Commas in it so far: of its items or fields. */
  items: number;
}

/** Why a body is no JSON, or none that is taken: the rest of a sentence on the body. */
export class JsonProblem extends Error {}

export class JsonPieces {
  readonly #body: Buffer;
  readonly #textStart: number;
  readonly #pieceBytes: number;
  readonly #open: Open[] = [];
  #at: number;
  /** Within a text; the places after a backslash are skipped. */
  #inText = false;
  #nodes = 0;
  #values = 1;
  /** The whole value was a list or object that was put together. */
  #whole: { value: unknown } | undefined;
  /** Where the bracket of the whole value is, and the place after its end. */
  #start = -1;
  #end = -1;

  /** `start`: of the text in the body. Tests make the pieces smaller. */
  constructor(body: Buffer, start: number, pieceBytes = PIECE_BYTES) {
    this.#body = body;
    this.#at = start;
    this.#textStart = start;
    this.#pieceBytes = pieceBytes;
  }

  /** True: call again. Throws `JsonProblem`. */
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

  /** The value, when there are no more steps. Throws `JsonProblem`. */
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

  /** Gives a value that was put together to what holds it. */
  #attach({ start, value }: Open, at: number): void {
    const parent = this.#open[this.#open.length - 1];
    if (parent === undefined) {
      this.#whole = { value };
      return;
    }
    // Between the item's start and the bracket is its key, or nothing.
    if (parent.isList) {
      if (!this.#isBlank(parent.itemStart, start)) throw this.#wrongAt(parent.itemStart);
      (parent.value as unknown[]).push(value);
    } else {
      const key = Object.keys(this.#parse('{', parent.itemStart, start, '[]}') as object);
      if (key.length !== 1) throw this.#wrongAt(parent.itemStart);
      define(parent.value as Record<string, unknown>, key[0]!, value);
    }
    parent.isRead = true;
    parent.pieceStart = at + 1;
  }

  /** From the outermost one on, what is open becomes a value of its own: what comes before the item that is looked at is read. */
  #takeApart(): void {
    for (const open of this.#open) {
      if (open.value !== undefined && open.pieceStart === open.itemStart) continue;
      // The comma before the item is not read.
      if (open.itemStart > open.pieceStart && open !== this.#open[this.#open.length - 1]) {
        this.#read(open, open.itemStart - 1);
        open.pieceStart = open.itemStart;
      }
      open.value ??= open.isList ? [] : {};
    }
  }

  /** Reads the items from where a value was read up to `end`. */
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
      for (const key of keys) define(open.value as Record<string, unknown>, key, fields[key]);
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

/** As JSON.parse does: `__proto__` is a field like others. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}
