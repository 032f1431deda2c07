// Checks the bytes of a segment file before they are used: bounds and checksums and, in the deep
// check, every structural rule.
//
// The check consists of stages, each of which examines the items of one list in their order. A
// stage stops when the work of its call is used up, and the next call continues with the next item
// (check-state.ts).

import { crc32c } from '../codec/crc32c';
import { filterTest } from '../fmi/filter';
import { HG_MAX_MEMBERS, HG_MAX_SEGMENT_ROWS, MAX_SAFE } from '../limits';
import { alloc, free } from '../memory/alloc';
import { after, bytesOf, cell, element, get } from '../memory/cells';
import { CORRUPT, failAt, OUT_OF_MEMORY, UNSUPPORTED } from '../status';
import { checkColumns } from './check-columns';
import {
  BYTES_A_UNIT,
  CHECK_STATE_BYTES,
  K_AT,
  K_DONE,
  K_HEADS,
  K_LEFT,
  K_STAGE,
  K_VALUES,
  MORE,
  spend,
} from './check-state';
import {
  BLOCK_BYTES,
  E_BYTES,
  E_CRC,
  E_OFFSET,
  ENTRY_BYTES,
  FORMAT_VERSION,
  findEntry,
  floorDivide,
  H_BUCKET_SECONDS,
  H_BUCKETS,
  H_BYTES,
  H_CRC,
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
  H_TIME_MAX,
  H_TIME_MIN,
  H_TIME_WIDTH,
  H_VERSION,
  HEADER_BYTES,
  K_BLOCKS,
  K_FILTER,
  K_IDS,
  K_MEMBERS,
  K_NODES,
  K_POSTING_OFFSETS,
  K_POSTINGS,
  K_ROLES,
  K_SIZES,
  K_TEXT,
  K_TIMES,
  MAGIC,
  packed,
  ROLES_VERSION,
  sectionOf,
  TEXT_VERSION,
} from './layout';
import { headerChecksum, MAX_SECTIONS } from './writer';

/**
 * Checks the header and directory at `base`, where the first `available` bytes of a file of
 * `fileBytes` bytes are present. Returns 0, CORRUPT or UNSUPPORTED.
 */
export function checkHeader(base: usize, available: u32, fileBytes: u32): i32 {
  if (available < <u32>HEADER_BYTES) return failAt(CORRUPT, available);
  if (load<u64>(base) != MAGIC) return failAt(CORRUPT, 0);
  const version = load<u32>(base + H_VERSION);
  if (version == 0 || version > FORMAT_VERSION) return failAt(UNSUPPORTED, <u32>H_VERSION);
  const sections = load<u32>(base + H_SECTIONS);
  if (sections > MAX_SECTIONS || <u32>HEADER_BYTES + sections * <u32>ENTRY_BYTES > available)
    return failAt(CORRUPT, <u32>H_SECTIONS);
  if (headerChecksum(base, sections) != load<u32>(base + H_CRC)) return failAt(CORRUPT, <u32>H_CRC);
  if (load<u32>(base + H_BYTES) != fileBytes) return failAt(CORRUPT, <u32>H_BYTES);
  const rows = load<u32>(base + H_ROWS);
  if (!rows || rows > HG_MAX_SEGMENT_ROWS) return failAt(CORRUPT, <u32>H_ROWS);
  const status = checkBounds(base);
  if (status) return status;
  for (let i: u32 = 0; i < sections; i++) {
    const at = <u32>HEADER_BYTES + i * <u32>ENTRY_BYTES;
    const entry = base + at;
    const end = <u64>load<u32>(entry + E_OFFSET) + <u64>load<u32>(entry + E_BYTES);
    if (end > <u64>fileBytes || load<u32>(entry + E_OFFSET) & 7) return failAt(CORRUPT, at);
  }
  return checkFixedSizes(base);
}

/** Returns whether the two i64 at `at` are safe integers and the first is not above the second. */
function isRange(at: usize): bool {
  const least = load<i64>(at);
  const greatest = load<i64>(at + 8);
  return least >= -MAX_SAFE && least <= greatest && greatest <= MAX_SAFE;
}

