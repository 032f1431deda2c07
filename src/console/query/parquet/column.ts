// A column of a Parquet file: what type its values have, and their bytes.

import { writeVarint } from './thrift.ts';

export type CellType = 'integer' | 'real' | 'text' | 'boolean';

/** As the server writes them (COPY): `json` is what is neither a single value nor a list of values of one type. */
export type ColumnType = CellType | { readonly listOf: CellType } | 'json';

type Seen = CellType | 'list' | 'other';

/** The values of a column, and what they were seen to be. */
export class Column {
  readonly name: string;
  readonly values: unknown[] = [];
  readonly #seen = new Set<Seen>();
  readonly #seenInLists = new Set<Seen>();

  constructor(name: string) {
    this.name = name;
  }

  add(value: unknown): void {
    this.values.push(value ?? null);
    if (value === null || value === undefined) return;
    this.#seen.add(kindOf(value));
    if (!Array.isArray(value)) return;
    for (const item of value) if (item !== null) this.#seenInLists.add(kindOf(item));
  }

  get type(): ColumnType {
    if (this.#seen.has('list')) {
      const item = commonOf(this.#seenInLists, 'integer');
      return this.#seen.size === 1 && item !== undefined ? { listOf: item } : 'json';
    }
    return commonOf(this.#seen, 'text') ?? 'json';
  }
}

function kindOf(value: unknown): Seen {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? 'integer' : 'real';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return Array.isArray(value) ? 'list' : 'other';
}

/** The one type that holds them all; `none` when there is nothing to hold. */
function commonOf(seen: ReadonlySet<Seen>, none: CellType): CellType | undefined {
  const kinds = [...seen];
  if (kinds.length === 0) return none;
  if (kinds.every((kind) => kind === 'integer' || kind === 'real')) return seen.has('real') ? 'real' : 'integer';
  const [only] = kinds;
  return kinds.length === 1 && (only === 'text' || only === 'boolean') ? only : undefined;
}

/** The body of a data page: how deep each value is defined, where lists begin, then the values themselves. */
export function pageOf(
  values: readonly unknown[],
  type: ColumnType,
): { readonly body: Uint8Array<ArrayBuffer>; readonly count: number } {
  const definitions: number[] = [];
  const repetitions: number[] = [];
  const present: unknown[] = [];
  const isList = typeof type === 'object';
  for (const value of values) {
    if (!isList) {
      definitions.push(value === null ? 0 : 1);
      if (value !== null) present.push(value);
      continue;
    }
    const items = value as readonly unknown[] | null;
    // Null, an empty list, or a list: whose items are null or there.
    if (items === null || items.length === 0) {
      definitions.push(items === null ? 0 : 1);
      repetitions.push(0);
    }
    for (const [index, item] of (items ?? []).entries()) {
      definitions.push(item === null ? 2 : 3);
      repetitions.push(index === 0 ? 0 : 1);
      if (item !== null) present.push(item);
    }
  }
  const parts = [levelBytes(definitions), valueBytes(present, isList ? type.listOf : type)];
  return { body: joined(isList ? [levelBytes(repetitions), ...parts] : parts), count: definitions.length };
}

/** Runs of equal levels, with their length in front. Levels are below 4: one byte each. */
function levelBytes(levels: readonly number[]): Uint8Array {
  const runs: number[] = [];
  for (let start = 0; start < levels.length; ) {
    let end = start + 1;
    while (end < levels.length && levels[end] === levels[start]) end += 1;
    writeVarint(runs, (end - start) * 2);
    runs.push(levels[start]!);
    start = end;
  }
  const bytes = new Uint8Array(4 + runs.length);
  new DataView(bytes.buffer).setUint32(0, runs.length, true);
  bytes.set(runs, 4);
  return bytes;
}

function valueBytes(values: readonly unknown[], type: CellType | 'json'): Uint8Array {
  if (type === 'text') return textBytes(values as readonly string[]);
  if (type === 'json') return textBytes(values.map((value) => JSON.stringify(value)));
  if (type === 'boolean') {
    const bits = new Uint8Array(Math.ceil(values.length / 8));
    for (const [index, value] of values.entries()) if (value === true) bits[index >> 3]! |= 1 << (index & 7);
    return bits;
  }
  const numbers = new DataView(new ArrayBuffer(values.length * 8));
  for (const [index, value] of (values as readonly number[]).entries()) {
    if (type === 'real') numbers.setFloat64(index * 8, value, true);
    else numbers.setBigInt64(index * 8, BigInt(value), true);
  }
  return new Uint8Array(numbers.buffer);
}

const encoder = new TextEncoder();

function textBytes(texts: readonly string[]): Uint8Array {
  return joined(
    texts.flatMap((text) => {
      const encoded = encoder.encode(text);
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, encoded.length, true);
      return [length, encoded];
    }),
  );
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
