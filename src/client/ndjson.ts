// Reads the rows of an NDJSON stream one at a time. Throws if the stream breaks off.

import { HedgerowConnectionError } from './errors.ts';
import { LineSplitter } from './lines.ts';

/** Yields the JSON value of each line. `chunks` throws if the connection is cut. */
export async function* ndjsonValues<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T, void, undefined> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) {
    for (const line of splitter.add(chunk)) if (line !== '') yield parsed<T>(line);
  }
  // Every row ends with a line break, so a part that is left over is an incomplete row.
  if (splitter.isInLine) throw new HedgerowConnectionError('The stream of rows ended in the middle of a row.');
}

/** Returns the JSON value of a line. Throws a HedgerowConnectionError if it is not JSON. */
export function parsed<T>(line: string): T {
  try {
    return JSON.parse(line) as T;
  } catch (cause) {
    throw new HedgerowConnectionError('A line of the stream of rows is not JSON.', { cause });
  }
}
