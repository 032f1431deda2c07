// Defines the format in which rows leave the DuckDB process. Rows are sent column by column, so
// that the number of objects does not depend on the number of rows.

import type { RowBatch, SqlColumn, SqlRow, SqlValue } from '../backend.ts';

/** Contains 1 for each null value; undefined if there are no nulls. */
type Nulls = Uint8Array | undefined;

export type WireColumn =
  | { readonly kind: 'numbers'; readonly values: Float64Array; readonly nulls: Nulls }
  /** `text` is all texts concatenated. `lengths` are in UTF-16 units. */
  | { readonly kind: 'texts'; readonly text: string; readonly lengths: Uint32Array; readonly nulls: Nulls }
  /** Lists of numbers: `numbers` is all lists one after another. */
  | { readonly kind: 'lists'; readonly numbers: Float64Array | Int32Array; readonly lengths: Uint32Array }
  | { readonly kind: 'values'; readonly values: readonly SqlValue[] };

export interface WireBatch {
  readonly length: number;
  readonly columns: readonly WireColumn[];
}

/** Makes a received batch readable by row and by column. */
export function batchOf({ length, columns: wires }: WireBatch): RowBatch {
  const columns = wires.map(columnOf);
  return {
    length,
    columns,
    *[Symbol.iterator](): Iterator<SqlRow> {
      for (let row = 0; row < length; row++) yield columns.map((column) => column[row]!);
    },
  };
}

function columnOf(wire: WireColumn): SqlColumn {
  if (wire.kind === 'values') return wire.values;
  if (wire.kind === 'lists') return listsIn(wire.numbers, wire.lengths);
  const { nulls } = wire;
  if (wire.kind === 'numbers') {
    if (nulls === undefined) return wire.values;
    return Array.from(wire.values, (value, row) => (nulls[row] === 1 ? null : value));
  }
  const { text, lengths } = wire;
  const texts = new Array<string | null>(lengths.length);
  let at = 0;
  for (let row = 0; row < lengths.length; row++) {
    const end = at + lengths[row]!;
    texts[row] = nulls !== undefined && nulls[row] === 1 ? null : text.slice(at, end);
    at = end;
  }
  return texts;
}

function listsIn(numbers: Float64Array | Int32Array, lengths: Uint32Array): number[][] {
  const lists = new Array<number[]>(lengths.length);
  let at = 0;
  for (let row = 0; row < lengths.length; row++) {
    const list = new Array<number>(lengths[row]!);
    for (let index = 0; index < list.length; index++) list[index] = numbers[at + index]!;
    lists[row] = list;
    at += list.length;
  }
  return lists;
}

/** Returns the values as lists of numbers, or undefined if one is not such a list. */
function numberLists(values: readonly SqlValue[]): WireColumn | undefined {
  let count = 0;
  let isShort = true;
  for (const value of values) {
    if (!Array.isArray(value)) return undefined;
    for (const item of value) {
      if (typeof item !== 'number') return undefined;
      isShort &&= Object.is(item | 0, item);
    }
    count += value.length;
  }
  // A large message costs the receiver several copies.
  const numbers = isShort ? new Int32Array(count) : new Float64Array(count);
  const lengths = new Uint32Array(values.length);
  let at = 0;
  for (const [row, value] of (values as readonly (readonly number[])[]).entries()) {
    lengths[row] = value.length;
    numbers.set(value, at);
    at += value.length;
  }
  return { kind: 'lists', numbers, lengths };
}

/**
 * Collects the values of one column of a batch. The buffers are reused for the next batch, so that
 * sending makes little garbage. A column is sent as numbers if all its values are numbers or null,
 * as texts if all are texts or null, as lists if all are lists of numbers, and otherwise as plain
 * values, which take the receiver most time.
 */
export class WireBuilder {
  #length = 0;
  #items = 0;
  #numbers: Float64Array;
  #nulls: Uint8Array;
  #nullCount = 0;
  #lengths: Uint32Array;
  #texts: string[] = [];
  #textCount = 0;
  /**
   * Set once the column has a value that is not a number, text or null, or has both numbers and
   * texts.
   */
  #values: SqlValue[] | undefined;

  constructor(capacity: number) {
    this.#numbers = new Float64Array(capacity);
    this.#nulls = new Uint8Array(capacity);
    this.#lengths = new Uint32Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Number of items in the lists of the column. */
  get items(): number {
    return this.#items;
  }

  add(value: SqlValue): void {
    if (Array.isArray(value)) this.#items += value.length;
    if (this.#values !== undefined) this.#values.push(value);
    else if (value === null) this.#addNull();
    else if (typeof value === 'number' && this.#textCount === 0) {
      this.#grow(1);
      this.#numbers[this.#length] = value;
    } else if (typeof value === 'string' && this.#textCount + this.#nullCount === this.#length) {
      this.#grow(1);
      this.#texts.push(value);
      this.#lengths[this.#length] = value.length;
      this.#textCount++;
    } else {
      this.#values = this.#plain();
      this.#values.push(value);
    }
    this.#length++;
  }

  /** Adds many numbers at once, without nulls. */
  addNumbers(numbers: ArrayLike<number>): void {
    if (this.#values !== undefined || this.#textCount > 0) {
      for (let index = 0; index < numbers.length; index++) this.add(numbers[index]!);
      return;
    }
    this.#grow(numbers.length);
    this.#numbers.set(numbers, this.#length);
    this.#length += numbers.length;
  }

  /** Returns the collected column, which is valid until the next value is added. */
  take(): WireColumn {
    const wire = this.#wire();
    this.#length = 0;
    this.#items = 0;
    this.#textCount = 0;
    this.#texts = [];
    this.#values = undefined;
    if (this.#nullCount > 0) this.#nulls = new Uint8Array(this.#nulls.length);
    this.#nullCount = 0;
    return wire;
  }

  #wire(): WireColumn {
    if (this.#values !== undefined) return numberLists(this.#values) ?? { kind: 'values', values: this.#values };
    const nulls = this.#nullCount === 0 ? undefined : this.#nulls.subarray(0, this.#length);
    if (this.#textCount === 0) return { kind: 'numbers', values: this.#numbers.subarray(0, this.#length), nulls };
    return { kind: 'texts', text: this.#texts.join(''), lengths: this.#lengths.subarray(0, this.#length), nulls };
  }

  #addNull(): void {
    this.#grow(1);
    this.#nulls[this.#length] = 1;
    this.#lengths[this.#length] = 0;
    this.#nullCount++;
  }

  #plain(): SqlValue[] {
    let text = 0;
    return Array.from({ length: this.#length }, (_, row) => {
      if (this.#nulls[row] === 1) return null;
      return this.#textCount > 0 ? this.#texts[text++]! : this.#numbers[row]!;
    });
  }

  #grow(count: number): void {
    const wanted = this.#length + count;
    if (wanted <= this.#numbers.length) return;
    const capacity = Math.max(wanted, 2 * this.#numbers.length);
    const [numbers, nulls, lengths] = [new Float64Array(capacity), new Uint8Array(capacity), new Uint32Array(capacity)];
    numbers.set(this.#numbers);
    nulls.set(this.#nulls);
    lengths.set(this.#lengths);
    this.#numbers = numbers;
    this.#nulls = nulls;
    this.#lengths = lengths;
  }
}
