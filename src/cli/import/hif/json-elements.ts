// Cuts the bytes of a JSON object into its fields, and the wanted lists into their elements, in
// bounded memory. JSON.parse then reads each piece.
//
// For example, {"network-type":"directed","edges":[{"edge":1},{"edge":2}]} with `edges` as a wanted
// list gives the value "directed", the beginning of the list `edges`, and then two elements.
//
// The cutter checks the grammar of the outermost object and of the lists it cuts: braces, keys,
// colons and commas. Inside deeper values it only counts brackets; JSON.parse finds errors there.

import { isUtf8 } from 'node:buffer';
import { HedgerowError } from '../../../errors.ts';

export interface Element {
  /** Key of the field. */
  readonly key: string;
  readonly text: string;
  /**
   * `list`: a wanted list begins, or ends without any element. `element`: an element of such a
   * list. `value`: a field with any other value.
   */
  readonly kind: 'list' | 'element' | 'value';
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const SPACES = new Set([9, 10, 13, 32]);
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** Maximum size of an element in bytes. */
const MOST_BYTES = 64 * 2 ** 20;
/**
 * Maximum depth of nesting. The limit exists because JSON.stringify calls itself for each level.
 */
const MOST_DEPTH = 500;

/**
 * Yields the fields of a JSON object one by one. A list whose key is in `wanted` is yielded element
 * by element. Throws `invalid_json` for text that is not a JSON object or is incomplete.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
  wanted: ReadonlySet<string>,
): AsyncGenerator<Element, void, undefined> {
  const cutter = new Cutter(wanted);
  for await (const chunk of chunks) yield* cutter.add(chunk);
  cutter.end();
}

/**
 * What is expected next. In state `firstKey` the object may also end; in state `key` a key must
 * follow.
 */
type State = 'start' | 'firstKey' | 'key' | 'colon' | 'value' | 'inKey' | 'inValue' | 'inList' | 'end';

class Cutter {
  readonly #wanted: ReadonlySet<string>;
  readonly #seen = new Set<string>();
  #state: State = 'start';
  #markAt = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** Bytes from earlier chunks that belong to the current piece. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #key = '';
  /** Number of elements of the current list so far. */
  #count = 0;

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  *add(chunk: Buffer): Generator<Element, void, undefined> {
    // Where the current piece begins in this chunk.
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) {
          this.#inText = false;
          if (this.#state === 'inKey') this.#takeKey(this.#take(chunk, from, at + 1));
        }
        continue;
      }
      if (SPACES.has(byte)) continue;
      if (this.#state === 'inValue' || this.#state === 'inList') {
        const element = this.#inside(byte, chunk, from, at);
        if (element !== undefined) {
          from = at + 1;
          yield element;
        }
      } else if (this.#state === 'value') {
        from = at;
        if (byte === OPEN_LIST && this.#wanted.has(this.#key)) {
          from = at + 1;
          this.#state = 'inList';
          this.#depth = 2;
          this.#count = 0;
          yield { key: this.#key, text: '', kind: 'list' };
        } else {
          this.#state = 'inValue';
          this.#inside(byte, chunk, from, at);
        }
      } else {
        if (byte === QUOTE) from = at;
        this.#between(byte);
      }
    }
    if (['inKey', 'inValue', 'inList'].includes(this.#state)) this.#keep(chunk.subarray(from));
  }

  /**
   * Takes a byte that is inside a value but outside a text. Returns the piece that ends here, if
   * any.
   */
  #inside(byte: number, chunk: Buffer, from: number, at: number): Element | undefined {
    if (byte === QUOTE) this.#inText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++this.#depth > MOST_DEPTH) throw noJson(`${this.#key} is nested deeper than ${MOST_DEPTH} levels`);
    } else if (this.#state === 'inList') {
      if (byte === COMMA && this.#depth === 2) return this.#element(chunk, from, at);
      if (byte !== CLOSE_LIST && byte !== CLOSE_OBJECT) return undefined;
      if (this.#depth-- > 2) return undefined;
      if (byte !== CLOSE_LIST) throw noJson(`the list ${this.#key} ends with }`);
      this.#state = 'end';
      this.#depth = 1;
      return this.#element(chunk, from, at, true);
    } else if (this.#depth === 1 && (byte === COMMA || byte === CLOSE_OBJECT)) {
      const text = this.#take(chunk, from, at);
      if (text.trim() === '') throw noJson(`${this.#key} has no value`);
      this.#after(byte);
      return { key: this.#key, text, kind: 'value' };
    } else if ((byte === CLOSE_LIST || byte === CLOSE_OBJECT) && --this.#depth < 1)
      throw noJson('it has a bracket too many');
    return undefined;
  }

  /** Returns the element that ends here. A list may end without an element when it is empty. */
  #element(chunk: Buffer, from: number, at: number, isLast = false): Element | undefined {
    const text = this.#take(chunk, from, at);
    if (text.trim() === '') {
      if (isLast && this.#count === 0) return { key: this.#key, text: '', kind: 'list' };
      throw noJson(`the list ${this.#key} has a comma with nothing at its side`);
    }
    this.#count++;
    return { key: this.#key, text, kind: 'element' };
  }

  /** Takes a byte that belongs to neither a key nor a value. */
  #between(byte: number): void {
    switch (this.#state) {
      case 'start':
        if (byte === BYTE_ORDER_MARK[this.#markAt]) this.#markAt++;
        else if (byte === OPEN_OBJECT) {
          this.#state = 'firstKey';
          this.#depth = 1;
        } else throw noJson('it does not begin with {');
        return;
      case 'firstKey':
      case 'key':
        if (byte === QUOTE) {
          this.#inText = true;
          this.#state = 'inKey';
        } else if (byte === CLOSE_OBJECT && this.#state === 'firstKey') this.#after(byte);
        else throw noJson('a key is missing');
        return;
      case 'colon':
        if (byte !== COLON) throw noJson(`a colon is missing after ${JSON.stringify(this.#key.slice(0, 40))}`);
        this.#state = 'value';
        return;
      default:
        if (this.#depth === 0) throw noJson('there is something after its end');
        if (byte !== COMMA && byte !== CLOSE_OBJECT) throw noJson(`a comma is missing after ${this.#key}`);
        this.#after(byte);
    }
  }

  #takeKey(text: string): void {
    this.#key = parsed(text) as string;
    if (this.#seen.has(this.#key)) throw noJson(`${JSON.stringify(this.#key.slice(0, 40))} is in it twice`);
    this.#seen.add(this.#key);
    this.#state = 'colon';
  }

  /** Takes the comma or closing brace after a value. */
  #after(byte: number): void {
    this.#state = byte === COMMA ? 'key' : 'end';
    if (byte === CLOSE_OBJECT) this.#depth = 0;
  }

  #take(chunk: Buffer, from: number, to: number): string {
    const piece = chunk.subarray(from, to);
    const bytes = this.#kept.length === 0 ? piece : Buffer.concat([...this.#kept, piece]);
    this.#kept = [];
    this.#keptBytes = 0;
    if (!isUtf8(bytes)) throw noJson(`${this.#key === '' ? 'a key' : this.#key} is not valid UTF-8`);
    return bytes.toString('utf8');
  }

  #keep(piece: Buffer): void {
    this.#kept.push(Buffer.from(piece));
    this.#keptBytes += piece.length;
    if (this.#keptBytes > MOST_BYTES) throw noJson(`an element of ${this.#key} is longer than ${MOST_BYTES} bytes`);
  }

  end(): void {
    if (this.#state === 'start') throw noJson('it is empty');
    if (this.#state !== 'end' || this.#depth !== 0) throw noJson('it breaks off');
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
  return new HedgerowError('invalid_json', `The file is not a JSON object: ${why}.`);
}
