// Builds a segment file from records in (event_ts, id) order.
//
// A first pass over the records determines sizes and value bounds. These give the widths of the
// packed columns. Then all incidences are listed in row order as (node - least node, index of the
// incidence) and radix sorted by node. One pass over the sorted list writes the dictionary (each
// new node gets the next ordinal), the member column (the ordinal is stored at the index of the
// incidence) and the posting lists (the row of each incidence). It also collects the node ids for
// the Bloom filter. The sort is stable and its input is in row order, so every posting list ascends
// by row without a further sort.
//
// All sections are planned, with their sizes, before the file is allocated once and filled. The
// checksums are computed last.
//
// Example: rows 0 = {5, 9} and 1 = {5} give the sorted incidences (5, row 0), (5, row 1), (9, row
// 0). The dictionary is [5, 9], the members are [0, 1 | 0] and the postings [0, 1 | 0].

import { R_COUNT, R_ID, R_MEMBERS, R_TIME } from '../codec/record';
import { decodeMembers } from '../codec/vbyte';
import { filterBuild, filterBytes } from '../fmi/filter';
import { fillTree } from '../interval/tree';
import { HG_MAX_SEGMENT_ROWS, HG_TYPE_BOOLEAN, HG_TYPE_REAL } from '../limits';
import { alloc, free } from '../memory/alloc';
import { cell, element, get, put } from '../memory/cells';
import { bitsOf, radixSort } from '../memory/radix';
import { BAD_ARGUMENT, OUT_OF_MEMORY, setPointer } from '../status';
import { fillColumn, fillOrder, planColumn } from './build-columns';
import {
  BLOCK_BYTES,
  E_COLUMN,
  E_KIND,
  ENTRY_BYTES,
  FIRST_VERSION,
  floorDivide,
  H_BUCKET_SECONDS,
  H_BUCKETS,
  H_BYTES,
  H_FIRST_ID,
  H_ID_MAX,
  H_ID_MIN,
  H_ID_WIDTH,
  H_INCIDENCES,
  H_LAST_ID,
  H_MAX_SIZE,
  H_NODE_MAX,
  H_NODE_MIN,
  H_NODE_WIDTH,
  H_NODES,
  H_ORDINAL_WIDTH,
  H_ROWS,
  H_SECTIONS,
  H_TABLE,
  H_TIME_MAX,
  H_TIME_MIN,
  H_TIME_WIDTH,
  H_VERSION,
  HEADER_BYTES,
  K_BLOCKS,
  K_COLUMN,
  K_FILTER,
  K_IDS,
  K_INTERVAL,
  K_MEMBERS,
  K_NODES,
  K_POSTING_OFFSETS,
  K_POSTINGS,
  K_PSI,
  K_ROLES,
  K_SIZES,
  K_TEXT,
  K_TIMES,
  MAGIC,
  ROLES_VERSION,
  sectionOf,
  storePacked,
  TEXT_VERSION,
} from './layout';
import { fillRoles, haveRoles } from './roles';
import { allocateFile, layOut, MAX_SECTIONS, planSection, seal } from './writer';

/** Counts and bounds of the records and their members, at fixed offsets in one static block. */
const facts: usize = memory.data(128, 16);
const F_INCIDENCES: usize = 0;
const F_MAX_SIZE: usize = 4;
const F_BUCKETS: usize = 8;
const F_NODES: usize = 12;
const F_ID_MIN: usize = 16;
const F_ID_MAX: usize = 24;
const F_NODE_MIN: usize = 32;
const F_NODE_MAX: usize = 40;
const F_CONSECUTIVE: usize = 48;
const F_ROLES: usize = 52;

function recordAt(records: usize, row: u32): usize {
  return <usize>get<u32>(records, row);
}

/**
 * Performs the first pass: computes sums and bounds, and checks the order. Returns false if the
 * records are not strictly ascending by (event_ts, id).
 */
