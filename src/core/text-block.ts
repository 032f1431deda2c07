// The inverted index of up to 65,536 documents, as one block of bytes in an instance: builds it,
// checks it, and finds its terms (assembly/FORMAT.md section 3).

import { finish, type Steps } from '../schedule/steps.ts';
import type { Core } from './load.ts';
import type { RowBitmap } from './row-bitmap.ts';
import { Scratch } from './scratch.ts';
import { corruptStatus } from './segment-facts.ts';
import { coreError, STATUS } from './status.ts';
import { type TextPart, TextQuery } from './text-query.ts';

/** In place of a term: a position without a word, or a word that the block does not have. */
export const NO_TERM = 0xffffffff;
/** Units of `hg_text_check` that a step does; takes 0.1 to 0.3 ms. */
const CHECK_UNITS = 16_384;
/** Status of a call that must be repeated. */
const MORE = 1;

/** The words of documents. */
export interface TextInput {
  /** Where each document begins in `stream`, and the end of the last one: documents + 1 numbers. */
  readonly offsets: Uint32Array;
  /** The ordinal of the term at each position of all documents, or NO_TERM. */
  readonly stream: Uint32Array;
  /** Where each term begins in `termBytes`, and the end of the last one: terms + 1 numbers. */
  readonly termOffsets: Uint32Array;
  /**
   * The distinct terms in UTF-8, ascending by bytes, 1 to HG_MAX_TERM_BYTES bytes each. Each must
   * occur in some document.
   */
  readonly termBytes: Uint8Array;
  /** A u32 that the block keeps: version and language of the analyzer. */
  readonly tag: number;
}

/** A region of an instance that contains a block. The owner frees it. */
export interface PlacedText {
  readonly pointer: number;
  readonly bytes: number;
}

/**
 * Builds a text block in the instance. Throws `overloaded`, or `internal` if the input is not as it
 * must be. Cost: about 30 ns per word, in one call.
 */
export function placeTextBlock(core: Core, input: TextInput): PlacedText {
  const scratch = new Scratch(core);
  try {
    const words = (list: Uint32Array) => {
      const at = scratch.take(list.length * 4);
      core.memory.words.set(list, at / 4);
      return at;
    };
    const offsets = words(input.offsets);
    const stream = words(input.stream);
    const termOffsets = words(input.termOffsets);
    const termBytes = scratch.take(input.termBytes.length);
    core.memory.write(termBytes, input.termBytes);
    const documents = input.offsets.length - 1;
    const terms = input.termOffsets.length - 1;
    const { exports } = core;
    const bytes = exports.hg_text_build(documents, offsets, stream, terms, termOffsets, termBytes, input.tag);
    if (bytes < 0) throw coreError(bytes, 'hg_text_build');
    return { pointer: exports.hg_result_pointer() >>> 0, bytes };
  } finally {
    scratch.free();
  }
}

/** Builds a text block and copies it out of the instance. Throws like `placeTextBlock`. */
export function buildTextBlock(core: Core, input: TextInput): Uint8Array<ArrayBuffer> {
  const { pointer, bytes } = placeTextBlock(core, input);
  const block = core.memory.copyOut(pointer, bytes);
  core.exports.hg_memory_free(pointer);
  return block;
}

/**
 * Checks the bytes of a block in steps. Throws `corrupt` with `file` and the offset in the block,
 * or `overloaded`. A block that does not pass must not be opened. Uses 4 bytes per document
 * meanwhile.
 */
export function* textCheck(core: Core, { pointer, bytes }: PlacedText, file: string): Steps<void> {
  const scratch = new Scratch(core);
  const { exports, memory } = core;
  const state = scratch.zeroed(exports.HG_CHECK_STATE_BYTES.value);
  try {
    for (;;) {
      const status = exports.hg_text_check(pointer, bytes, state, CHECK_UNITS);
      if (status === 0) return;
      if (status !== MORE) throw corruptStatus(core, status, file);
      yield undefined;
    }
  } finally {
    // What an unfinished check has allocated: 0 if it is finished.
    exports.hg_memory_free(memory.words[state / 4 + 2]!);
    scratch.free();
  }
}

/** Checks a block at once, and opens it. Throws like `textCheck`. */
export function openTextBlock(core: Core, placed: PlacedText, file: string, options?: TextBlockOptions): TextBlock {
  finish(textCheck(core, placed, file));
  return new TextBlock(core, placed.pointer, options);
}

