// The ABI of aggregates over columns. Its functions select rows, give codes to the values of a
// field, and compute figures (counts, sums, extremes) of numbers.

import { codesOf, countCodes, joinCodes, keepCodes, textsOf } from '../fold/codes';
import { FIGURES_BYTES, figuresOf } from '../fold/figures';
import { countRows, dropRows, selectRange, selectRows, selectWindow } from '../fold/selection';

/** Size in bytes of the figures of one group. */
export const HG_FIGURES_BYTES: u32 = FIGURES_BYTES;

export function hg_selection_window(out: u32, rows: u32, from: u32, to: u32): void {
  selectWindow(out, rows, from, to);
}

export function hg_selection_rows(out: u32, rows: u32, list: u32, n: u32): void {
  selectRows(out, rows, list, n);
}

export function hg_selection_drop(selection: u32, dead: u32, deaths: u32, m: u32, lsn: f64): void {
  dropRows(selection, dead, deaths, m, lsn);
}

export function hg_selection_count(selection: u32, rows: u32): u32 {
  return countRows(selection, rows);
}

export function hg_selection_keep(selection: u32, codes: u32, rows: u32, truth: u32, count: u32): void {
  keepCodes(selection, codes, rows, truth, count);
}

export function hg_segment_select(segment: u32, selection: u32, field: u32, range: u32): i32 {
  return selectRange(segment, selection, field, range);
}

export function hg_segment_codes(segment: u32, field: u32, column: u32, codes: u32, values: u32, capacity: u32): i32 {
  return codesOf(segment, field, column, codes, values, capacity);
}

export function hg_segment_texts(segment: u32, column: u32, out: u32, capacity: u32): i32 {
  return textsOf(segment, column, out, capacity);
}

export function hg_codes_join(codes: u32, more: u32, count: u32, rows: u32): void {
  joinCodes(codes, more, count, rows);
}

export function hg_codes_count(codes: u32, rows: u32, selection: u32, out: u32, count: u32): void {
  countCodes(selection, codes, rows, out, count);
}

export function hg_segment_figures(
  segment: u32,
  field: u32,
  column: u32,
  selection: u32,
  codes: u32,
  groups: u32,
  wants: u32,
  out: u32,
): i32 {
  return figuresOf(segment, field, column, selection, codes, groups, wants, out);
}
