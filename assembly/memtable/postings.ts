// The node index of a memtable: a hash table that maps each node to a chain of rows. It is built
// when first needed.
//
// Appending does not touch the index. A lookup, or a background step, first indexes the rows that
// are not yet indexed. An open-addressed table with linear probing maps a node to {last link + 1,
// row count}. The links {row, previous link + 1} of all chains share one array, so a new row adds
// one link per member at its end. Invariant: a link refers only to an older link. Therefore every
// chain ends, and following it from its head gives rows in descending order.
//
// A lookup of k nodes follows the chain of the node with the fewest rows. It keeps the rows that
// are within the key bounds, are visible at the LSN and contain all k nodes. The result is reversed
// and then sorted by key; the sort is mostly one pass for ids and one for times, because rows
// mostly arrive in key order.
//
// Example: rows 0 = {a, b} and 1 = {b, c} give link 1: row 0 (for a), 2: row 0 (for b), 3: row 1
// (for b, previous 2), 4: row 1 (for c). The chain of b is 3, 2.

import { R_COUNT, R_ID, R_MEMBERS, R_TIME, toInteger } from '../codec/record';
import { decodeMembers } from '../codec/vbyte';
import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, get, put } from '../memory/cells';
import { BAD_ARGUMENT, OUT_OF_MEMORY, tooSmall } from '../status';
import {
  growArray,
  isVisible,
  lsnOffset,
  M_CHAIN,
  M_CHAIN_CAPACITY,
  M_CHAIN_LENGTH,
  M_INCIDENCES,
  M_INDEXED,
  M_NODE_SLOTS,
  M_NODE_TABLE,
  M_NODES,
  M_ROWS,
  recordOf,
} from './layout';
import { sortByKey } from './order';

const EMPTY: i64 = i64.MIN_VALUE;
/** Initial sizes are small so that many memtables of a few rows can share an instance. */
const FIRST_SLOTS: u32 = 32;
const FIRST_LINKS: u32 = 64;
const members: usize = memory.data(255 * 8 + 16, 16);
const wanted: usize = memory.data(255 * 8 + 16, 16);

/**
 * Secret seed of the instance, so that clients who choose node ids cannot cause hash collisions.
 */
let seed: u64 = 0;
let factor: u64 = 0xbf58476d1ce4e5b9;

/** Sets the seed. Must be called before the first memtable is created. */
export function seedNodes(low: u32, high: u32): void {
  seed = ((<u64>high) << 32) | low;
  factor = (seed * 0xbf58476d1ce4e5b9) | 1;
}

function slotOf(table: usize, slots: u32, node: i64): usize {
  const mask = slots - 1;
  let hash = (<u64>node ^ seed) * 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 32)) * factor;
  hash ^= hash >> 32;
  let slot = <u32>hash & mask;
  while (true) {
    const at = table + ((<usize>slot) << 4);
    const found = load<i64>(at);
    if (found == node || found == EMPTY) return at;
    slot = (slot + 1) & mask;
  }
}

function growNodes(m: usize, more: u32): bool {
  const slots = load<u32>(m + M_NODE_SLOTS);
  const need = load<u32>(m + M_NODES) + more;
  if (need * 2 <= slots) return true;
  let next: u32 = slots ? slots * 2 : FIRST_SLOTS;
  while (next < need * 2) next *= 2;
  const table = alloc(next << 4);
  if (!table) return false;
  for (let i: u32 = 0; i < next; i++) store<i64>(table + ((<usize>i) << 4), EMPTY);
  const old = <usize>load<u32>(m + M_NODE_TABLE);
  for (let i: u32 = 0; i < slots; i++) {
    const from = old + ((<usize>i) << 4);
    if (load<i64>(from) != EMPTY) memory.copy(slotOf(table, next, load<i64>(from)), from, 16);
  }
  free(old);
  store<u32>(m + M_NODE_TABLE, <u32>table);
  store<u32>(m + M_NODE_SLOTS, next);
  return true;
}

function growChain(m: usize, more: u32): bool {
  const length = load<u32>(m + M_CHAIN_LENGTH);
  const capacity = load<u32>(m + M_CHAIN_CAPACITY);
  if (length + more <= capacity) return true;
  const next = max<u32>(
    max<u32>(FIRST_LINKS, capacity + (capacity >> 1)),
    max<u32>(length + more, load<u32>(m + M_INCIDENCES)),
  );
  if (next > 0x1fffffff || !growArray(m + M_CHAIN, bytesOf<u64>(length), bytesOf<u64>(next))) return false;
  store<u32>(m + M_CHAIN_CAPACITY, next);
  return true;
}

/**
 * Indexes at most `limit` of the rows that are not yet indexed. Returns false if out of memory; the
 * rows indexed so far stay indexed. Cost: about 50 ns per incidence, once.
 */
