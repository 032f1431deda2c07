// Reads a stream of server-sent events (HTML standard, section 9.2) one at a time.
//
// An event is a block of lines `field: value` that ends with an empty line. A block that is cut off
// is dropped, as the standard requires: whoever reads on from the last event gets it again. Lines
// end with LF or CR LF; a CR alone, which no known server sends, is not taken for a line break.

import { LineSplitter } from './lines.ts';

export interface ServerEvent {
  /** Undefined if the event has no id of its own. */
  readonly id: string | undefined;
  /** `message` unless the event names its type. */
  readonly type: string;
  /** Undefined for a block without data: a comment that shows that the connection is alive. */
  readonly data: string | undefined;
}

/** Yields every block, also those without data. `chunks` throws if the connection is cut. */
export async function* serverEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const splitter = new LineSplitter();
  let block: string[] = [];
  for await (const chunk of chunks) {
    for (const ended of splitter.add(chunk)) {
      const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
      if (line !== '') block.push(line);
      else if (block.length > 0) {
        yield eventOf(block);
        block = [];
      }
    }
  }
}

function eventOf(lines: readonly string[]): ServerEvent {
  const data: string[] = [];
  let id: string | undefined;
  let type = 'message';
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') data.push(value);
    else if (name === 'id') id = value;
    else if (name === 'event') type = value;
  }
  return { id, type, data: data.length === 0 ? undefined : data.join('\n') };
}