function survey(records: usize, rows: u32, bucketSeconds: i64): bool {
  let incidences: u32 = 0;
  let maxSize: u32 = 0;
  let buckets: u32 = 0;
  let bucketEnd = i64.MIN_VALUE;
  let previousTime = i64.MIN_VALUE;
  let previousId = i64.MIN_VALUE;
  let idMin = i64.MAX_VALUE;
  let idMax = i64.MIN_VALUE;
  let consecutive: u32 = 1;
  for (let row: u32 = 0; row < rows; row++) {
    const record = recordAt(records, row);
    const time = load<i64>(record + R_TIME);
    const id = load<i64>(record + R_ID);
    if (time < previousTime || (time == previousTime && id <= previousId)) return false;
    if (row && id != previousId + 1) consecutive = 0;
    previousTime = time;
    previousId = id;
    if (time >= bucketEnd) {
      buckets++;
      bucketEnd = (floorDivide(time, bucketSeconds) + 1) * bucketSeconds;
    }
    idMin = min(idMin, id);
    idMax = max(idMax, id);
    const size = <u32>load<u8>(record + R_COUNT);
    incidences += size;
    maxSize = max(maxSize, size);
  }
  if (!ASC_NO_ASSERT)
    assert(incidences >= rows && buckets <= rows && buckets > 0, 'each row has members, and a bucket has a row');
  store<u32>(facts + F_INCIDENCES, incidences);
  store<u32>(facts + F_MAX_SIZE, maxSize);
  store<u32>(facts + F_BUCKETS, buckets);
  store<i64>(facts + F_ID_MIN, idMin);
  store<i64>(facts + F_ID_MAX, idMax);
  store<u32>(facts + F_CONSECUTIVE, consecutive);
  store<u32>(facts + F_ROLES, u32(haveRoles(records, rows)));
  return true;
}

/**
 * Fills keys (u64: node - least node) and indexes (u32) for all incidences in row order, and stores
 * the bounds of the node ids.
 */
function gatherIncidences(records: usize, rows: u32, keys: usize, indexes: usize): void {
  let at: u32 = 0;
  let least = i64.MAX_VALUE;
  let greatest = i64.MIN_VALUE;
  for (let row: u32 = 0; row < rows; row++) {
    const record = recordAt(records, row);
    const n = <u32>load<u8>(record + R_COUNT);
    decodeMembers(record + R_MEMBERS, n, cell<u64>(keys, at));
    least = min(least, get<i64>(keys, at));
    greatest = max(greatest, get<i64>(keys, at + n - 1));
    at += n;
  }
  if (!ASC_NO_ASSERT) assert(at == load<u32>(facts + F_INCIDENCES), 'both passes find the same incidences');
  for (let i: u32 = 0; i < at; i++) {
    const key = cell<u64>(keys, i);
    if (!ASC_NO_ASSERT)
      assert(load<i64>(key) >= least && load<i64>(key) <= greatest, 'a member is within the bounds of its segment');
    store<u64>(key, <u64>(load<i64>(key) - least));
    put<u32>(indexes, i, i);
  }
  store<i64>(facts + F_NODE_MIN, least);
  store<i64>(facts + F_NODE_MAX, greatest);
}

function countDistinct(keys: usize, n: u32): u32 {
  if (!ASC_NO_ASSERT) assert(get<u64>(keys, 0) <= get<u64>(keys, n - 1), 'incidences are sorted by node');
  let count: u32 = 1;
  for (let i: u32 = 1; i < n; i++) count += u32(get<u64>(keys, i) != get<u64>(keys, i - 1));
  return count;
}

function timeWidth(records: usize, rows: u32): u32 {
  const range = <u64>(load<i64>(recordAt(records, rows - 1) + R_TIME) - load<i64>(recordAt(records, 0) + R_TIME));
  return range <= 0xffffffff ? 4 : 8;
}

function idWidth(): u32 {
  if (load<u32>(facts + F_CONSECUTIVE)) return 0;
  const range = <u64>(load<i64>(facts + F_ID_MAX) - load<i64>(facts + F_ID_MIN));
  return range <= 0xffff ? 2 : range <= 0xffffffff ? 4 : 8;
}

function nodeWidth(): u32 {
  return <u64>(load<i64>(facts + F_NODE_MAX) - load<i64>(facts + F_NODE_MIN)) <= 0xffffffff ? 4 : 8;
}

