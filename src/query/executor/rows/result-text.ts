// Writes result rows as JSON: objects keyed by column name.

import type { Value } from '../../binder/bound.ts';
import { valueBytes } from '../memory.ts';
import type { ResultChunk } from '../run-match.ts';
import type { Written } from '../values/iso-values.ts';
import { type Vector, valueAt } from '../values/vector.ts';
import { JsonSink } from './json-sink.ts';

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
 * may hold a million items. What was written until then may be taken from the sink. `written`: how the values of a column are, where not as they are.
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

/** Rows of many long texts are written in parts. */
const MOST_OF_ROW = 512 * 1024;
/** JSON of longer texts is not kept for the next row that has the same. */
const KEPT_TEXT = 1024;

/** Longer lists are written piece by piece. */
const LONG_LIST = 1024;
/** And those of texts and rows that take more than that. */
const HEAVY_BYTES = 256 * 1024;

function* writeList(list: readonly Value[], into: JsonSink, written: Written | undefined): Generator<void, void, void> {
  for (let from = 0; from < list.length; ) {
    let to = from;
    for (let bytes = 0; to < list.length && to < from + LONG_LIST && bytes < HEAVY_BYTES; to++)
      bytes += valueBytes(list[to]);
    // Without its brackets.
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

/** Writes the value of a row that is no long list. */
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

/** Members, in the usual case. */
function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number');
}
