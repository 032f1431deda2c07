// Joins rows that share at least s >= 3 items, by a depth-first search over the sets of s - 1 items
// that several rows contain (like Eclat; Zaki 2000).
//
// Items are chosen in ascending order. Each level of the search has a list of the rows that contain
// all items chosen so far, each with the place after the last chosen item in that row. To go one
// level deeper, the rows of a list are distributed into buckets, one for each possible next item
// that at least two of these rows contain. Each bucket becomes the list of a next level. Once s - 1
// items are chosen, one pass over the remaining items of the listed rows joins all rows that share
// any of these items. Every set of s common items is found in this way, from its s - 1 least items.
//
// A list whose rows are already in one component cannot join anything, so it is skipped with all
// levels below it. So the search mostly visits only a small part of the sets of s - 1 items.
//
// Example, s = 3: rows {1,2,3,5} and {1,3,5} are both in the list of item 1, then both in the
// bucket of item 3, and are joined by item 5.

import { after, bytesOf, cell, get, put } from '../memory/cells';
import { TOO_SMALL, tooSmall } from '../status';
import { rootOf } from './components';
import { ITEM_STEPS, markItems } from './shared-items';

// Offsets of the fields, each a u32, in the block of `hg_components_subsets` (README.md).
const B_ROW_STARTS: usize = 0;
const B_ROW_ITEMS: usize = 4;
const B_ITEM_STARTS: usize = 8;
const B_ITEM_ROWS: usize = 12;
const B_ITEMS: usize = 16;
const B_LEAST: usize = 20;
const B_CURSORS: usize = 24;
const B_MARKS: usize = 28;
const B_PARENTS: usize = 32;
const B_FRAMES: usize = 36;
const B_ARENA: usize = 40;
const B_CAPACITY: usize = 44;
// State, all zero at first: the next item to choose as the first one, the number of chosen items,
// the last stamp, and 1 if the list of the last frame has not been opened yet.
const B_NEXT: usize = 48;
const B_DEPTH: usize = 52;
const B_STAMP: usize = 56;
const B_CLOSED: usize = 60;
export const SUBSETS_BLOCK_BYTES: u32 = 64;

// There is one frame per chosen item. Its fields are indexes of u64 entries in the arena. The list
// of the frame is the entries [F_FROM, F_TO): {u32 row, u32 index, in the items of all rows, after
// the chosen item of this row}.
const F_FROM: usize = 0;
const F_TO: usize = 4;
// The buckets of the frame, one per possible next item: the entries [F_BUCKET, F_BUCKETS_END)
// contain the ends of the buckets that have not been visited, and the first of these buckets begins
// at F_AT.
const F_BUCKET: usize = 8;
const F_BUCKETS_END: usize = 12;
const F_AT: usize = 16;
// First entry after everything that belongs to the frame.
const F_TOP: usize = 20;
export const SUBSETS_FRAME_BYTES: u32 = 24;

function frameAt(block: usize, depth: u32): usize {
  return <usize>load<u32>(block, B_FRAMES) + <usize>((depth - 1) * SUBSETS_FRAME_BYTES);
}

function entryAt(arena: usize, place: u32): usize {
  return cell<u64>(arena, place);
}

/** Returns the end of a row's items. */
function endOf(block: usize, row: u32): u32 {
  return after<u32>(load<u32>(block, B_ROW_STARTS), row);
}

/**
 * Returns whether the rows of a list are in more than one component. If they are not, no level
 * below can join anything.
 */
function isOpen(block: usize, from: u32, to: u32): bool {
  if (to - from < 2) return false;
  const arena = <usize>load<u32>(block, B_ARENA);
  const parents = <usize>load<u32>(block, B_PARENTS);
  const root = rootOf(parents, load<u32>(entryAt(arena, from)));
  for (let place = from + 1; place < to; place++) {
    if (rootOf(parents, load<u32>(entryAt(arena, place))) != root) return true;
  }
  return false;
}

function pushFrame(block: usize, depth: u32, from: u32, to: u32, top: u32): void {
  const frame = frameAt(block, depth);
  store<u32>(frame, from, F_FROM);
  store<u32>(frame, to, F_TO);
  store<u32>(frame, top, F_TOP);
  store<u32>(block, depth, B_DEPTH);
  store<u32>(block, 1, B_CLOSED);
}

