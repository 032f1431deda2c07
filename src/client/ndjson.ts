// Reads the rows of an NDJSON stream one at a time. Throws if the stream breaks off.

import { HedgerowConnectionError } from './errors.ts';

/** Yields the JSON value of each line. `chunks` throws if the connection is cut. */
export async function* ndjsonValues<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T, void, undefined> {
  const decoder = new TextDecoder();
  /**
   * The parts of a line that has not ended yet. A row may be several megabytes long, so each part
   * is searched for a line break only once, however many chunks the row arrives in.
   */
  let begun: string[] = [];
  for await (const chunk of chunks) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    const rest = lines.pop()!;
    if (lines.length > 0) {
      lines[0] = begun.join('') + lines[0];
      begun = [];
    }
    if (rest !== '') begun.push(rest);
    for (const line of lines) if (line !== '') yield parsed<T>(line);
  }
  // Every row ends with a line break, so a part that is left over is an incomplete row.
  if (begun.length > 0) throw new HedgerowConnectionError('The stream of rows ended in the middle of a row.');
}

function parsed<T>(line: string): T {
  try {
    return JSON.parse(line) as T;
  } catch (cause) {
    throw new HedgerowConnectionError('A line of the stream of rows is not JSON.', { cause });
  }
}
