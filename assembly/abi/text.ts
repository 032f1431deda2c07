// The ABI of text blocks: builds, checks and reads them, and makes and runs queries.

import { BAD_ARGUMENT } from '../status';
import { buildText } from '../text/builder';
import { checkText } from '../text/check';
import { freeColumns, makeColumns } from '../text/columns';
import { findPrefix, findTerm } from '../text/dictionary';
import { MOST_TERM_BYTES, NONE, T_BYTES, T_DOCUMENTS, T_TAG, T_TERMS, T_WITH_WORDS, T_WORDS } from '../text/layout';
import { countAllowed, countTerm, listRows, match, totals } from '../text/matches';
import { cursorOf, freeQuery, MOST_PARTS, MOST_PHRASE, makeQuery, partOf, prepare, Q_PARTS } from '../text/query';
import { scoreRows, weigh } from '../text/scores';
import { beginTop, takeBest, top } from '../text/top';
import { addGap, addText, freeWords, makeWords, wordsField } from '../text/words';

/** Maximum size in bytes of a term. */
export const HG_MAX_TERM_BYTES: u32 = MOST_TERM_BYTES;
/** Maximum number of parts of a query, and of words of a phrase. */
export const HG_MAX_TEXT_PARTS: u32 = MOST_PARTS;
export const HG_MAX_PHRASE_WORDS: u32 = MOST_PHRASE;
/** In place of a term: a position without a word, or a word that is not in the block. */
export const HG_TEXT_NO_TERM: u32 = NONE;

export function hg_text_build(
  documents: u32,
  offsets: u32,
  stream: u32,
  terms: u32,
  termOffsets: u32,
  termBytes: u32,
  tag: u32,
): i32 {
  return buildText(documents, offsets, stream, terms, termOffsets, termBytes, tag);
}

export function hg_text_check(base: u32, bytes: u32, state: u32, work: u32): i32 {
  return checkText(base, bytes, state, work);
}

/** Returns a field of the header: the numbers are in README.md. */
export function hg_text_field(base: u32, field: u32): f64 {
  if (field == 0) return <f64>load<u32>(base + T_DOCUMENTS);
  if (field == 1) return <f64>load<u32>(base + T_WITH_WORDS);
  if (field == 2) return <f64>load<u32>(base + T_TERMS);
  if (field == 3) return <f64>load<u64>(base + T_WORDS);
  if (field == 4) return <f64>load<u32>(base + T_TAG);
  return field == 5 ? <f64>load<u32>(base + T_BYTES) : NaN;
}

export function hg_text_find(base: u32, key: u32, bytes: u32): u32 {
  return findTerm(base, key, bytes);
}

export function hg_text_prefix(base: u32, key: u32, bytes: u32): u32 {
  return findPrefix(base, key, bytes);
}

export function hg_text_documents(base: u32, term: u32, bitmap: u32): i32 {
  return term < load<u32>(base + T_TERMS) ? <i32>countTerm(base, term, bitmap) : BAD_ARGUMENT;
}

export function hg_text_totals(base: u32, bitmap: u32, out: u32): void {
  totals(base, bitmap, out);
}

export function hg_text_query(base: u32, parts: u32, k: u32, words: u32, n: u32): i32 {
  return makeQuery(base, parts, k, words, n);
}

export function hg_text_prepare(query: u32, work: u32): i32 {
  return prepare(query, work);
}

export function hg_text_count(query: u32, part: u32, bitmap: u32): i32 {
  return part < load<u32>(query + Q_PARTS) ? <i32>countAllowed(cursorOf(partOf(query, part)), bitmap) : BAD_ARGUMENT;
}

export function hg_text_match(query: u32, bitmap: u32, out: u32, work: u32): i32 {
  return match(query, bitmap, out, work);
}

export function hg_text_weigh(query: u32, weights: u32, average: f64): void {
  weigh(query, weights, average);
}

export function hg_text_scores(query: u32, rows: u32, n: u32, out: u32): void {
  scoreRows(query, rows, n, out);
}

export function hg_text_columns(): u32 {
  return <u32>makeColumns();
}

export function hg_text_columns_free(columns: u32): void {
  freeColumns(columns);
}

export function hg_text_top(query: u32, bitmap: u32, k: u32, columns: u32): i32 {
  return beginTop(query, bitmap, k, columns);
}

export function hg_text_top_step(query: u32, threshold: f64, work: u32): i32 {
  return top(query, threshold, work);
}

export function hg_text_top_take(query: u32, rows: u32, scores: u32): u32 {
  return takeBest(query, rows, scores);
}

export function hg_text_query_free(query: u32): void {
  freeQuery(query);
}

export function hg_selection_list(selection: u32, rows: u32, out: u32): u32 {
  return listRows(selection, rows, out);
}

export function hg_words_new(): i32 {
  return makeWords();
}

export function hg_words_add(state: u32, text: u32, bytes: u32): i32 {
  return addText(state, text, bytes);
}

export function hg_words_gap(state: u32): i32 {
  return addGap(state);
}

export function hg_words_field(state: u32, field: u32): u32 {
  return wordsField(state, field);
}

export function hg_words_free(state: u32): void {
  freeWords(state);
}