function popFrame(block: usize): void {
  store<u32>(block, load<u32>(block, B_DEPTH) - 1, B_DEPTH);
  store<u32>(block, 0, B_CLOSED);
}

/** Returns a stamp that no mark has; the stamp after it is unused too. */
function nextStamp(block: usize): u32 {
  let stamp = load<u32>(block, B_STAMP);
  if (stamp > 0xfffffff0) {
    memory.fill(load<u32>(block, B_MARKS), 0, bytesOf<u64>(load<u32>(block, B_ITEMS)));
    stamp = 0;
  }
  store<u32>(block, stamp + 2, B_STAMP);
  return stamp + 1;
}

/**
 * Chooses the first item of a search: lists those of its rows that have enough later items. The
 * caller has made sure that the rows fit in the arena.
 */
function firstItem(block: usize, start: usize, end: usize): void {
  const arena = <usize>load<u32>(block, B_ARENA);
  const cursors = <usize>load<u32>(block, B_CURSORS);
  const least = load<u32>(block, B_LEAST);
  let top: u32 = 0;
  for (let at = start; at < end; at += 4) {
    const row = load<u32>(at);
    const next = get<u32>(cursors, row) + 1;
    put<u32>(cursors, row, next);
    if (endOf(block, row) - next + 1 < least) continue;
    store<u32>(entryAt(arena, top), row);
    store<u32>(entryAt(arena, top), next, 4);
    top++;
  }
  if (isOpen(block, 0, top)) pushFrame(block, 1, 0, top, top);
}

/**
 * Handles a list for which s - 1 items are chosen: joins the rows of the list that share any
 * further item. Returns the work done.
 */
function finishList(block: usize, frame: usize): u64 {
  const rowItems = <usize>load<u32>(block, B_ROW_ITEMS);
  const arena = <usize>load<u32>(block, B_ARENA);
  const stamp = nextStamp(block);
  const to = load<u32>(frame, F_TO);
  let done: u64 = 1;
  for (let place = load<u32>(frame, F_FROM); place < to; place++) {
    const row = load<u32>(entryAt(arena, place));
    const from = load<u32>(entryAt(arena, place), 4);
    const end = endOf(block, row);
    done += ITEM_STEPS + <u64>(end - from);
    markItems(
      cell<u32>(rowItems, from),
      cell<u32>(rowItems, end),
      row,
      stamp,
      load<u32>(block, B_MARKS),
      load<u32>(block, B_PARENTS),
    );
  }
  popFrame(block);
  return done;
}

/**
 * Distributes the rows of the frame's list into a bucket for each possible next item that at least
 * two of them contain. Returns the work done. If the arena has no space, calls `tooSmall` and
 * returns 0; the call can then be repeated.
 */
function openList(block: usize, frame: usize, depth: u32): u64 {
  const rowItems = <usize>load<u32>(block, B_ROW_ITEMS);
  const arena = <usize>load<u32>(block, B_ARENA);
  const marks = <usize>load<u32>(block, B_MARKS);
  const rest = load<u32>(block, B_LEAST) - depth - 1; // items that must follow the next one
  const stamp = nextStamp(block);
  const to = load<u32>(frame, F_TO);
  let entries: u64 = 0;
  let buckets: u64 = 0;
  let done: u64 = 1;
  for (let place = load<u32>(frame, F_FROM); place < to; place++) {
    const last = cell<u32>(rowItems, endOf(block, load<u32>(entryAt(arena, place))) - rest);
    let at = cell<u32>(rowItems, load<u32>(entryAt(arena, place), 4));
    done += ITEM_STEPS + <u64>((last - at) >> 2);
    for (; at < last; at += 4) {
      const mark = cell<u64>(marks, load<u32>(at));
      const count: u32 = load<u32>(mark) == stamp ? load<u32>(mark, 4) + 1 : 1;
      store<u32>(mark, stamp);
      store<u32>(mark, count, 4);
      buckets += u64(count == 2);
      entries += u64(count == 2) + u64(count > 1);
    }
  }
  const needed = <u64>load<u32>(frame, F_TOP) + buckets + entries;
  if (needed > <u64>load<u32>(block, B_CAPACITY)) {
    tooSmall(<u32>min<u64>(needed, u32.MAX_VALUE));
    return 0;
  }
  fillBuckets(block, frame, <u32>buckets, rest, stamp);
  return done * 2;
}

