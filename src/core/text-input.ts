// Collects the words of records as the input of a text block.
//
// The instance divides the texts and numbers their distinct words (assembly/text/words.ts); each of
// these is folded and stemmed once here. A word that is not ASCII may come with the punctuation
// around it, and have several terms or none.

import { finish, type Steps } from '../schedule/steps.ts';
import { asBuffer } from './key-text.ts';
import type { Core } from './load.ts';
import { MISSING_TEXT, type TextColumnOf, textPlacesOf } from './record-texts.ts';
import { Scratch } from './scratch.ts';
import { sortedTexts } from './sorted-texts.ts';
import { coreError } from './status.ts';
import { NO_TERM, type TextInput } from './text-block.ts';

const FIELD = { positions: 0, stream: 1, words: 2, places: 3 } as const;
/** Bytes in UTF-8 of a UTF-16 unit, at most. */
const MOST_UNIT_BYTES = 3;
/** Words that a step folds; a stem takes 1 to 2 us, of the longest words 100. */
const FOLDED_AT_ONCE = 64;
/** Terms that a step puts in their place; takes about a millisecond. */
const WRITTEN_AT_ONCE = 2048;
/** Text places of a column whose records have none. */
const NONE = { address: 0, bytes: 0 };

/** Where the words of a table come from. */
export interface TextSource {
  /** The TEXT columns in their order, with the text of records without the column. */
  readonly columns: readonly TextColumnOf[];
  /** Returns the terms of a text, in the order of its words. */
  readonly termsOf: (text: string) => readonly string[];
}

export class TextInputs {
  readonly #core: Core;
  readonly #source: TextSource;
  readonly #scratch: Scratch;
  /** By column: the text of records without the column. */
  readonly #missing: readonly { readonly address: number; readonly bytes: number }[];
  readonly #places: Uint32Array;
  #words: number;
  #all: Buffer;
  readonly #offsets: number[] = [0];

  /** Throws `overloaded`. Call `free` at the end. */
  constructor(core: Core, source: TextSource) {
    this.#core = core;
    this.#source = source;
    this.#scratch = new Scratch(core);
    this.#places = new Uint32Array(2 * source.columns.length);
    try {
      this.#missing = source.columns.map(({ missing }) => (missing === null ? NONE : this.#placed(missing)));
      const status = core.exports.hg_words_new();
      if (status < 0) throw coreError(status, 'hg_words_new');
    } catch (error) {
      this.#scratch.free();
      throw error;
    }
    this.#words = core.exports.hg_result_pointer() >>> 0;
    this.#all = asBuffer(core.memory.bytes);
  }

