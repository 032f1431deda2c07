// Cuts the elements of the arrays at the top of a JSON document out of its bytes, in bounded memory; JSON.parse reads them.

import { HedgerowError } from '../../errors.ts';

export interface Element {
  /** The key of the array, or of a text at the top. */
  readonly key: string;
  readonly text: string;
  /** `list`: the array begins; `element`: one of its elements; `text`: a text that stands at the top itself. */
  readonly kind: 'list' | 'element' | 'text';
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPENING = [91, 123];
const CLOSING = [93, 125];
const SQUARE = 91;
const CURLY = 123;
/** An element, at most. */
const MOST_BYTES = 64 * 2 ** 20;

/** `wanted`: keys whose arrays are cut; of others nothing is kept. Throws `invalid_json` for what is no JSON object, or not a whole one. */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
  wanted: ReadonlySet<string>,
): AsyncGenerator<Element, void, undefined> {
  const cutter = new Cutter(wanted);
  for await (const chunk of chunks) yield* cutter.add(chunk);
  cutter.end();
}

class Cutter {
  readonly #wanted: ReadonlySet<string>;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #begun = false;
  /** Bytes of chunks before this one that belong to what is kept now. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** Something is kept: a key, or an element. */
  #keeping = false;
  #key = '';
  /** The text that was last read at the top: a key, or a value. */
  #text = '';
  #inList = false;

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  *add(chunk: Buffer): Generator<Element, void, undefined> {
    // Where what is kept begins in this chunk.
    let from = 0;
    const take = (to: number): string => {
      const bytes = Buffer.concat([...this.#kept, chunk.subarray(from, to)]);
      this.#kept = [];
      this.#keptBytes = 0;
      return bytes.toString('utf8');
    };
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) {
          this.#inText = false;
          if (this.#depth === 1) {
            this.#text = parsed(take(at + 1)) as string;
            this.#keeping = false;
          }
        }
        continue;
      }
      if (byte <= 32) continue;
      if (this.#begun && this.#depth === 0) throw noJson('something stands behind its end');
      if (!this.#begun) this.#begin(byte);
      if (byte === QUOTE) {
        this.#inText = true;
        if (this.#depth === 1) {
          from = at;
          this.#keeping = true;
        }
      } else if (OPENING.includes(byte)) {
        this.#depth++;
        if (this.#depth === 2 && byte === SQUARE && this.#wanted.has(this.#key)) {
          this.#inList = true;
          this.#keeping = true;
          from = at + 1;
          yield { key: this.#key, text: '', kind: 'list' };
        }
      } else if (CLOSING.includes(byte)) {
        this.#depth--;
        if (this.#depth === 1 && this.#inList) {
          const text = take(at);
          this.#inList = false;
          this.#keeping = false;
          if (text.trim() !== '') yield { key: this.#key, text, kind: 'element' };
          this.#key = '';
        } else if (this.#depth === 0) yield* this.#plain();
        if (this.#depth < 0) throw noJson('it has a bracket too many');
      } else if (byte === COMMA) {
        if (this.#depth === 2 && this.#inList) {
          yield { key: this.#key, text: take(at), kind: 'element' };
          from = at + 1;
        } else if (this.#depth === 1) yield* this.#plain();
      } else if (byte === COLON && this.#depth === 1) {
        this.#key = this.#text;
        this.#text = '';
      }
    }
    if (this.#keeping) this.#keep(chunk.subarray(from));
  }

  #begin(byte: number): void {
    this.#begun = true;
    if (byte !== CURLY) throw noJson('it does not begin with {');
  }

  #keep(piece: Buffer): void {
    this.#kept.push(Buffer.from(piece));
    this.#keptBytes += piece.length;
    if (this.#keptBytes > MOST_BYTES) throw noJson(`an element of ${this.#key} is longer than ${MOST_BYTES} bytes`);
  }

  *#plain(): Generator<Element, void, undefined> {
    if (this.#key !== '' && this.#text !== '') yield { key: this.#key, text: this.#text, kind: 'text' };
    this.#key = '';
    this.#text = '';
  }

  end(): void {
    if (!this.#begun) throw noJson('it is empty');
    if (this.#depth !== 0 || this.#inText) throw noJson('it breaks off');
  }
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HedgerowError('invalid_json', `Not valid JSON: ${(error as Error).message}.`);
  }
}

function noJson(why: string): HedgerowError {
  return new HedgerowError('invalid_json', `The file is no JSON object: ${why}.`);
}