export function indexRows(m: usize, limit: u32): bool {
  const indexed = load<u32>(m + M_INDEXED);
  if (!ASC_NO_ASSERT) assert(indexed <= load<u32>(m + M_ROWS), 'no more rows are indexed than there are');
  const rows = indexed + min(load<u32>(m + M_ROWS) - indexed, limit);
  for (let row = indexed; row < rows; row++) {
    const record = recordOf(m, row);
    const n = <u32>load<u8>(record + R_COUNT);
    if (!growNodes(m, n) || !growChain(m, n)) return false;
    decodeMembers(record + R_MEMBERS, n, members);
    const chain = <usize>load<u32>(m + M_CHAIN);
    let length = load<u32>(m + M_CHAIN_LENGTH);
    for (let i: u32 = 0; i < n; i++) {
      const node = get<i64>(members, i);
      const slot = slotOf(load<u32>(m + M_NODE_TABLE), load<u32>(m + M_NODE_SLOTS), node);
      if (load<i64>(slot) == EMPTY) {
        store<i64>(slot, node);
        store<u64>(slot + 8, 0);
        store<u32>(m + M_NODES, load<u32>(m + M_NODES) + 1);
      }
      store<u32>(cell<u64>(chain, length), row);
      store<u32>(cell<u64>(chain, length) + 4, load<u32>(slot + 8));
      store<u32>(slot + 8, ++length);
      store<u32>(slot + 12, load<u32>(slot + 12) + 1);
    }
    if (!ASC_NO_ASSERT)
      assert(length <= load<u32>(m + M_CHAIN_CAPACITY), 'the chain has no more links than its capacity');
    if (!ASC_NO_ASSERT)
      assert(load<u32>(m + M_NODES) * 2 <= load<u32>(m + M_NODE_SLOTS), 'the node table is at most half full');
    store<u32>(m + M_CHAIN_LENGTH, length);
    store<u32>(m + M_INDEXED, row + 1);
  }
  return true;
}

/** Returns whether `record` contains all of wanted[0..k), in which a node may occur twice. */
function holdsAll(record: usize, k: u32): bool {
  const n = <u32>load<u8>(record + R_COUNT);
  decodeMembers(record + R_MEMBERS, n, members);
  for (let i: u32 = 0; i < k; i++) {
    const node = get<i64>(wanted, i);
    let found = false;
    for (let j: u32 = 0; j < n && !found; j++) found = get<i64>(members, j) == node;
    if (!found) return false;
  }
  return true;
}

/**
 * Writes k nodes to `wanted`. Returns the slot of the node with the fewest rows among them; 0 if
 * one of them is in no row.
 */
function rarest(m: usize, nodes: usize, k: u32): usize {
  let best: usize = 0;
  const slots = load<u32>(m + M_NODE_SLOTS);
  if (!slots) return 0;
  for (let i: u32 = 0; i < k; i++) {
    const node = toInteger(get<f64>(nodes, i));
    put<i64>(wanted, i, node);
    const slot = slotOf(load<u32>(m + M_NODE_TABLE), slots, node);
    if (node == EMPTY || load<i64>(slot) == EMPTY) return 0;
    if (!best || load<u32>(slot + 12) < load<u32>(best + 12)) best = slot;
  }
  return best;
}

/**
 * Lists the rows that contain all k nodes (f64[k]), have a key >= (startTime, startId) and a time
 * <= endTime, and are visible at `lsn`, in (event_ts, id) order (u32[capacity]). Returns their
 * number, BAD_ARGUMENT, OUT_OF_MEMORY, or TOO_SMALL; `hg_result_needed` then returns a sufficient
 * capacity.
 */
export function memtableLookup(
  m: usize,
  nodes: usize,
  k: u32,
  startTime: i64,
  startId: i64,
  endTime: i64,
  lsn: f64,
  out: usize,
  capacity: u32,
): i32 {
  if (!k || k > 255) return BAD_ARGUMENT;
  if (!indexRows(m, u32.MAX_VALUE)) return OUT_OF_MEMORY;
  const slot = rarest(m, nodes, k);
  if (!slot) return 0;
  if (load<u32>(slot + 12) > capacity) return tooSmall(load<u32>(slot + 12));
  const at = lsnOffset(m, lsn);
  const chain = <usize>load<u32>(m + M_CHAIN);
  let link = load<u32>(slot + 8);
  let count: u32 = 0;
  while (link) {
    if (!ASC_NO_ASSERT) assert(link <= load<u32>(m + M_CHAIN_LENGTH), 'a link lies inside of the chain');
    const entry = cell<u64>(chain, link - 1);
    if (!ASC_NO_ASSERT) assert(load<u32>(entry + 4) < link, 'a chain leads to older links');
    const row = load<u32>(entry);
    link = load<u32>(entry + 4);
    const record = recordOf(m, row);
    const time = load<i64>(record + R_TIME);
    if (time > endTime || time < startTime || (time == startTime && load<i64>(record + R_ID) < startId)) continue;
    if (!isVisible(m, row, at) || (k > 1 && !holdsAll(record, k))) continue;
    if (!ASC_NO_ASSERT) assert(count < capacity, 'a node has no more rows than it counts');
    put<u32>(out, count, row);
    count++;
  }
  for (let i: u32 = 0, j = count; i + 1 < j; i++) {
    j--;
    const swap = get<u32>(out, i);
    put<u32>(out, i, get<u32>(out, j));
    put<u32>(out, j, swap);
  }
  return sortByKey(m, out, count) ? <i32>count : OUT_OF_MEMORY;
}

/**
 * Writes the distinct nodes of all rows (f64, in no particular order), at most `capacity`; returns
 * their total number, or OUT_OF_MEMORY.
 */
export function memtableNodes(m: usize, out: usize, capacity: u32): i32 {
  if (!indexRows(m, u32.MAX_VALUE)) return OUT_OF_MEMORY;
  const slots = load<u32>(m + M_NODE_SLOTS);
  const table = <usize>load<u32>(m + M_NODE_TABLE);
  let written: u32 = 0;
  for (let i: u32 = 0; i < slots && written < capacity; i++) {
    const node = load<i64>(table + ((<usize>i) << 4));
    if (node == EMPTY) continue;
    put<f64>(out, written, <f64>node);
    written++;
  }
  return <i32>load<u32>(m + M_NODES);
}