  #placed(missing: string): { address: number; bytes: number } {
    const text = Buffer.from(missing);
    const address = this.#scratch.take(text.length);
    this.#core.memory.write(address, text);
    return { address, bytes: text.length };
  }

  /** Adds the texts of the record at an address, which must stay there until `free`. */
  add(record: number): void {
    const { exports, memory } = this.#core;
    // The memory is another buffer when it has grown.
    if (this.#all.buffer !== memory.bytes.buffer) this.#all = asBuffer(memory.bytes);
    textPlacesOf(this.#all, record, this.#source.columns, this.#places);
    for (const [column, missing] of this.#missing.entries()) {
      if (column > 0) this.#checked(exports.hg_words_gap(this.#words));
      const place = this.#places[2 * column]!;
      if (place === MISSING_TEXT) this.#checked(exports.hg_words_add(this.#words, missing.address, missing.bytes));
      else if (place !== 0) this.#checked(exports.hg_words_add(this.#words, place, this.#places[2 * column + 1]!));
    }
    this.#offsets.push(this.#field(FIELD.positions));
  }

  #checked(status: number): void {
    if (status < 0) throw coreError(status, 'hg_words_add');
  }

  #field(field: number): number {
    return this.#core.exports.hg_words_field(this.#words, field) >>> 0;
  }

  /** Number of positions and of distinct words so far. */
  get size(): { readonly positions: number; readonly words: number } {
    return { positions: this.#field(FIELD.positions), words: this.#field(FIELD.words) };
  }

  /** Returns the input, with the terms in the order of their bytes. */
  input(tag: number): TextInput {
    return finish(this.inputSteps(tag));
  }

  /**
   * Does the same in steps: each folds some words, or sorts or copies some thousands. No record may
   * be added meanwhile.
   */
  *inputSteps(tag: number): Steps<TextInput> {
    const { firsts, terms, numbers } = yield* this.#termsOfWords();
    const sorted = yield* sortedTexts([...terms.keys()]);
    const { memory } = this.#core;
    const at = this.#field(FIELD.stream) / 4;
    const stream = memory.words.slice(at, at + this.#field(FIELD.positions));
    const ordinals = new Uint32Array(sorted.length);
    const termOffsets = new Uint32Array(sorted.length + 1);
    let bytes = 0;
    for (const { length } of sorted) bytes += MOST_UNIT_BYTES * length;
    const termBytes = Buffer.allocUnsafe(bytes);
    let end = 0;
    for (let ordinal = 0; ordinal < sorted.length; ordinal++) {
      const term = sorted[ordinal]!;
      ordinals[terms.get(term)!] = ordinal;
      end += termBytes.write(term, end);
      termOffsets[ordinal + 1] = end;
      if (ordinal % WRITTEN_AT_ONCE === WRITTEN_AT_ONCE - 1) yield undefined;
    }
    for (let place = 0; place < numbers.length; place++) numbers[place] = ordinals[numbers[place]!]!;
    yield undefined;
    return { ...this.#expanded(stream, firsts, numbers), termOffsets, termBytes: termBytes.subarray(0, end), tag };
  }

  /**
   * Returns the terms with their numbers, and the numbers of the terms of word w from firsts[w] to
   * firsts[w + 1].
   */
  *#termsOfWords(): Steps<{ firsts: Uint32Array; terms: ReadonlyMap<string, number>; numbers: number[] }> {
    const places = this.#field(FIELD.places) / 4;
    const count = this.#field(FIELD.words);
    const firsts = new Uint32Array(count + 1);
    const terms = new Map<string, number>();
    const numbers: number[] = [];
    let { bytes, words } = this.#core.memory;
    let all = asBuffer(bytes);
    for (let word = 0; word < count; word++) {
      if (word % FOLDED_AT_ONCE === FOLDED_AT_ONCE - 1) {
        yield undefined;
        // The memory may have grown meanwhile.
        ({ bytes, words } = this.#core.memory);
        all = asBuffer(bytes);
      }
      const from = words[places + 2 * word]!;
      for (const term of this.#source.termsOf(all.toString('utf8', from, from + words[places + 2 * word + 1]!))) {
        let number = terms.get(term);
        if (number === undefined) {
          number = terms.size;
          terms.set(term, number);
        }
        numbers.push(number);
      }
      firsts[word + 1] = numbers.length;
    }
    return { firsts, terms, numbers };
  }

  /** Puts the terms of each word in place of its number. */
  #expanded(
    stream: Uint32Array,
    firsts: Uint32Array,
    numbers: readonly number[],
  ): Pick<TextInput, 'offsets' | 'stream'> {
    let positions = 0;
    for (const word of stream) positions += word === NO_TERM ? 1 : firsts[word + 1]! - firsts[word]!;
    const expanded = new Uint32Array(positions);
    const offsets = new Uint32Array(this.#offsets.length);
    let to = 0;
    for (let document = 0; document + 1 < offsets.length; document++) {
      for (let at = this.#offsets[document]!; at < this.#offsets[document + 1]!; at++) {
        const word = stream[at]!;
        if (word === NO_TERM) expanded[to++] = NO_TERM;
        else for (let place = firsts[word]!; place < firsts[word + 1]!; place++) expanded[to++] = numbers[place]!;
      }
      offsets[document + 1] = to;
    }
    return { offsets, stream: expanded };
  }

  free(): void {
    if (this.#words !== 0) this.#core.exports.hg_words_free(this.#words);
    this.#words = 0;
    this.#scratch.free();
  }
}
