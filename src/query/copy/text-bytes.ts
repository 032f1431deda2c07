// Encodes result rows as the bytes of a CSV or NDJSON file.

import type { Value } from '../binder/bound.ts';
import { JsonSink } from '../executor/rows/json-sink.ts';
import { rowKeys, writeChunk } from '../executor/rows/result-text.ts';
import type { ResultChunk } from '../executor/run-match.ts';
import { valueAt } from '../executor/values/vector.ts';
import { csvLines } from './csv-writer.ts';
import type { ResultColumn } from './result-columns.ts';

/** Writes a header, even if there are no rows, then one line per row. */
export async function* csvBytes(
  columns: readonly ResultColumn[],
  chunks: AsyncIterable<ResultChunk>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(csvLines([columns.map(({ name }) => name)]));
  for await (const { count, items } of chunks) {
    for (let from = 0; from < count; from += ROWS_A_PIECE) {
      const rows: Value[][] = [];
      for (let row = from; row < Math.min(count, from + ROWS_A_PIECE); row++)
        rows.push(items.map((vector) => valueAt(vector, row)));
      yield Buffer.from(csvLines(rows));
    }
  }
}

/** Number of rows that are written as CSV at once, which takes a millisecond or two. */
const ROWS_A_PIECE = 500;

/** Writes one object per line, with keys in the order of the columns. */
export async function* ndjsonBytes(
  columns: readonly ResultColumn[],
  chunks: AsyncIterable<ResultChunk>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const keys = rowKeys(columns.map(({ name }) => name));
  const sink = new JsonSink();
  for await (const chunk of chunks) {
    for (const _ of writeChunk(chunk, keys, '\n', sink)) yield sink.take();
    if (sink.length > 0) yield sink.take();
  }
}