/** Checks the header fields that bound the values in the file. */
function checkBounds(base: usize): i32 {
  const seconds = load<i64>(base + H_BUCKET_SECONDS);
  if (seconds < 1 || seconds > MAX_SAFE) return failAt(CORRUPT, <u32>H_BUCKET_SECONDS);
  if (!isRange(base + H_TIME_MIN)) return failAt(CORRUPT, <u32>H_TIME_MIN);
  if (!isRange(base + H_ID_MIN)) return failAt(CORRUPT, <u32>H_ID_MIN);
  if (!isRange(base + H_NODE_MIN)) return failAt(CORRUPT, <u32>H_NODE_MIN);
  const buckets = load<u32>(base + H_BUCKETS);
  if (!buckets || buckets > load<u32>(base + H_ROWS)) return failAt(CORRUPT, <u32>H_BUCKETS);
  const largest = load<u32>(base + H_MAX_SIZE);
  return largest && largest <= HG_MAX_MEMBERS ? 0 : failAt(CORRUPT, <u32>H_MAX_SIZE);
}

function sizeIs(base: usize, kind: u32, bytes: u64): bool {
  const entry = findEntry(base, kind, 0);
  return entry != 0 && <u64>load<u32>(entry + E_BYTES) == bytes;
}

function checkFixedSizes(base: usize): i32 {
  const rows = <u64>load<u32>(base + H_ROWS);
  const nodes = <u64>load<u32>(base + H_NODES);
  const incidences = <u64>load<u32>(base + H_INCIDENCES);
  const times = <u64>load<u8>(base + H_TIME_WIDTH);
  const ids = <u64>load<u8>(base + H_ID_WIDTH);
  const ordinals = <u64>load<u8>(base + H_ORDINAL_WIDTH);
  const wide = <u64>load<u8>(base + H_NODE_WIDTH);
  if (times != 4 && times != 8) return failAt(CORRUPT, <u32>H_TIME_WIDTH);
  if (ids != 0 && ids != 2 && ids != 4 && ids != 8) return failAt(CORRUPT, <u32>H_ID_WIDTH);
  if (ordinals != 2 && ordinals != 4) return failAt(CORRUPT, <u32>H_ORDINAL_WIDTH);
  if ((wide != 4 && wide != 8) || !nodes || nodes > incidences) return failAt(CORRUPT, <u32>H_NODES);
  const blocks = ((rows + 63) >> 6) + 1;
  const filter = findEntry(base, K_FILTER, 0);
  const good =
    sizeIs(base, K_BLOCKS, blocks * BLOCK_BYTES) &&
    sizeIs(base, K_TIMES, rows * times) &&
    sizeIs(base, K_IDS, rows * ids) &&
    sizeIs(base, K_SIZES, rows) &&
    sizeIs(base, K_MEMBERS, incidences * ordinals) &&
    sizeIs(base, K_NODES, nodes * wide) &&
    sizeIs(base, K_POSTING_OFFSETS, (nodes + 1) * 4) &&
    sizeIs(base, K_POSTINGS, incidences * 2) &&
    filter &&
    load<u32>(filter + E_BYTES) >= 64 &&
    (load<u32>(filter + E_BYTES) & 63) == 0;
  if (!good) return failAt(CORRUPT, <u32>HEADER_BYTES);
  const text = findEntry(base, K_TEXT, 0);
  if (text && load<u32>(base + H_VERSION) < TEXT_VERSION) return failAt(CORRUPT, <u32>(text - base));
  const roles = findEntry(base, K_ROLES, 0);
  if (!roles) return 0;
  const known = load<u32>(base + H_VERSION) >= ROLES_VERSION && sizeIs(base, K_ROLES, incidences * 2);
  return known ? 0 : failAt(CORRUPT, <u32>(roles - base));
}

/** Checks every section's checksum. Returns 0, MORE, or CORRUPT with the section's offset. */
function checkSums(base: usize, state: usize): i32 {
  const sections = load<u32>(base + H_SECTIONS);
  let done = load<u32>(state + K_DONE);
  let crc = load<u32>(state + K_VALUES);
  for (let i = load<u32>(state + K_AT); i < sections; i++) {
    const entry = element(base + HEADER_BYTES, i, ENTRY_BYTES);
    const offset = load<u32>(entry + E_OFFSET);
    const bytes = load<u32>(entry + E_BYTES);
    const piece = <u32>min<u64>(bytes - done, <u64>load<u32>(state + K_LEFT) * BYTES_A_UNIT);
    crc = crc32c(base + offset + done, piece, crc);
    spend(state, piece / BYTES_A_UNIT + 1);
    done += piece;
    if (done < bytes) {
      store<u32>(state + K_AT, i);
      store<u32>(state + K_DONE, done);
      store<u32>(state + K_VALUES, crc);
      return MORE;
    }
    if (crc != load<u32>(entry + E_CRC)) return failAt(CORRUPT, offset);
    done = 0;
    crc = 0;
  }
  return 0;
}

/**
 * Checks times, ids and sizes: rows must ascend strictly by (event_ts, id). The bounds of times and
 * ids, the first and the last id and the number of incidences must be those in the header.
 */
