// Copies columns of rows, consecutive or listed, in loops that access only the values.

import { HG_TYPE_REAL } from '../limits';
import { bytesOf, cell, get, put } from '../memory/cells';
import { C_DATA, C_NULLS, C_TYPE, C_WIDTH } from './columns';
import {
  packed,
  S_ID_MIN,
  S_ID_WIDTH,
  S_IDS,
  S_MEMBERS,
  S_NODE_IDS,
  S_NODE_MIN,
  S_NODE_WIDTH,
  S_ORDINAL_WIDTH,
  S_SIZES,
  S_TIME_MIN,
  S_TIME_WIDTH,
  S_TIMES,
} from './layout';
import { firstIncidence, rowSize } from './reader';

/** Converts n packed integers, from row `first` on, to f64. */
function copyPacked<T>(data: usize, first: u32, n: u32, least: f64, out: usize): void {
  const from = cell<T>(data, first);
  for (let i: usize = 0; i < n; i++) put<f64>(out, i, least + <f64>get<T>(from, i));
}

/**
 * Same as `copyPacked`, for `least` and packed values that may exceed the precision of a double.
 * Their sums are safe integers.
 */
function copyWide(data: usize, first: u32, n: u32, least: i64, out: usize): void {
  const from = cell<u64>(data, first);
  for (let i: usize = 0; i < n; i++) put<f64>(out, i, <f64>(least + get<i64>(from, i)));
}

function copyIntegers(data: usize, width: u32, first: u32, n: u32, least: i64, out: usize): void {
  if (width == 1) copyPacked<u8>(data, first, n, <f64>least, out);
  else if (width == 2) copyPacked<u16>(data, first, n, <f64>least, out);
  else if (width == 4) copyPacked<u32>(data, first, n, <f64>least, out);
  else copyWide(data, first, n, least, out);
}

export function copyTimes(s: usize, first: u32, n: u32, out: usize): void {
  const times = <usize>load<u32>(s + S_TIMES);
  copyIntegers(times, load<u32>(s + S_TIME_WIDTH), first, n, load<i64>(s + S_TIME_MIN), out);
}

/**
 * Converts the packed integers of the rows u32[n] to f64. Most of the time is spent on cache
 * misses, and a short loop lets the processor wait for several of them at once: a statement for the
 * edges of a node takes 10 to 15 % less time than with `packed` for each row.
 */
function gatherPacked<T>(data: usize, rows: usize, n: u32, least: f64, out: usize): void {
  for (let i: usize = 0; i < n; i++) put<f64>(out, i, least + <f64>get<T>(data, get<u32>(rows, i)));
}

/** Same as `gatherPacked`, for values like those of `copyWide`. */
function gatherWide(data: usize, rows: usize, n: u32, least: i64, out: usize): void {
  for (let i: usize = 0; i < n; i++) put<f64>(out, i, <f64>(least + get<i64>(data, get<u32>(rows, i))));
}

function gatherIntegers(data: usize, width: u32, rows: usize, n: u32, least: i64, out: usize): void {
  if (width == 1) gatherPacked<u8>(data, rows, n, <f64>least, out);
  else if (width == 2) gatherPacked<u16>(data, rows, n, <f64>least, out);
  else if (width == 4) gatherPacked<u32>(data, rows, n, <f64>least, out);
  else gatherWide(data, rows, n, least, out);
}

/** Writes the times of the rows u32[n] as f64[n]. */
export function gatherTimes(s: usize, rows: usize, n: u32, out: usize): void {
  const times = <usize>load<u32>(s + S_TIMES);
  gatherIntegers(times, load<u32>(s + S_TIME_WIDTH), rows, n, load<i64>(s + S_TIME_MIN), out);
}

/** Writes the ids of the rows u32[n] as f64[n]. */
export function gatherIds(s: usize, rows: usize, n: u32, out: usize): void {
  const width = load<u32>(s + S_ID_WIDTH);
  const least = load<i64>(s + S_ID_MIN);
  if (width) gatherIntegers(load<u32>(s + S_IDS), width, rows, n, least, out);
  else for (let i: usize = 0; i < n; i++) put<f64>(out, i, <f64>(least + <i64>get<u32>(rows, i)));
}

export function copySizes(s: usize, first: u32, n: u32, out: usize): void {
  const sizes = <usize>load<u32>(s + S_SIZES) + first;
  for (let i: usize = 0; i < n; i++) put<u32>(out, i, <u32>load<u8>(sizes + i));
}

/** Writes the members of n consecutive rows; returns the end address. */
export function copyMembers(s: usize, first: u32, n: u32, out: usize): usize {
  const from = firstIncidence(s, first);
  const count = firstIncidence(s, first + n - 1) + rowSize(s, first + n - 1) - from;
  const members = <usize>load<u32>(s + S_MEMBERS);
  if (load<u32>(s + S_ORDINAL_WIDTH) == 2) copyNodes<u16>(s, cell<u16>(members, from), count, out);
  else copyNodes<u32>(s, cell<u32>(members, from), count, out);
  return cell<u64>(out, count);
}

function copyNodes<T>(s: usize, ordinals: usize, count: u32, out: usize): void {
  const nodes = <usize>load<u32>(s + S_NODE_IDS);
  const width = load<u32>(s + S_NODE_WIDTH);
  const least = load<i64>(s + S_NODE_MIN);
  for (let i: usize = 0; i < count; i++) {
    const ordinal = <u32>get<T>(ordinals, i);
    const node = width == 4 ? <u64>get<u32>(nodes, ordinal) : packed(nodes, width, ordinal);
    put<f64>(out, i, <f64>(least + <i64>node));
  }
}

/** Writes u8[n]: 1 for each row without a value, 0 for the others. */
export function markAbsent(cursor: usize, first: u32, n: u32, out: usize): void {
  const nulls = <usize>load<u32>(cursor + C_NULLS);
  if (!nulls) {
    memory.fill(out, 0, n);
    return;
  }
  for (let i: u32 = 0; i < n; i++) {
    const row = first + i;
    store<u8>(out + i, ((load<u8>(nulls + (row >> 3)) >> <u8>(row & 7)) & 1) ^ 1);
  }
}

/** Writes the values of a column of reals or integers. Writes an arbitrary number for a null. */
export function copyNumbers(cursor: usize, first: u32, n: u32, out: usize): void {
  const data = <usize>load<u32>(cursor + C_DATA);
  const width = load<u32>(cursor + C_WIDTH);
  if (load<u32>(cursor + C_TYPE) != HG_TYPE_REAL) copyIntegers(data + 8, width, first, n, load<i64>(data), out);
  else if (width == 8) memory.copy(out, cell<u64>(data, first), bytesOf<u64>(n));
  else {
    const from = cell<u32>(data, first);
    for (let i: usize = 0; i < n; i++) put<f64>(out, i, <f64>get<f32>(from, i));
  }
}
