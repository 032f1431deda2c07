// Writes result rows as JSON objects with column names as keys.

import type { Value } from '../../binder/bound.ts';
import { valueBytes } from '../memory.ts';
import type { ResultChunk } from '../run-match.ts';
import type { Written } from '../values/iso-values.ts';
import { type Vector, valueAt } from '../values/vector.ts';
import { JsonSink } from './json-sink.ts';

/** The text before each value of a row: a brace or comma, and the key. */
export type RowKeys = readonly Uint8Array[];

const KEYS = new WeakMap<readonly string[], RowKeys>();

/**
 * Returns the keys, cached for each list of names: a bound statement has the same list in every
 * run.
 */
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

/** Approximate bytes written between two pauses. */
const BYTES_A_REST = 64 * 1024;

/**
 * Writes the rows of a chunk. Each row is followed by `behind` (`\n`); if `behind` is empty, rows
 * are separated by commas. Pauses from time to time, even within a value, because a list may have a
 * million items. At a pause, the caller may take from the sink what has been written. `written`
 * contains for each column the function that converts its values, if any.
 */
export function* writeChunk(
  chunk: ResultChunk,
  keys: RowKeys,
  behind: '\n' | '',
  into: JsonSink,
  written: readonly (Written | undefined)[] = [],
): Generator<void, void, void> {
  const writers = chunk.items.map((vector, place) => cellWriter(vector, into, written[place]));
  let rest = into.length + BYTES_A_REST;
  for (let row = 0; row < chunk.count; row++) {
    if (behind === '' && row > 0) into.byte(COMMA);
    for (let place = 0; place < keys.length; place++) {
      into.bytes(keys[place]!);
      const long = longListAt(chunk.items[place]!, row);
      if (long === undefined) writers[place]!(row);
      else yield* writeList(long, into, written[place]);
      if (into.length < rest + MOST_OF_ROW) continue;
      yield;
      rest = into.length + BYTES_A_REST;
    }
    into.byte(CLOSE);
    if (behind !== '') into.text(behind);
    if (into.length < rest) continue;
    yield;
    rest = into.length + BYTES_A_REST;
  }
}

/**
 * If the bytes written since the last pause exceed `BYTES_A_REST` by this many, there is a pause
 * even within a row. This happens if a row has many long texts.
 */
const MOST_OF_ROW = 512 * 1024;
/** Maximum length of a JSON text that is cached for other rows with the same value. */
const KEPT_TEXT = 1024;

/** Lists longer than this are written piece by piece. */
const LONG_LIST = 1024;
/** Lists of texts or rows are also written piece by piece if they take more bytes than this. */
const HEAVY_BYTES = 256 * 1024;

function* writeList(list: readonly Value[], into: JsonSink, written: Written | undefined): Generator<void, void, void> {
  for (let from = 0; from < list.length; ) {
    let to = from;
    for (let bytes = 0; to < list.length && to < from + LONG_LIST && bytes < HEAVY_BYTES; to++)
      bytes += valueBytes(list[to]);
    // The brackets of the piece are cut off.
    const piece = list.slice(from, to);
    const text = JSON.stringify(written === undefined ? piece : written(piece));
    into.text(`${from === 0 ? '[' : ','}${text.slice(1, -1)}`);
    from = to;
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

/** Returns a function that writes the values of a column, except long lists. */
function cellWriter(vector: Vector, into: JsonSink, written: Written | undefined): (row: number) => void {
  if (written !== undefined) return (row) => into.text(JSON.stringify(written(valueAt(vector, row))));
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
      const written = new Map<number, string>();
      return (row) => {
        const code = codes[row]!;
        if (nulls !== undefined && nulls[row] === 1) {
          into.text('null');
          return;
        }
        let text = written.get(code);
        if (text === undefined) {
          text = JSON.stringify(texts[code]);
          if (text.length <= KEPT_TEXT) written.set(code, text);
        }
        into.text(text);
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
  if (!Array.isArray(value)) return undefined;
  const isHeavy = value.length > LONG_LIST || (typeof value[0] !== 'number' && valueBytes(value) > HEAVY_BYTES);
  return isHeavy ? value : undefined;
}

/** Returns whether a value is a list of numbers, which is usually a list of members. */
function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number');
}
