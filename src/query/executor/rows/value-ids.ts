// Assigns ids 0, 1, 2, ... to the distinct values of an expression, over many batches, in the order
// in which the values first occur. Null is one of the values.

import { WideMap } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import type { Value, ValueType } from '../../binder/bound.ts';
import { textBytes, valueBytes } from '../memory.ts';
import { type TextVector, type Vector, valueAt, vectorOf } from '../values/vector.ts';
import { ListTable } from './list-table.ts';
import { NumberTable } from './number-table.ts';

/** Stands for the id of null, or of a value that did not occur before. */
export const ABSENT = -1;
const NONE = -1;
const UNKNOWN = 0xffffffff;
/**
 * With more than this many texts per row, a table of ids by text code takes more time than it
 * saves.
 */
const MANY_TEXTS = 8;

const BYTES_OF_ENTRY = 56;
/** Longer lists are compared by their JSON. */
const MOST_NUMBERS = 1024;
/**
 * Rows, and lists that are not short lists of numbers, are compared by their JSON. If a value takes
 * more bytes than this, writing its JSON in one step takes too long, and the value is refused.
 */
const MOST_KEY_BYTES = 8 * 2 ** 20;

/** Returns the key that identifies a list or row. Throws `query_too_large`. */
function jsonKey(value: Value): string {
  if (valueBytes(value) <= MOST_KEY_BYTES) return JSON.stringify(value);
  throw new HedgerowError(
    'query_too_large',
    `A list or row of more than ${MOST_KEY_BYTES / 2 ** 20} MB cannot be compared with others; use single values in groups, DISTINCT and joins.`,
  );
}

/** Returns whether a value is a list that is stored in a `ListTable`. */
function isNumbers(value: Value): value is readonly number[] {
  if (!Array.isArray(value) || value.length > MOST_NUMBERS) return false;
  for (let i = 0; i < value.length; i++) if (!Number.isFinite(value[i])) return false;
  return true;
}

export class ValueIds {
  readonly #type: ValueType;
  readonly #numbers = new NumberTable();
  /**
   * If the values are lists: the short lists of numbers, whose places are their ids. A place is
   * reserved for each other value, which is in `#others` by id.
   */
  readonly #lists: ListTable | undefined;
  readonly #others = new Map<number, Value>();
  /** Ids by text or, for other lists, rows and booleans, by their JSON. */
  readonly #texts = new WideMap<string, number>();
  /** Values by id if they are neither numbers nor lists. */
  readonly #values: Value[] = [];
  /** The list, row or boolean that occurred last. */
  #lastValue: Value | undefined;
  #lastId = NONE;
  /** The id of null; `NONE` if null did not occur yet. */
  #nullId = NONE;
  /** Memory in bytes of texts, rows and the lists in `#others`. */
  #valueBytes = 0;

  constructor(type: ValueType) {
    this.#type = type;
    this.#lists = type === 'list' ? new ListTable() : undefined;
  }

  /** Number of ids assigned so far; every id is below it. */
  get size(): number {
    return this.#isNumeric ? this.#numbers.size : (this.#lists?.size ?? this.#values.length);
  }

  /** Approximate memory in bytes of all values. */
  get bytes(): number {
    if (this.#isNumeric) return this.#numbers.bytes;
    const entries = this.#values.length + this.#others.size;
    return entries * BYTES_OF_ENTRY + this.#valueBytes + (this.#lists?.bytes ?? 0);
  }

  /** The id of null; -1 if null did not occur yet. */
  get nullId(): number {
    return this.#nullId;
  }

  get #isNumeric(): boolean {
    return this.#type === 'integer' || this.#type === 'real';
  }

