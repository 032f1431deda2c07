// Writes result rows as JSON: objects keyed by column name.

import type { Value } from '../binder/bound.ts';
import { JsonSink } from './json-sink.ts';
import type { ResultChunk } from './run-match.ts';
import { type Vector, valueAt } from './vector.ts';

/** What stands before each value of a row. */
export type RowKeys = readonly Uint8Array[];

const KEYS = new WeakMap<readonly string[], RowKeys>();

/** Made once for the columns of a bound statement, which are the same list in every run. */
export function rowKeys(names: readonly string[]): RowKeys {
  let keys = KEYS.get(names);
  if (keys === undefined) {
    keys = names.map((name, place) => Buffer.from(`${place === 0 ? '{' : ','}${JSON.stringify(name)}:`));
    KEYS.set(names, keys);
  }
  return keys;
}

const COMMA = 44;
const CLOSE = 125;

/** Bytes written between two rests, about. */
const BYTES_A_REST = 64 * 1024;

/**
 * Writes the rows of a chunk, each with `behind` after it (`\n`) or, when that is empty, commas between them. Rests now and then, also inside of a value: a list
 * may hold a million items. What was written until then may be taken from the sink.
 */
export function* writeChunk(
  chunk: ResultChunk,
  keys: RowKeys,
  behind: '\n' | '',
  into: JsonSink,
): Generator<void, void, void> {
  const writers = chunk.items.map((vector) => cellWriter(vector, into));
  let rest = into.length + BYTES_A_REST;
  for (let row = 0; row < chunk.count; row++) {
    if (behind === '' && row > 0) into.byte(COMMA);
    for (let place = 0; place < keys.length; place++) {
      into.bytes(keys[place]!);
      const long = longListAt(chunk.items[place]!, row);
      if (long === undefined) writers[place]!(row);
      else yield* writeList(long, into);
    }
    into.byte(CLOSE);
    if (behind !== '') into.text(behind);
    if (into.length < rest) continue;
    yield;
    rest = into.length + BYTES_A_REST;
  }
}

/** Longer lists are written piece by piece. */
const LONG_LIST = 1024;

function* writeList(list: readonly Value[], into: JsonSink): Generator<void, void, void> {
  for (let from = 0; from < list.length; from += LONG_LIST) {
    // Without its brackets.
    into.text(`${from === 0 ? '[' : ','}${JSON.stringify(list.slice(from, from + LONG_LIST)).slice(1, -1)}`);
    yield;
  }
  into.text(']');
}

export function chunkBytes(chunk: ResultChunk, keys: RowKeys, behind: '\n' | ''): Uint8Array {
  const sink = new JsonSink();
  for (const _ of writeChunk(chunk, keys, behind, sink));
  return sink.take();
}

export function chunkText(chunk: ResultChunk, keys: RowKeys, behind: '\n' | ''): string {
  return Buffer.from(chunkBytes(chunk, keys, behind)).toString();
}

/** Writes the value of a row that is no long list. */
function cellWriter(vector: Vector, into: JsonSink): (row: number) => void {
  switch (vector.kind) {
    case 'constant': {
      const text = longListAt(vector, 0) === undefined ? JSON.stringify(vector.value) : '';
      return () => into.text(text);
    }
    case 'number': {
      const { values, nulls } = vector;
      if (nulls === undefined) return (row) => into.number(values[row]!);
      return (row) => (nulls[row] === 1 ? into.text('null') : into.number(values[row]!));
    }
    case 'text': {
      const { codes, texts, nulls } = vector;
      const written = new Array<string>(texts.length);
      return (row) => {
        const code = codes[row]!;
        if (nulls !== undefined && nulls[row] === 1) {
          into.text('null');
          return;
        }
        written[code] ??= JSON.stringify(texts[code]);
        into.text(written[code]);
      };
    }
    default:
      return (row) => {
        const value = valueAt(vector, row);
        if (isNumbers(value)) into.numbers(value);
        else into.text(JSON.stringify(value));
      };
  }
}

function longListAt(vector: Vector, row: number): readonly Value[] | undefined {
  if (vector.kind !== 'value' && vector.kind !== 'constant') return undefined;
  const value = valueAt(vector, row);
  return Array.isArray(value) && value.length > LONG_LIST ? value : undefined;
}

/** Members, in the usual case. */
function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number');
}
