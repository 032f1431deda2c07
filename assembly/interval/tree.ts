// The tree of the ends of a segment's intervals: finds the rows whose interval goes on after a time
// without reading the others.
//
// Level 0 has one entry for every 16 rows in row order: the greatest end among them, where null is
// above every time. Each further level has one entry for every 16 entries of the level below, up to
// a single entry at the top. Rows are in the order of their beginnings, so those that hold at t are
// the rows before a position (event_ts <= t) whose end is above t; a block of 16^k rows without
// such an end is passed in one step. This is a static priority search tree (McCreight 1985) with a
// large fan-out and no pointers.
//
// Cost of a search that finds n rows: at most 4 levels x 16 entries for each of them, so O(n) steps
// with blocks of 8 bytes. The tree takes half a byte a row.

import { findProperty } from '../codec/record';
import { HG_TYPE_INTEGER } from '../limits';
import { cell, get, put } from '../memory/cells';
import { M_ROWS, recordOf } from '../memtable/layout';
import { C_TYPE, hasValue, integerValue, openColumn, STATE_VALUES } from '../segment/columns';
import {
  E_COLUMN,
  E_COUNT,
  E_OFFSET,
  findEntry,
  H_ENDS,
  H_TIME_MAX,
  H_VERSION,
  K_INTERVAL,
  ROLES_VERSION,
  S_BASE,
  S_ROWS,
} from '../segment/layout';
import { planSection } from '../segment/writer';

/** The end of an interval that has none. */
const NO_END: i64 = i64.MAX_VALUE;
const FAN_BITS: u32 = 4;
const FAN: u32 = 1 << FAN_BITS;
/** 65,536 rows need four levels. */
const MOST_LEVELS: u32 = 4;

const cursor: usize = memory.data(32, 16);
/** u32 per level: the index of its first entry. */
const levels: usize = memory.data(16, 16);

function above(items: u32): u32 {
  return (items + FAN - 1) >> FAN_BITS;
}

/** Sets where the levels begin; returns the number of entries. */
function layLevels(rows: u32): u32 {
  let entries: u32 = 0;
  let level: u32 = 0;
  let items = rows;
  do {
    items = above(items);
    put<u32>(levels, level, entries);
    entries += items;
    level++;
  } while (items > 1);
  if (!ASC_NO_ASSERT) assert(level <= MOST_LEVELS, 'a segment has few levels');
  for (; level < MOST_LEVELS; level++) put<u32>(levels, level, entries);
  return entries;
}

export function treeEntries(rows: u32): u32 {
  return layLevels(rows);
}

/** Plans the section for the ends in `column`, which must follow the column itself. */
export function planTree(plan: usize, column: u32, rows: u32): void {
  const entries = layLevels(rows);
  planSection(plan, K_INTERVAL, column, HG_TYPE_INTEGER, 8, 0, entries * 8, entries);
}

function endOf(row: u32): i64 {
  return hasValue(cursor, row) ? integerValue(cursor, row) : NO_END;
}

/** Returns the value that entry `index` of the tree at `tree` must have. Columns are opened. */
function greatestOf(tree: usize, index: u32, rows: u32, entries: u32): i64 {
  let level: u32 = 0;
  while (level + 1 < MOST_LEVELS && index >= get<u32>(levels, level + 1)) level++;
  const place = (index - get<u32>(levels, level)) << FAN_BITS;
  let greatest = i64.MIN_VALUE;
  if (!level) {
    const to = min(place + FAN, rows);
    for (let row = place; row < to; row++) greatest = max(greatest, endOf(row));
    return greatest;
  }
  const below = get<u32>(levels, level - 1);
  const to = min(below + place + FAN, get<u32>(levels, level));
  if (!ASC_NO_ASSERT) assert(to <= entries, 'the entries of a level are in the tree');
  for (let child = below + place; child < to; child++) greatest = max(greatest, get<i64>(tree, child));
  return greatest;
}

/** Returns the distance from the greatest time to the greatest end, rounded up. */
function distance(end: i64, time: i64): f32 {
  if (end == NO_END) return Infinity;
  const exact = max<i64>(end - time, 0);
  const near = <f32>exact;
  return <i64>near >= exact ? near : reinterpret<f32>(reinterpret<u32>(near) + 1);
}

