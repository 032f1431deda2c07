// Writes result rows as JSON: objects keyed by column name.

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

/** The rows of a chunk, each with `behind` after it (`\n`) or, when that is empty, commas between them. */
export function writeChunk(chunk: ResultChunk, keys: RowKeys, behind: '\n' | '', into: JsonSink): void {
  const writers = chunk.items.map((vector) => cellWriter(vector, into));
  for (let row = 0; row < chunk.count; row++) {
    if (behind === '' && row > 0) into.byte(COMMA);
    for (let place = 0; place < keys.length; place++) {
      into.bytes(keys[place]!);
      writers[place]!(row);
    }
    into.byte(CLOSE);
    if (behind !== '') into.text(behind);
  }
}

export function chunkBytes(chunk: ResultChunk, keys: RowKeys, behind: '\n' | ''): Uint8Array {
  const sink = new JsonSink();
  writeChunk(chunk, keys, behind, sink);
  return sink.take();
}

export function chunkText(chunk: ResultChunk, keys: RowKeys, behind: '\n' | ''): string {
  return Buffer.from(chunkBytes(chunk, keys, behind)).toString();
}

/** Writes the value of a row. */
function cellWriter(vector: Vector, into: JsonSink): (row: number) => void {
  switch (vector.kind) {
    case 'constant': {
      const text = JSON.stringify(vector.value);
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

/** Members, in the usual case. */
function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number');
}
