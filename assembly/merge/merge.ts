// Merges k sorted runs of records by (event_ts, id): turns the input of a compaction into one
// ordered list of addresses.
//
// A binary min-heap orders the runs by their next record. Each step takes the next record of the
// top run, advances this run (a record begins with its size) and sifts the run down. An exhausted
// run is replaced by the last run of the heap. Cost: at most 2 log2 k comparisons per record.
// Invariant: the records written so far are in order, and they are exactly the records below the
// top of the heap, because every run ascends.
//
// With a stop key, the merge ends at the first record that is not below this key, and the runs are
// shortened to what is left of them. So a caller can merge in steps that fit its memory.

import { R_ID, R_TIME } from '../codec/record';
import { alloc, free } from '../memory/alloc';
import { cell, get, put } from '../memory/cells';
import { BAD_ARGUMENT, OUT_OF_MEMORY } from '../status';

/**
 * Maximum number of runs, far more than the number of memtables that a table can have. Each run
 * takes 12 bytes of scratch memory.
 */
const MAX_RUNS: u32 = 1 << 20;

/**
 * Returns whether record a sorts before record b; equal keys are ordered by the number of the run.
 */
function before(a: usize, runA: u32, b: usize, runB: u32): bool {
  const timeA = load<i64>(a + R_TIME);
  const timeB = load<i64>(b + R_TIME);
  if (timeA != timeB) return timeA < timeB;
  const idA = load<i64>(a + R_ID);
  const idB = load<i64>(b + R_ID);
  return idA != idB ? idA < idB : runA < runB;
}

function siftDown(heap: usize, heads: usize, root: u32, n: u32): void {
  let parent = root;
  while (true) {
    let child = parent * 2 + 1;
    if (child >= n) return;
    const right = child + 1;
    if (right < n && lessRuns(heap, heads, right, child)) child = right;
    if (!lessRuns(heap, heads, child, parent)) return;
    const a = get<u32>(heap, parent);
    put<u32>(heap, parent, get<u32>(heap, child));
    put<u32>(heap, child, a);
    parent = child;
  }
}

function lessRuns(heap: usize, heads: usize, i: u32, j: u32): bool {
  const runA = get<u32>(heap, i);
  const runB = get<u32>(heap, j);
  return before(load<u32>(cell<u64>(heads, runA)), runA, load<u32>(cell<u64>(heads, runB)), runB);
}

/**
 * Merges `runs`, {u32 address, u32 bytes} x k. Each run is a region of checked records ascending by
 * (event_ts, id). Writes the addresses of the records with a key below (stopTime, stopId) in key
 * order at `out` (u32[capacity]). If there is a stop key, updates `runs` to describe what is left
 * of each run. Returns the number of addresses, BAD_ARGUMENT if `capacity` is too small or k too
 * large (`runs` is then unchanged), or OUT_OF_MEMORY.
 */
export function mergeRuns(runs: usize, k: u32, stopTime: i64, stopId: i64, out: usize, capacity: u32): i32 {
  if (k > MAX_RUNS) return BAD_ARGUMENT;
  const heads = alloc(k * 12 + 16);
  if (!heads) return OUT_OF_MEMORY;
  const heap = cell<u64>(heads, k);
  let live: u32 = 0;
  for (let i: u32 = 0; i < k; i++) {
    const start = load<u32>(cell<u64>(runs, i));
    const end = start + load<u32>(cell<u64>(runs, i) + 4);
    store<u32>(cell<u64>(heads, i), start);
    store<u32>(cell<u64>(heads, i) + 4, end);
    if (start < end) {
      put<u32>(heap, live, i);
      live++;
    }
  }
  for (let i = live >> 1; i > 0; i--) siftDown(heap, heads, i - 1, live);
  let count: u32 = 0;
  let stopped = false;
  while (live) {
    const run = cell<u64>(heads, load<u32>(heap));
    const record = load<u32>(run);
    stopped = !isBelow(record, stopTime, stopId);
    if (stopped || count == capacity) break;
    if (!ASC_NO_ASSERT)
      assert(
        !count || !before(record, 0, get<u32>(out, count - 1), 0),
        'merged records are in key order as each run is',
      );
    put<u32>(out, count, record);
    count++;
    const next = record + load<u32>(record);
    if (!ASC_NO_ASSERT)
      assert(next > record && next <= load<u32>(run + 4), 'the last record of a run ends where the run ends');
    store<u32>(run, next);
    if (next >= load<u32>(run + 4)) {
      live--;
      store<u32>(heap, get<u32>(heap, live));
    }
    siftDown(heap, heads, 0, live);
  }
  const isWhole = !live || stopped;
  if (isWhole && stopTime != i64.MAX_VALUE) keepRest(runs, k, heads);
  free(heads);
  return isWhole ? <i32>count : BAD_ARGUMENT;
}

function isBelow(record: usize, stopTime: i64, stopId: i64): bool {
  const time = load<i64>(record + R_TIME);
  return time != stopTime ? time < stopTime : load<i64>(record + R_ID) < stopId;
}

function keepRest(runs: usize, k: u32, heads: usize): void {
  for (let i: u32 = 0; i < k; i++) {
    const head = cell<u64>(heads, i);
    const run = cell<u64>(runs, i);
    const start = load<u32>(head);
    store<u32>(run, start);
    store<u32>(run + 4, load<u32>(head + 4) - start);
  }
}
