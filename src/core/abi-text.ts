// TypeScript declarations of the core's exports for text blocks (assembly/README.md).

import type { WasmGlobal } from './abi.ts';

export interface TextExports {
  readonly HG_MAX_TERM_BYTES: WasmGlobal;
  readonly HG_MAX_TEXT_PARTS: WasmGlobal;
  readonly HG_MAX_PHRASE_WORDS: WasmGlobal;
  readonly HG_TEXT_NO_TERM: WasmGlobal;
  hg_text_build(
    documents: number,
    offsets: number,
    stream: number,
    terms: number,
    termOffsets: number,
    termBytes: number,
    tag: number,
  ): number;
  hg_text_check(base: number, bytes: number, state: number, work: number): number;
  hg_text_field(base: number, field: number): number;
  hg_text_find(base: number, key: number, bytes: number): number;
  hg_text_prefix(base: number, key: number, bytes: number): number;
  hg_text_documents(base: number, term: number, bitmap: number): number;
  hg_text_totals(base: number, bitmap: number, out: number): void;
  hg_text_query(base: number, parts: number, k: number, words: number, n: number): number;
  hg_text_prepare(query: number, work: number): number;
  hg_text_count(query: number, part: number, bitmap: number): number;
  hg_text_match(query: number, bitmap: number, out: number, work: number): number;
  hg_text_weigh(query: number, weights: number, average: number): void;
  hg_text_scores(query: number, rows: number, n: number, out: number): void;
  hg_text_columns(): number;
  hg_text_columns_free(columns: number): void;
  hg_text_top(query: number, bitmap: number, k: number, columns: number): number;
  hg_text_top_step(query: number, threshold: number, work: number): number;
  hg_text_top_take(query: number, rows: number, scores: number): number;
  hg_text_query_free(query: number): void;
  hg_selection_list(selection: number, rows: number, out: number): number;
  hg_words_new(): number;
  hg_words_add(state: number, text: number, bytes: number): number;
  hg_words_gap(state: number): number;
  hg_words_field(state: number, field: number): number;
  hg_words_free(state: number): void;
}