function checkRows(base: usize, state: usize): i32 {
  const rows = load<u32>(base + H_ROWS);
  const times = sectionOf(base, K_TIMES);
  const ids = sectionOf(base, K_IDS);
  const sizes = sectionOf(base, K_SIZES);
  const timeWidth: u32 = load<u8>(base + H_TIME_WIDTH);
  const idWidth: u32 = load<u8>(base + H_ID_WIDTH);
  const largest = load<u32>(base + H_MAX_SIZE);
  const from = load<u32>(state + K_AT);
  const to = from + min(rows - from, load<u32>(state + K_LEFT));
  let previousTime = load<u64>(state + K_VALUES);
  let previousId = load<u64>(state + K_VALUES, 8);
  let leastId = from ? load<u64>(state + K_VALUES, 16) : u64.MAX_VALUE;
  let greatestId = load<u64>(state + K_VALUES, 24);
  let incidences = load<u64>(state + K_VALUES, 32);
  for (let row = from; row < to; row++) {
    const time = packed(times, timeWidth, row);
    const id = idWidth ? packed(ids, idWidth, row) : <u64>row;
    const ordered = row ? time > previousTime || (time == previousTime && id > previousId) : !time;
    if (!ordered) return failAt(CORRUPT, <u32>(times + row * timeWidth - base));
    const size = <u32>load<u8>(sizes + row);
    if (!size || size > largest) return failAt(CORRUPT, <u32>(sizes + row - base));
    incidences += size;
    previousTime = time;
    previousId = id;
    leastId = min(leastId, id);
    greatestId = max(greatestId, id);
  }
  spend(state, to - from);
  if (to < rows) {
    store<u32>(state + K_AT, to);
    store<u64>(state + K_VALUES, previousTime);
    store<u64>(state + K_VALUES, previousId, 8);
    store<u64>(state + K_VALUES, leastId, 16);
    store<u64>(state + K_VALUES, greatestId, 24);
    store<u64>(state + K_VALUES, incidences, 32);
    return MORE;
  }
  const idRange = <u64>(load<i64>(base + H_ID_MAX) - load<i64>(base + H_ID_MIN));
  if (leastId || greatestId != idRange) return failAt(CORRUPT, <u32>H_ID_MIN);
  if (incidences != <u64>load<u32>(base + H_INCIDENCES)) return failAt(CORRUPT, <u32>(sizes - base));
  const firstId = load<i64>(base + H_ID_MIN) + (idWidth ? <i64>packed(ids, idWidth, 0) : 0);
  if (firstId != load<i64>(base + H_FIRST_ID)) return failAt(CORRUPT, <u32>H_FIRST_ID);
  if (load<i64>(base + H_ID_MIN) + <i64>previousId != load<i64>(base + H_LAST_ID))
    return failAt(CORRUPT, <u32>H_LAST_ID);
  return previousTime == <u64>(load<i64>(base + H_TIME_MAX) - load<i64>(base + H_TIME_MIN))
    ? 0
    : failAt(CORRUPT, <u32>H_TIME_MAX);
}

/** Checks the bucket directory against times and sizes. Must be called after `checkRows`. */
function checkBlocks(base: usize, state: usize): i32 {
  const rows = load<u32>(base + H_ROWS);
  const blocks = sectionOf(base, K_BLOCKS);
  const times = sectionOf(base, K_TIMES);
  const sizes = sectionOf(base, K_SIZES);
  const timeWidth: u32 = load<u8>(base + H_TIME_WIDTH);
  const least = load<i64>(base + H_TIME_MIN);
  const seconds = load<i64>(base + H_BUCKET_SECONDS);
  let from = load<u32>(state + K_AT);
  let incidences = load<u32>(state + K_VALUES);
  let buckets = load<u32>(state + K_VALUES, 4);
  let bucketEnd = from ? load<i64>(state + K_VALUES, 8) : i64.MIN_VALUE;
  for (; from < rows && load<u32>(state + K_LEFT); from += 64) {
    const block = blocks + <usize>(from >> 6) * BLOCK_BYTES;
    if (load<u32>(block) != incidences || load<u32>(block + 4) != buckets) return failAt(CORRUPT, <u32>(block - base));
    let starts: u64 = 0;
    for (let row = from; row < min(from + 64, rows); row++) {
      const time = least + <i64>packed(times, timeWidth, row);
      if (time >= bucketEnd) {
        starts |= (<u64>1) << (row & 63);
        buckets++;
        bucketEnd = (floorDivide(time, seconds) + 1) * seconds;
      }
      incidences += load<u8>(sizes + row);
    }
    if (load<u64>(block + 8) != starts) return failAt(CORRUPT, <u32>(block - base));
    spend(state, 64);
  }
  if (from < rows) {
    store<u32>(state + K_AT, from);
    store<u32>(state + K_VALUES, incidences);
    store<u32>(state + K_VALUES, buckets, 4);
    store<i64>(state + K_VALUES, bucketEnd, 8);
    return MORE;
  }
  const last = blocks + <usize>((rows + 63) >> 6) * BLOCK_BYTES;
  if (load<u32>(last) != incidences || load<u32>(last + 4) != buckets) return failAt(CORRUPT, <u32>(last - base));
  return buckets == load<u32>(base + H_BUCKETS) ? 0 : failAt(CORRUPT, <u32>H_BUCKETS);
}

