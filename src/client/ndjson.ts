// Reads rows out of a stream of NDJSON, one at a time; a stream that breaks off raises.

import { HedgerowConnectionError } from './errors.ts';

/** The JSON values of the lines. `chunks` throws when the connection is cut. */
export async function* ndjsonValues<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T, void, undefined> {
  const decoder = new TextDecoder();
  /**
   * Of a line that has not ended. A row may have megabytes: it is searched once, however many
   * chunks it comes in.
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
  // Every row ends with a line break, so a rest is a row that is not whole.
  if (begun.length > 0) throw new HedgerowConnectionError('The stream of rows ended in the middle of a row.');
}

function parsed<T>(line: string): T {
  try {
    return JSON.parse(line) as T;
  } catch (cause) {
    throw new HedgerowConnectionError('A line of the stream of rows is no JSON.', { cause });
  }
}