/**
 * Performs the second pass of `openList`. A mark with `stamp` contains the item's count; a mark
 * with `stamp + 1` contains the place of the item's next entry.
 */
function fillBuckets(block: usize, frame: usize, buckets: u32, rest: u32, stamp: u32): void {
  const rowItems = <usize>load<u32>(block, B_ROW_ITEMS);
  const arena = <usize>load<u32>(block, B_ARENA);
  const marks = <usize>load<u32>(block, B_MARKS);
  const to = load<u32>(frame, F_TO);
  let bucket = load<u32>(frame, F_TOP);
  let top = bucket + buckets;
  store<u32>(frame, bucket, F_BUCKET);
  store<u32>(frame, top, F_BUCKETS_END);
  store<u32>(frame, top, F_AT);
  for (let place = load<u32>(frame, F_FROM); place < to; place++) {
    const row = load<u32>(entryAt(arena, place));
    const last = endOf(block, row) - rest;
    for (let next = load<u32>(entryAt(arena, place), 4); next < last; ) {
      const mark = cell<u64>(marks, get<u32>(rowItems, next));
      next++;
      if (load<u32>(mark) == stamp) {
        const count = load<u32>(mark, 4);
        if (count < 2) continue;
        store<u32>(mark, stamp + 1);
        store<u32>(mark, top, 4);
        top += count;
        store<u32>(entryAt(arena, bucket), top);
        bucket++;
      }
      const entry = load<u32>(mark, 4);
      store<u32>(mark, entry + 1, 4);
      store<u32>(entryAt(arena, entry), row);
      store<u32>(entryAt(arena, entry), next, 4);
    }
  }
  store<u32>(frame, top, F_TOP);
}

/** Continues with the frame's next bucket, or with the parent frame. Returns the work done. */
function nextBucket(block: usize, frame: usize, depth: u32): u64 {
  const bucket = load<u32>(frame, F_BUCKET);
  if (bucket == load<u32>(frame, F_BUCKETS_END)) {
    popFrame(block);
    return 1;
  }
  const from = load<u32>(frame, F_AT);
  const to = load<u32>(entryAt(load<u32>(block, B_ARENA), bucket));
  store<u32>(frame, bucket + 1, F_BUCKET);
  store<u32>(frame, to, F_AT);
  if (isOpen(block, from, to)) pushFrame(block, depth + 1, from, to, load<u32>(frame, F_TOP));
  return 1 + ITEM_STEPS * <u64>(to - from);
}

/**
 * Performs about `work` further steps. Returns the number of first items left (at least 1), 0 when
 * finished, or TOO_SMALL if the arena's capacity (in u64) is too small.
 */
export function joinBySubsets(block: usize, work: u32): i32 {
  const items = load<u32>(block, B_ITEMS);
  const itemStarts = <usize>load<u32>(block, B_ITEM_STARTS);
  const itemRows = <usize>load<u32>(block, B_ITEM_ROWS);
  let done: u64 = 0;
  while (done <= work) {
    const depth = load<u32>(block, B_DEPTH);
    if (!depth) {
      const item = load<u32>(block, B_NEXT);
      if (item == items) return 0;
      const from = get<u32>(itemStarts, item);
      const to = after<u32>(itemStarts, item);
      if (to - from > load<u32>(block, B_CAPACITY)) return tooSmall(to - from);
      firstItem(block, cell<u32>(itemRows, from), cell<u32>(itemRows, to));
      store<u32>(block, item + 1, B_NEXT);
      done += 1 + ITEM_STEPS * <u64>(to - from);
      continue;
    }
    const frame = frameAt(block, depth);
    if (!load<u32>(block, B_CLOSED)) done += nextBucket(block, frame, depth);
    else if (depth == load<u32>(block, B_LEAST) - 1) done += finishList(block, frame);
    else {
      const steps = openList(block, frame, depth);
      if (!steps) return TOO_SMALL;
      store<u32>(block, 0, B_CLOSED);
      done += steps;
    }
  }
  return <i32>max<u32>(1, items - load<u32>(block, B_NEXT));
}