/**
 * Checks the dictionary: node ids must ascend strictly, the first and last id must be the bounds in
 * the header, and the filter must contain every node.
 */
function checkNodes(base: usize, state: usize): i32 {
  const nodes = load<u32>(base + H_NODES);
  const ids = sectionOf(base, K_NODES);
  const width: u32 = load<u8>(base + H_NODE_WIDTH);
  const least = load<i64>(base + H_NODE_MIN);
  const filter = sectionOf(base, K_FILTER);
  const filterBytes = load<u32>(findEntry(base, K_FILTER, 0) + E_BYTES);
  const from = load<u32>(state + K_AT);
  const to = from + min(nodes - from, load<u32>(state + K_LEFT));
  let previous = load<u64>(state + K_VALUES);
  for (let node = from; node < to; node++) {
    const id = packed(ids, width, node);
    if (node ? id <= previous : id != 0) return failAt(CORRUPT, <u32>(ids + node * width - base));
    if (!filterTest(filter, filterBytes, least + <i64>id)) return failAt(CORRUPT, <u32>(filter - base));
    previous = id;
  }
  spend(state, to - from);
  if (to < nodes) {
    store<u32>(state + K_AT, to);
    store<u64>(state + K_VALUES, previous);
    return MORE;
  }
  return previous == <u64>(load<i64>(base + H_NODE_MAX) - least) ? 0 : failAt(CORRUPT, <u32>H_NODE_MAX);
}

/** Checks that the posting lists cover all incidences, and that none is empty. */
function checkOffsets(base: usize, state: usize): i32 {
  const nodes = load<u32>(base + H_NODES);
  const offsets = sectionOf(base, K_POSTING_OFFSETS);
  const at = <u32>(offsets - base);
  const from = load<u32>(state + K_AT);
  const to = from + min(nodes - from, load<u32>(state + K_LEFT));
  if (!from && (load<u32>(offsets) || get<u32>(offsets, nodes) != load<u32>(base + H_INCIDENCES)))
    return failAt(CORRUPT, at);
  for (let node = from; node < to; node++) {
    if (get<u32>(offsets, node) >= after<u32>(offsets, node)) return failAt(CORRUPT, at + node * 4);
  }
  spend(state, to - from);
  store<u32>(state + K_AT, to);
  return to < nodes ? MORE : 0;
}

/**
 * Allocates `heads` (u32 per node, the place of the node's next posting), and sets it to the
 * beginnings of the posting lists.
 */
function makeHeads(base: usize, state: usize): i32 {
  const nodes = load<u32>(base + H_NODES);
  const from = load<u32>(state + K_AT);
  if (!from) {
    const address = alloc(bytesOf<u32>(nodes));
    if (!address) return OUT_OF_MEMORY;
    store<u32>(state + K_HEADS, <u32>address);
  }
  const to = from + <u32>min<u64>(nodes - from, <u64>load<u32>(state + K_LEFT) * (BYTES_A_UNIT / 4));
  const heads = <usize>load<u32>(state + K_HEADS);
  const offsets = sectionOf(base, K_POSTING_OFFSETS);
  memory.copy(cell<u32>(heads, from), cell<u32>(offsets, from), bytesOf<u32>(to - from));
  spend(state, (to - from) / (BYTES_A_UNIT / 4) + 1);
  store<u32>(state + K_AT, to);
  return to < nodes ? MORE : 0;
}

/**
 * Checks, in row order, that every member is a node, ascending within its row, and that the posting
 * lists are exactly the transpose of the members.
 */