function planFixed(plan: usize, records: usize, rows: u32): void {
  const incidences = load<u32>(facts + F_INCIDENCES);
  const nodes = load<u32>(facts + F_NODES);
  const blocks = ((rows + 63) >> 6) + 1;
  planSection(plan, K_BLOCKS, 0, 0, 16, 0, blocks * <u32>BLOCK_BYTES, blocks);
  planSection(plan, K_TIMES, 0, 0, timeWidth(records, rows), 0, rows * timeWidth(records, rows), rows);
  planSection(plan, K_IDS, 0, 0, idWidth(), 0, rows * idWidth(), rows);
  planSection(plan, K_SIZES, 0, 0, 1, 0, rows, rows);
  planSection(plan, K_MEMBERS, 0, 0, nodes <= 65536 ? 2 : 4, 0, incidences * (nodes <= 65536 ? 2 : 4), incidences);
  planSection(plan, K_NODES, 0, 0, nodeWidth(), 0, nodes * nodeWidth(), nodes);
  planSection(plan, K_POSTING_OFFSETS, 0, 0, 4, 0, (nodes + 1) * 4, nodes + 1);
  planSection(plan, K_POSTINGS, 0, 0, 2, 0, incidences * 2, incidences);
  planSection(plan, K_FILTER, 0, 0, 1, 0, filterBytes(nodes), nodes);
  if (load<u32>(facts + F_ROLES)) planSection(plan, K_ROLES, 0, 0, 2, 0, incidences * 2, incidences);
}

function fillHeader(
  file: usize,
  bytes: u32,
  sections: u32,
  records: usize,
  rows: u32,
  bucketSeconds: i64,
  table: u32,
): void {
  store<u64>(file, MAGIC);
  // fillTree may set a later version.
  store<u32>(file + H_VERSION, load<u32>(facts + F_ROLES) ? ROLES_VERSION : FIRST_VERSION);
  store<u32>(file + H_BYTES, bytes);
  store<u32>(file + H_SECTIONS, sections);
  store<u32>(file + H_ROWS, rows);
  store<u32>(file + H_INCIDENCES, load<u32>(facts + F_INCIDENCES));
  store<u32>(file + H_NODES, load<u32>(facts + F_NODES));
  store<u32>(file + H_BUCKETS, load<u32>(facts + F_BUCKETS));
  store<i64>(file + H_BUCKET_SECONDS, bucketSeconds);
  store<i64>(file + H_TIME_MIN, load<i64>(recordAt(records, 0) + R_TIME));
  store<i64>(file + H_TIME_MAX, load<i64>(recordAt(records, rows - 1) + R_TIME));
  store<i64>(file + H_ID_MIN, load<i64>(facts + F_ID_MIN));
  store<i64>(file + H_ID_MAX, load<i64>(facts + F_ID_MAX));
  store<i64>(file + H_NODE_MIN, load<i64>(facts + F_NODE_MIN));
  store<i64>(file + H_NODE_MAX, load<i64>(facts + F_NODE_MAX));
  store<i64>(file + H_FIRST_ID, load<i64>(recordAt(records, 0) + R_ID));
  store<i64>(file + H_LAST_ID, load<i64>(recordAt(records, rows - 1) + R_ID));
  store<u8>(file + H_TIME_WIDTH, <u8>timeWidth(records, rows));
  store<u8>(file + H_ID_WIDTH, <u8>idWidth());
  store<u8>(file + H_ORDINAL_WIDTH, load<u32>(facts + F_NODES) <= 65536 ? 2 : 4);
  store<u8>(file + H_NODE_WIDTH, <u8>nodeWidth());
  store<u32>(file + H_MAX_SIZE, load<u32>(facts + F_MAX_SIZE));
  store<u32>(file + H_TABLE, table);
}

/** Writes times, ids, sizes and the bucket directory. */
function fillRows(file: usize, records: usize, rows: u32, bucketSeconds: i64): void {
  const blocks = sectionOf(file, K_BLOCKS);
  const times = sectionOf(file, K_TIMES);
  const ids = sectionOf(file, K_IDS);
  const sizes = sectionOf(file, K_SIZES);
  const wide = timeWidth(records, rows);
  const idBytes = idWidth();
  const least = load<i64>(file + H_TIME_MIN);
  const leastId = load<i64>(file + H_ID_MIN);
  let incidences: u32 = 0;
  let buckets: u32 = 0;
  let bucketEnd = i64.MIN_VALUE;
  let block = blocks;
  for (let row: u32 = 0; row < rows; row++) {
    const record = recordAt(records, row);
    const time = load<i64>(record + R_TIME);
    if (!ASC_NO_ASSERT) assert(time >= least && time <= load<i64>(file + H_TIME_MAX), 'rows are in key order');
    if (!ASC_NO_ASSERT) assert(!row || load<i64>(recordAt(records, row - 1) + R_TIME) <= time, 'rows are in key order');
    block = element(blocks, row >> 6, BLOCK_BYTES);
    if (!(row & 63)) {
      store<u32>(block, incidences);
      store<u32>(block + 4, buckets);
    }
    if (time >= bucketEnd) {
      buckets++;
      bucketEnd = (floorDivide(time, bucketSeconds) + 1) * bucketSeconds;
      store<u64>(block + 8, load<u64>(block + 8) | ((<u64>1) << (row & 63)));
    }
    storePacked(times, wide, row, <u64>(time - least));
    if (idBytes) storePacked(ids, idBytes, row, <u64>(load<i64>(record + R_ID) - leastId));
    const size = load<u8>(record + R_COUNT);
    store<u8>(sizes + row, size);
    incidences += size;
  }
  if (!ASC_NO_ASSERT) assert(incidences == load<u32>(file + H_INCIDENCES), 'the directory counts all incidences');
  if (!ASC_NO_ASSERT) assert(buckets == load<u32>(file + H_BUCKETS), 'the directory counts all buckets');
  store<u32>(block + BLOCK_BYTES, incidences);
  store<u32>(block + BLOCK_BYTES + 4, buckets);
}

