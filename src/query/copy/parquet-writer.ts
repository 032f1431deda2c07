// Writes result rows as the bytes of a Parquet file.

import type { Value } from '../binder/bound.ts';
import type { ResultChunk } from '../executor/run-match.ts';
import { valueAt } from '../executor/values/vector.ts';
import type { ParquetSink } from './parquet-port.ts';

/** Yields the bytes of the file in order. */
export async function* parquetBytes(
  sink: ParquetSink,
  chunks: AsyncIterable<ResultChunk>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const { count, items } of chunks) {
      const columns = items.map((vector) => Array.from({ length: count }, (_, row): Value => valueAt(vector, row)));
      const piece = await sink.add(columns);
      if (piece.length > 0) yield piece;
    }
    yield await sink.end();
  } finally {
    sink.close();
  }
}