/** Fills the planned section from the column of the file, and sets the header's fields. */
export function fillTree(file: usize, entry: usize, rows: u32): void {
  openColumn(file, rows, <u32>load<u16>(entry + E_COLUMN), cursor);
  const entries = layLevels(rows);
  const tree = file + load<u32>(entry + E_OFFSET);
  for (let i: u32 = 0; i < entries; i++) put<i64>(tree, i, greatestOf(tree, i, rows, entries));
  store<u32>(file + H_VERSION, ROLES_VERSION);
  store<f32>(file + H_ENDS, distance(get<i64>(tree, entries - 1), load<i64>(file + H_TIME_MAX)));
}

/**
 * Checks entries [from, to) of the section; returns whether they are right. The column must have
 * been checked. With the last entry, the header is checked too.
 */
export function checkTree(base: usize, entry: usize, rows: u32, from: u32, to: u32): bool {
  openColumn(base, rows, <u32>load<u16>(entry + E_COLUMN), cursor);
  const entries = layLevels(rows);
  const tree = base + load<u32>(entry + E_OFFSET);
  for (let i = from; i < to; i++) if (get<i64>(tree, i) != greatestOf(tree, i, rows, entries)) return false;
  if (to < entries) return true;
  return load<f32>(base + H_ENDS) == distance(get<i64>(tree, entries - 1), load<i64>(base + H_TIME_MAX));
}

/**
 * Writes the rows of [from, to) whose value in `column` is above `time` or null, ascending, to
 * `out` (u32, room for to - from rows). Returns their number: 0 if the values are not integers.
 * Without the section, every row is read.
 */
export function stab(s: usize, column: u32, time: i64, from: u32, to: u32, out: usize): u32 {
  const base = <usize>load<u32>(s + S_BASE);
  const rows = load<u32>(s + S_ROWS);
  const state = openColumn(base, rows, column, cursor);
  if (state == STATE_VALUES && load<u32>(cursor + C_TYPE) != HG_TYPE_INTEGER) return 0;
  const entry = findEntry(base, K_INTERVAL, column);
  const end = min(to, rows);
  let n: u32 = 0;
  if (!entry || state != STATE_VALUES) {
    for (let row = from; row < end; row++) if (endOf(row) > time) put<u32>(out, n++, row);
    return n;
  }
  const entries = layLevels(rows);
  if (!ASC_NO_ASSERT) assert(entries == load<u32>(entry + E_COUNT), 'the tree has the entries of its rows');
  const tree = base + load<u32>(entry + E_OFFSET);
  let row = from;
  while (row < end) {
    if (get<i64>(tree, row >> FAN_BITS) > time) {
      const behind = min(end, ((row >> FAN_BITS) + 1) << FAN_BITS);
      for (; row < behind; row++) if (endOf(row) > time) put<u32>(out, n++, row);
    } else row = behindBlock(tree, row, time, entries);
  }
  return n;
}

/**
 * Returns the row after the largest block around `row` that has no end above `time`. The block of
 * level 0 has none.
 */
function behindBlock(tree: usize, row: u32, time: i64, entries: u32): u32 {
  let bits = FAN_BITS;
  for (let level: u32 = 1; level < MOST_LEVELS && get<u32>(levels, level) < entries; level++) {
    if (get<i64>(tree, get<u32>(levels, level) + (row >> (bits + FAN_BITS))) > time) break;
    bits += FAN_BITS;
  }
  return ((row >> bits) + 1) << bits;
}

/**
 * Returns the greatest end among the rows of a memtable from number `from` on, in the order in
 * which they were appended, dead ones included: Infinity if one has no end, -Infinity if there is
 * no row. Cost: a scan of each record's properties up to the column.
 */
export function greatestEnd(m: usize, column: u32, from: u32): f64 {
  const rows = load<u32>(m + M_ROWS);
  let greatest = i64.MIN_VALUE;
  for (let row = from; row < rows; row++) {
    const property = findProperty(recordOf(m, row), column);
    if (!property || <u32>load<u8>(property + 2) != HG_TYPE_INTEGER) return Infinity;
    greatest = max(greatest, load<i64>(property + 4));
  }
  return greatest == i64.MIN_VALUE ? -Infinity : <f64>greatest;
}