/**
 * Writes the dictionary, the ordinals, the posting lists and the filter from the incidences sorted
 * by node. `rowOf`: u32 row of each incidence.
 */
function fillNodes(file: usize, keys: usize, indexes: usize, n: u32, rowOf: usize, nodeIds: usize): void {
  const ordinals = sectionOf(file, K_MEMBERS);
  const nodes = sectionOf(file, K_NODES);
  const offsets = sectionOf(file, K_POSTING_OFFSETS);
  const postings = sectionOf(file, K_POSTINGS);
  const wide: u32 = load<u8>(file + H_ORDINAL_WIDTH);
  const nodeBytes: u32 = load<u8>(file + H_NODE_WIDTH);
  const least = load<i64>(file + H_NODE_MIN);
  let ordinal: u32 = 0;
  let previous: u64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const key = get<u64>(keys, i);
    if (!ASC_NO_ASSERT) assert(key >= previous, 'incidences are sorted by node');
    if (!i || key != previous) {
      if (i) ordinal++;
      previous = key;
      storePacked(nodes, nodeBytes, ordinal, key);
      put<u32>(offsets, ordinal, i);
      put<i64>(nodeIds, ordinal, least + <i64>key);
    }
    const index = get<u32>(indexes, i);
    if (!ASC_NO_ASSERT) assert(index < n, 'an incidence is one of the segment');
    if (!ASC_NO_ASSERT)
      assert(
        get<u32>(offsets, ordinal) == i || <u32>get<u16>(postings, i - 1) < get<u32>(rowOf, index),
        'a posting list ascends strictly',
      );
    storePacked(ordinals, wide, index, ordinal);
    put<u16>(postings, i, <u16>get<u32>(rowOf, index));
  }
  if (!ASC_NO_ASSERT) assert(ordinal + 1 == load<u32>(file + H_NODES), 'each node has one posting list');
  put<u32>(offsets, ordinal + 1, n);
  filterBuild(nodeIds, ordinal + 1, sectionOf(file, K_FILTER), filterBytes(ordinal + 1));
}

function fillRowOf(records: usize, rows: u32, rowOf: usize): void {
  let at = rowOf;
  for (let row: u32 = 0; row < rows; row++) {
    const n = <u32>load<u8>(recordAt(records, row) + R_COUNT);
    for (let i: u32 = 0; i < n; i++) {
      store<u32>(at, row);
      at += 4;
    }
  }
}

function fillColumns(file: usize, records: usize, rows: u32, specs: usize, columns: u32, scratch: usize): void {
  const sections = load<u32>(file + H_SECTIONS);
  for (let i: u32 = 0; i < sections; i++) {
    const entry = element(file + HEADER_BYTES, i, ENTRY_BYTES);
    const kind = <u32>load<u16>(entry + E_KIND);
    if (kind == K_PSI) fillOrder(file, entry, rows, scratch);
    if (kind == K_INTERVAL) fillTree(file, entry, rows);
    if (kind != K_COLUMN) continue;
    for (let c: u32 = 0; c < columns; c++) {
      const spec = cell<u64>(specs, c);
      if (load<u16>(spec) == load<u16>(entry + E_COLUMN)) fillColumn(file, entry, records, rows, spec, scratch);
    }
  }
}

