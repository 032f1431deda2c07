// Takes the data out of the server-sent events that /v1/changes sends: each is one line of JSON.
// EventSource cannot be used, because it sends no key.

import { UnexpectedAnswer } from './unexpected-answer.ts';

/** Maximum length of one line in characters, so that an endless line cannot fill the memory. */
const MOST_CHARACTERS = 1 << 28;
const ERROR_LINE = 'event: error';
const DATA = 'data: ';

export class EventData {
  readonly #decoder = new TextDecoder();
  /** The parts of a line that has not ended yet, so that each part is searched only once. */
  #begun: string[] = [];
  #length = 0;

  /** Takes the data of each event in a chunk. Returns false if one of them reports an error. */
  push(chunk: Uint8Array, take: (data: string) => void): boolean {
    const lines = this.#decoder.decode(chunk, { stream: true }).split('\n');
    const rest = lines.pop()!;
    if (lines.length > 0) {
      lines[0] = this.#begun.join('') + lines[0];
      this.#begun = [];
      this.#length = 0;
    }
    this.#length += rest.length;
    if (this.#length > MOST_CHARACTERS) throw new UnexpectedAnswer();
    this.#begun.push(rest);
    for (const line of lines) {
      if (line === ERROR_LINE) return false;
      if (line.startsWith(DATA)) take(line.slice(DATA.length));
    }
    return true;
  }
}