export interface TextBlockOptions {
  /**
   * Whether searches for the best leave columns with the frequencies of frequent words in the
   * instance, which take as much memory as the block. They go with the instance. Default: false.
   */
  readonly keepsColumns?: boolean;
}

/** How many words a block has, and how many documents with a word. */
export interface TextTotals {
  readonly words: number;
  readonly documents: number;
}

/** A word in a block: its term, or NO_TERM, and how many documents contain it. */
export interface KnownWord {
  readonly term: number;
  readonly documents: number;
}

const MOST_KNOWN = 64;

const FIELD = { documents: 0, withWords: 1, terms: 2, words: 3, tag: 4, bytes: 5 } as const;

/**
 * A checked block in an instance, or one that was built there. It must not move. `allowed`: a set
 * of documents, for instance those that are alive; without it, all documents.
 */
export class TextBlock {
  readonly #core: Core;
  readonly #base: number;
  #columns = 0;
  /** The words that were looked up last, at most MOST_KNOWN. */
  readonly #known = new Map<string, KnownWord>();
  #all: TextTotals | undefined;
  /** Number of documents: their ordinals are below it. */
  readonly documents: number;
  readonly terms: number;
  readonly tag: number;
  readonly bytes: number;
  readonly keepsColumns: boolean;

  constructor(core: Core, base: number, { keepsColumns = false }: TextBlockOptions = {}) {
    this.#core = core;
    this.#base = base;
    this.keepsColumns = keepsColumns;
    const field = (number: number) => core.exports.hg_text_field(base, number);
    this.documents = field(FIELD.documents);
    this.terms = field(FIELD.terms);
    this.tag = field(FIELD.tag);
    this.bytes = field(FIELD.bytes);
  }

  /** Returns the number of words, and of documents that have a word. */
  totals(allowed?: RowBitmap): TextTotals {
    if (allowed === undefined && this.#all !== undefined) return this.#all;
    const { exports, memory } = this.#core;
    const scratch = new Scratch(this.#core);
    const out = scratch.take(16);
    exports.hg_text_totals(this.#base, allowed?.pointer ?? 0, out);
    const numbers = memory.numbers;
    const result = { words: numbers[out / 8]!, documents: numbers[out / 8 + 1]! };
    scratch.free();
    if (allowed === undefined) this.#all = result;
    return result;
  }

  /** Looks up a word. A word that was looked up lately costs no call of the core. */
  word(text: string): KnownWord {
    let known = this.#known.get(text);
    if (known === undefined) {
      const term = this.find(Buffer.from(text));
      known = { term, documents: term === NO_TERM ? 0 : this.documentsOf(term) };
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(text, known);
    }
    return known;
  }

  /** Returns the ordinal of a term (UTF-8), or NO_TERM. */
  find(term: Uint8Array): number {
    return this.#withKey(term, (key) => this.#core.exports.hg_text_find(this.#base, key, term.length) >>> 0);
  }

  /** Returns the ordinals [first, first + count) of the terms that begin with `prefix` (UTF-8). */
  prefix(prefix: Uint8Array): { first: number; count: number } {
    const { exports } = this.#core;
    return this.#withKey(prefix, (key) => {
      const first = exports.hg_text_prefix(this.#base, key, prefix.length) >>> 0;
      return { first, count: exports.hg_result_rows() >>> 0 };
    });
  }

  #withKey<T>(bytes: Uint8Array, use: (key: number) => T): T {
    const scratch = new Scratch(this.#core);
    const key = scratch.take(bytes.length);
    this.#core.memory.write(key, bytes);
    const result = use(key);
    scratch.free();
    return result;
  }

  /** Returns how many documents contain a term. Cost: 1 step per document if there is a set. */
  documentsOf(term: number, allowed?: RowBitmap): number {
    const n = this.#core.exports.hg_text_documents(this.#base, term, allowed?.pointer ?? 0);
    if (n === STATUS.badArgument) throw coreError(n, 'hg_text_documents');
    return n;
  }

  /** Makes a query of 1 to HG_MAX_TEXT_PARTS parts; free it. Throws `overloaded`. */
  query(parts: readonly TextPart[]): TextQuery {
    // Without memory for the set, 0, the search does without columns.
    if (this.keepsColumns && this.#columns === 0) this.#columns = this.#core.exports.hg_text_columns() >>> 0;
    const block = { base: this.#base, documents: this.documents, columns: this.#columns };
    return new TextQuery(this.#core, block, parts);
  }
}