/** Returns whether the column ids ascend strictly and all types are known. */
function areColumns(specs: usize, columns: u32): bool {
  for (let c: u32 = 0; c < columns; c++) {
    const spec = cell<u64>(specs, c);
    const type = load<u8>(spec + 2);
    if (type < HG_TYPE_REAL || type > HG_TYPE_BOOLEAN) return false;
    if (c && load<u16>(spec) <= load<u16>(spec - 8)) return false;
  }
  return true;
}

/**
 * Builds the file of `rows` checked records (addresses u32[rows], strictly ascending by (event_ts,
 * id)). `specs` has one entry per column: {u16 column id, u8 type, u8 indexes (bit 0: the order of
 * the values, bit 1: the tree of the ends of intervals), u32 address of the property entry for
 * records without the column (0: null)}. `text`: {u32 address of a text block over the rows, u32
 * its size in bytes, u32 tag of its index}, or 0. Returns the size of the file in bytes;
 * `hg_result_pointer` returns the address of the file, and the caller frees this region.
 *
 * Returns BAD_ARGUMENT if there are no rows, or too many rows or columns, if rows or columns are
 * not in order, if a type is unknown, if a value has another type than its column, if
 * `bucketSeconds` is below 1, or if the file would reach 2 GiB. Returns OUT_OF_MEMORY if memory
 * cannot grow.
 */
export function buildSegment(
  records: usize,
  rows: u32,
  bucketSeconds: i64,
  table: u32,
  specs: usize,
  columns: u32,
  text: usize,
): i32 {
  if (!rows || rows > HG_MAX_SEGMENT_ROWS || bucketSeconds < 1 || columns > 4000) return BAD_ARGUMENT;
  if (!areColumns(specs, columns) || !survey(records, rows, bucketSeconds)) return BAD_ARGUMENT;
  const n = load<u32>(facts + F_INCIDENCES);
  const work = alloc(n * 28);
  const scratch = alloc(rows * 24);
  const plan = alloc(8 + MAX_SECTIONS * <u32>ENTRY_BYTES);
  const bytes =
    work && scratch && plan
      ? assemble(records, rows, bucketSeconds, table, specs, columns, text, work, scratch, plan)
      : OUT_OF_MEMORY;
  free(work);
  free(scratch);
  free(plan);
  return bytes;
}

function fillText(file: usize, text: usize): void {
  store<u32>(file + H_VERSION, TEXT_VERSION);
  memory.copy(sectionOf(file, K_TEXT), <usize>load<u32>(text), load<u32>(text, 4));
}

function assemble(
  records: usize,
  rows: u32,
  bucketSeconds: i64,
  table: u32,
  specs: usize,
  columns: u32,
  text: usize,
  work: usize,
  scratch: usize,
  plan: usize,
): i32 {
  const n = load<u32>(facts + F_INCIDENCES);
  const keys = work;
  const tmpKeys = cell<u64>(work, n);
  const indexes = cell<u64>(tmpKeys, n);
  const tmpIndexes = cell<u32>(indexes, n);
  const rowOf = cell<u32>(tmpIndexes, n);
  gatherIncidences(records, rows, keys, indexes);
  radixSort(
    keys,
    indexes,
    n,
    tmpKeys,
    tmpIndexes,
    bitsOf(<u64>(load<i64>(facts + F_NODE_MAX) - load<i64>(facts + F_NODE_MIN))),
  );
  store<u32>(facts + F_NODES, countDistinct(keys, n));
  store<u32>(plan, 0);
  planFixed(plan, records, rows);
  for (let c: u32 = 0; c < columns; c++)
    if (!planColumn(plan, records, rows, cell<u64>(specs, c), scratch)) return BAD_ARGUMENT;
  if (text) planSection(plan, K_TEXT, 0, 0, 1, 0, load<u32>(text, 4), load<u32>(text, 8));
  const bytes = layOut(plan);
  if (!bytes) return BAD_ARGUMENT;
  const file = allocateFile(plan, bytes);
  if (!file) return OUT_OF_MEMORY;
  const sections = load<u32>(plan);
  fillHeader(file, bytes, sections, records, rows, bucketSeconds, table);
  fillRows(file, records, rows, bucketSeconds);
  fillRowOf(records, rows, rowOf);
  fillNodes(file, keys, indexes, n, rowOf, tmpKeys);
  fillRoles(file, records, rows);
  fillColumns(file, records, rows, specs, columns, scratch);
  if (text) fillText(file, text);
  seal(file, sections);
  setPointer(file);
  return <i32>bytes;
}