function checkIncidences(base: usize, state: usize): i32 {
  const rows = load<u32>(base + H_ROWS);
  const nodes = load<u32>(base + H_NODES);
  const offsets = sectionOf(base, K_POSTING_OFFSETS);
  const sizes = sectionOf(base, K_SIZES);
  const members = sectionOf(base, K_MEMBERS);
  const postings = sectionOf(base, K_POSTINGS);
  const width: u32 = load<u8>(base + H_ORDINAL_WIDTH);
  const heads = <usize>load<u32>(state + K_HEADS);
  const begin = load<u32>(state + K_DONE);
  const left = load<u32>(state + K_LEFT);
  let row = load<u32>(state + K_AT);
  let at = begin;
  for (; row < rows && at - begin < left; row++) {
    let previous: i64 = -1;
    for (const end = at + <u32>load<u8>(sizes + row); at < end; at++) {
      const ordinal = <u32>packed(members, width, at);
      if (ordinal >= nodes || <i64>ordinal <= previous) return failAt(CORRUPT, <u32>(members + at * width - base));
      previous = ordinal;
      const head = cell<u32>(heads, ordinal);
      const posting = load<u32>(head);
      const full = posting == after<u32>(offsets, ordinal);
      if (full || <u32>get<u16>(postings, posting) != row)
        return failAt(CORRUPT, <u32>(cell<u16>(postings, posting) - base));
      store<u32>(head, posting + 1);
    }
  }
  spend(state, at - begin);
  store<u32>(state + K_AT, row);
  store<u32>(state + K_DONE, at);
  return row < rows ? MORE : 0;
}

/** Stages of the check, in their order. Only the deep check has those after the checksums. */
const HEADER: u32 = 0;
const SUMS: u32 = 1;
const ROWS: u32 = 2;
const BLOCKS: u32 = 3;
const NODES: u32 = 4;
const OFFSETS: u32 = 5;
const HEADS: u32 = 6;
const INCIDENCES: u32 = 7;
const COLUMNS: u32 = 8;

/** Continues a stage. Returns 0 at its end, MORE or a status. */
function checkStage(stage: u32, base: usize, bytes: u32, state: usize): i32 {
  switch (stage) {
    case HEADER: {
      const status = checkHeader(base, bytes, bytes);
      if (!status) spend(state, load<u32>(base + H_SECTIONS));
      return status;
    }
    case SUMS:
      return checkSums(base, state);
    case ROWS:
      return checkRows(base, state);
    case BLOCKS:
      return checkBlocks(base, state);
    case NODES:
      return checkNodes(base, state);
    case OFFSETS:
      return checkOffsets(base, state);
    case HEADS:
      return makeHeads(base, state);
    case INCIDENCES:
      return checkIncidences(base, state);
    default:
      return checkColumns(base, state);
  }
}

/**
 * Does about `work` units of a check, at least one; a unit is a row, node, incidence or value, or
 * BYTES_A_UNIT bytes of a checksum or a text. Returns MORE if the check must be continued with the
 * same arguments, or else what `checkSegment` returns. `state` has CHECK_STATE_BYTES bytes, which
 * must be 0 at the first call, and are 0 again at the end.
 */
export function checkStep(base: usize, bytes: u32, deep: bool, state: usize, work: u32): i32 {
  store<u32>(state + K_LEFT, max(work, 1));
  const last = deep ? COLUMNS : SUMS;
  let status: i32 = 0;
  let stage = load<u32>(state + K_STAGE);
  if (!ASC_NO_ASSERT) assert(stage <= last, 'the state of a check contains one of its stages');
  do {
    if (!load<u32>(state + K_LEFT)) return MORE;
    status = checkStage(stage, base, bytes, state);
    if (status == MORE) return MORE;
    stage++;
    memory.fill(state + K_AT, 0, CHECK_STATE_BYTES - K_AT);
    store<u32>(state + K_STAGE, stage);
  } while (!status && stage <= last);
  free(load<u32>(state + K_HEADS));
  memory.fill(state, 0, CHECK_STATE_BYTES);
  return status;
}

/** State of `checkSegment`, CHECK_STATE_BYTES bytes. */
const whole: usize = memory.data(64, 16);

/**
 * Checks the whole file [base, base + bytes): the header, the directory and the checksums. With
 * `deep` it also checks every order, bound and reference; after that, no read that follows these
 * references can leave the file. Returns 0, CORRUPT (`hg_result_offset` then returns the place),
 * UNSUPPORTED or OUT_OF_MEMORY. The deep check costs about 15 ns per incidence, and 4 bytes per
 * node while it runs.
 */
export function checkSegment(base: usize, bytes: u32, deep: bool): i32 {
  let status = MORE;
  while (status == MORE) status = checkStep(base, bytes, deep, whole, u32.MAX_VALUE);
  return status;
}
