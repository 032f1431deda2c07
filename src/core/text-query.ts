// A query over one text block: which documents match, how they score, and which are the best.

import type { Steps } from '../schedule/steps.ts';
import type { Core } from './load.ts';
import { Region } from './region.ts';
import type { RowBitmap } from './row-bitmap.ts';
import { coreError, STATUS } from './status.ts';

/**
 * What a part is of a match: one of the should parts must be there if there is no must part; must
 * parts must be there; not parts must not.
 */
export const TEXT_ROLE = { should: 0, must: 1, not: 2 } as const;
export type TextRole = (typeof TEXT_ROLE)[keyof typeof TEXT_ROLE];

/** A part of a query. Terms are ordinals of the block, or NO_TERM for words it does not have. */
export type TextPart =
  | { readonly kind: 'word'; readonly role: TextRole; readonly term: number }
  | { readonly kind: 'prefix'; readonly role: TextRole; readonly first: number; readonly count: number }
  | { readonly kind: 'phrase'; readonly role: TextRole; readonly terms: readonly number[] };

/** Documents with their scores, best first: by score, then ascending by ordinal. */
export interface TextBest {
  readonly rows: Uint32Array;
  readonly scores: Float64Array;
}

/** A block in an instance, as a query needs it. */
export interface QueriedBlock {
  readonly base: number;
  readonly documents: number;
  readonly columns: number;
}

const KIND = { word: 0, prefix: 1, phrase: 2 } as const;
/** Units of work of one step; takes 0.1 to 0.5 ms. */
const STEP_UNITS = 16_384;
const MORE = 1;
/** Size in bytes of a part in the request of the core: four u32. */
const PART_BYTES = 16;
/** Bytes of the arguments and results of usual queries. */
const LEAST_WORK = 512;

/** Returns how many words all phrases have. */
function phraseWords(parts: readonly TextPart[]): number {
  let words = 0;
  for (const part of parts) if (part.kind === 'phrase') words += part.terms.length;
  return words;
}

export class TextQuery {
  readonly #core: Core;
  readonly #documents: number;
  readonly #parts: number;
  /** Address of the columns of frequent words of the block, 0: it keeps none. */
  readonly #columns: number;
  /** Memory for arguments and results of the calls. */
  readonly #work: Region;
  #query: number;

  /** Makes a query over a block; use `TextBlock.query`. */
  constructor(core: Core, { base, documents, columns }: QueriedBlock, parts: readonly TextPart[]) {
    this.#core = core;
    this.#documents = documents;
    this.#columns = columns;
    this.#parts = parts.length;
    this.#work = new Region(core, Math.max(LEAST_WORK, parts.length * PART_BYTES + phraseWords(parts) * 4));
    try {
      this.#query = this.#make(base, parts);
    } catch (error) {
      this.#work.free();
      throw error;
    }
  }

  #make(base: number, parts: readonly TextPart[]): number {
    const { exports, memory } = this.#core;
    const at = this.#work.pointer;
    const words = at + parts.length * PART_BYTES;
    // The parts, and behind them the terms of all phrases.
    const list = memory.words;
    let first = 0;
    for (let place = 0; place < parts.length; place++) {
      const part = parts[place]!;
      const to = at / 4 + place * 4;
      list[to] = KIND[part.kind];
      list[to + 1] = part.role;
      if (part.kind === 'phrase') {
        list[to + 2] = first;
        list[to + 3] = part.terms.length;
        for (const term of part.terms) list[words / 4 + first++] = term;
      } else {
        list[to + 2] = part.kind === 'word' ? part.term : part.first;
        list[to + 3] = part.kind === 'word' ? 1 : part.count;
      }
    }
    const status = exports.hg_text_query(base, at, parts.length, words, first);
    if (status < 0) throw coreError(status, 'hg_text_query');
    return exports.hg_result_pointer() >>> 0;
  }

  /**
   * Finds the documents of phrases and prefixes. Must be done before all else. Throws `overloaded`.
   */
  *prepare(): Steps<void> {
    for (;;) {
      const status = this.#core.exports.hg_text_prepare(this.#query, STEP_UNITS);
      if (status < 0) throw coreError(status, 'hg_text_prepare');
      if (status !== MORE) return;
      yield undefined;
    }
  }

  /** Returns how many documents contain a part. Cost: 1 step per document if there is a set. */
  count(part: number, allowed?: RowBitmap): number {
    const n = this.#core.exports.hg_text_count(this.#query, part, allowed?.pointer ?? 0);
    if (n === STATUS.badArgument) throw coreError(n, 'hg_text_count');
    return n;
  }

  /**
   * Puts the documents that match into `out`, and no others: those in `allowed` (default: all). The
   * two sets must differ, and no other match of this query may be begun before the end.
   */
  *match(out: RowBitmap, allowed?: RowBitmap): Steps<void> {
    const { exports } = this.#core;
    while (exports.hg_text_match(this.#query, allowed?.pointer ?? 0, out.pointer, STEP_UNITS) === MORE) yield undefined;
  }

  /**
   * Sets the weight (>= 0) of each part, and the average length of a document (> 0). Must be called
   * before `scores` and `top`. Not parts are not scored, but have an entry too.
   */
  weigh(weights: Float64Array, averageLength: number): void {
    const { exports, memory } = this.#core;
    const at = this.#work.pointer;
    for (let part = 0; part < this.#parts; part++) memory.numbers[at / 8 + part] = weights[part]!;
    exports.hg_text_weigh(this.#query, at, averageLength);
  }

  /**
   * Returns the score of each of some ascending documents, whether or not they match. Pass a few
   * thousand per call. Throws `overloaded`. Cost: 10 to 40 ns per document and part.
   */
  scores(rows: Uint32Array): Float64Array {
    const { exports, memory } = this.#core;
    this.#work.ensure(rows.length * 12);
    const out = this.#work.pointer;
    const list = out + rows.length * 8;
    memory.words.set(rows, list / 4);
    exports.hg_text_scores(this.#query, list, rows.length, out);
    return memory.numbers.slice(out / 8, out / 8 + rows.length);
  }

  /**
   * Finds the `k` best documents that match and are in `allowed` (default: all). `threshold`
   * returns the k-th best score known elsewhere at the time of the call, -Infinity if none:
   * documents with lower scores may be left out, those with the same score are not. Throws
   * `overloaded`.
   */
  *top(k: number, threshold: () => number, allowed?: RowBitmap): Steps<TextBest> {
    const { exports, memory } = this.#core;
    const status = exports.hg_text_top(this.#query, allowed?.pointer ?? 0, k, this.#columns);
    if (status < 0) throw coreError(status, 'hg_text_top');
    while (exports.hg_text_top_step(this.#query, threshold(), STEP_UNITS) === MORE) yield undefined;
    const most = Math.min(k, this.#documents);
    this.#work.ensure(most * 12);
    const scores = this.#work.pointer;
    const rows = scores + most * 8;
    const n = exports.hg_text_top_take(this.#query, rows, scores) >>> 0;
    return {
      rows: memory.words.slice(rows / 4, rows / 4 + n),
      scores: memory.numbers.slice(scores / 8, scores / 8 + n),
    };
  }

  /** Frees all memory of the query; may be called twice. */
  free(): void {
    if (this.#query === 0) return;
    this.#core.exports.hg_text_query_free(this.#query);
    this.#query = 0;
    this.#work.free();
  }
}
