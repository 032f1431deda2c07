// Collects the words of documents as the input of a text block.

import { compareTexts } from '../model/text-order.ts';
import type { TextInput } from './text-block.ts';
import { NO_TERM } from './text-block.ts';

/** Number of positions for which there is space at first. */
const FIRST_POSITIONS = 4096;

export class TextInputs {
  readonly #termsOf: (text: string) => readonly string[];
  readonly #numbers = new Map<string, number>();
  #stream = new Uint32Array(FIRST_POSITIONS);
  #positions = 0;
  readonly #offsets: number[] = [0];

  /** `termsOf` returns the terms of a text, in the order of its words. */
  constructor(termsOf: (text: string) => readonly string[]) {
    this.#termsOf = termsOf;
  }

  /** Number of positions so far, with and without a word. */
  get positions(): number {
    return this.#positions;
  }

  /** Adds a document: the texts of some columns, between which there is no phrase. */
  add(texts: readonly (string | null)[]): void {
    for (const [place, text] of texts.entries()) {
      if (place > 0) this.#push(NO_TERM);
      for (const term of text === null ? [] : this.#termsOf(text)) {
        let number = this.#numbers.get(term);
        if (number === undefined) {
          number = this.#numbers.size;
          this.#numbers.set(term, number);
        }
        this.#push(number);
      }
    }
    this.#offsets.push(this.#positions);
  }

  #push(number: number): void {
    if (this.#positions === this.#stream.length) {
      const larger = new Uint32Array(2 * this.#stream.length);
      larger.set(this.#stream);
      this.#stream = larger;
    }
    this.#stream[this.#positions++] = number;
  }

  /** Returns the input, with the terms in the order of their bytes. */
  input(tag: number): TextInput {
    // The order of code points is that of bytes in UTF-8.
    const terms = [...this.#numbers.keys()].sort(compareTexts);
    const ordinals = new Uint32Array(terms.length);
    for (const [ordinal, term] of terms.entries()) ordinals[this.#numbers.get(term)!] = ordinal;
    const stream = this.#stream.subarray(0, this.#positions);
    for (let at = 0; at < stream.length; at++) if (stream[at] !== NO_TERM) stream[at] = ordinals[stream[at]!]!;
    const termOffsets = new Uint32Array(terms.length + 1);
    const pieces = terms.map((term) => Buffer.from(term));
    for (const [place, { length }] of pieces.entries()) termOffsets[place + 1] = termOffsets[place]! + length;
    return { offsets: Uint32Array.from(this.#offsets), stream, termOffsets, termBytes: Buffer.concat(pieces), tag };
  }
}