  /** Returns the values of ids as a vector. */
  valuesOf(ids: Uint32Array): Vector {
    if (!this.#isNumeric)
      return vectorOf(
        Array.from(ids, (id) => this.#valueOf(id)),
        this.#type,
      );
    const values = new Float64Array(ids.length);
    let nulls: Uint8Array | undefined;
    for (let i = 0, end = ids.length; i < end; i++) {
      const id = ids[i]!;
      if (id !== this.#nullId) values[i] = this.#numbers.at(id);
      else {
        nulls ??= new Uint8Array(ids.length);
        nulls[i] = 1;
      }
    }
    return { kind: 'number', values, nulls };
  }

  #valueOf(id: number): Value {
    if (this.#lists === undefined) return this.#values[id]!;
    const other = this.#others.get(id);
    return other === undefined ? this.#lists.at(id) : other;
  }

  /** Returns the ids of a vector's values. */
  idsOf(vector: Vector, count: number): Uint32Array {
    const ids = new Uint32Array(count);
    if (count === 0) return ids;
    if (vector.kind === 'constant') return ids.fill(this.#idOf(vector.value));
    if (vector.kind === 'number') this.#numbers.placesOf(vector.values, vector.nulls, this.#ofNull, ids);
    else if (vector.kind === 'text') this.#textIds(vector, ids);
    else for (let i = 0; i < count; i++) ids[i] = this.#idOf(valueAt(vector, i));
    return ids;
  }

  /**
   * Does the same as `idsOf`, but returns `ABSENT` for null and, if `takes` is false, for values
   * that did not occur before.
   */
  knownIds(vector: Vector, count: number, takes: boolean): Int32Array {
    const ids = new Int32Array(count);
    if (vector.kind === 'text') {
      const known = new Map<number, number>();
      for (let i = 0; i < count; i++) {
        const code = vector.codes[i]!;
        let id = vector.nulls?.[i] === 1 ? ABSENT : known.get(code);
        if (id === undefined) {
          id = this.#knownId(vector.texts[code]!, takes);
          known.set(code, id);
        }
        ids[i] = id;
      }
      return ids;
    }
    for (let i = 0; i < count; i++) ids[i] = this.#knownId(valueAt(vector, i), takes);
    return ids;
  }

  #knownId(value: Value, takes: boolean): number {
    if (value === null) return ABSENT;
    if (takes) return this.#idOf(value);
    if (this.#isNumeric) return this.#numbers.find(value as number);
    if (this.#lists !== undefined && isNumbers(value)) return this.#lists.find(value);
    return this.#texts.get(typeof value === 'string' ? value : jsonKey(value)) ?? ABSENT;
  }

  readonly #ofNull = (): number => {
    if (this.#nullId === NONE) this.#nullId = this.#isNumeric ? this.#numbers.take() : this.#append(null);
    return this.#nullId;
  };

  #textIds({ codes, texts, nulls }: TextVector, ids: Uint32Array): void {
    if (texts.length > MANY_TEXTS * ids.length) {
      for (let i = 0, end = ids.length; i < end; i++) {
        const text = texts[codes[i]!]!;
        ids[i] = nulls !== undefined && nulls[i] === 1 ? this.#ofNull() : this.#textId(text, text);
      }
      return;
    }
    const known = new Uint32Array(texts.length).fill(UNKNOWN);
    for (let i = 0, end = ids.length; i < end; i++) {
      if (nulls !== undefined && nulls[i] === 1) {
        ids[i] = this.#ofNull();
        continue;
      }
      const code = codes[i]!;
      if (known[code] === UNKNOWN) known[code] = this.#textId(texts[code]!, texts[code]!);
      ids[i] = known[code]!;
    }
  }

  #idOf(value: Value): number {
    if (value === null) return this.#ofNull();
    if (this.#isNumeric) return this.#numbers.placeOf(value as number);
    if (typeof value === 'string') return this.#textId(value, value);
    if (this.#lists !== undefined && isNumbers(value)) return this.#lists.placeOf(value);
    // A list that is the same for all rows, such as a parameter, is written as JSON only once,
    // because its JSON may have megabytes.
    if (value !== this.#lastValue) {
      this.#lastId = this.#textId(jsonKey(value), value);
      this.#lastValue = value;
    }
    return this.#lastId;
  }

  #textId(key: string, value: Value): number {
    let id = this.#texts.get(key);
    if (id === undefined) {
      id = this.#append(value);
      this.#texts.set(key, id);
      this.#valueBytes += textBytes(key) + (key === value ? 0 : valueBytes(value));
    }
    return id;
  }

  #append(value: Value): number {
    if (this.#lists === undefined) return this.#values.push(value) - 1;
    const id = this.#lists.take();
    this.#others.set(id, value);
    return id;
  }
}
