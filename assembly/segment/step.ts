// Performs one step of a scan over a segment in a single call: seeks, lists rows, removes dead
// rows, writes text and counts buckets.

import { lookupRows } from '../fmi/lookup';
import { segmentRows } from '../json/rows';
import { get, put } from '../memory/cells';
import { reconcile } from '../reconcile/reconcile';
import { hg_result_rows as resultRows } from '../status';
import { bucketsOfList, bucketsOfRows, seekBehind, seekRow } from '../tpi/seek';
import { S_ROWS, S_TIME_MAX } from './layout';
import { rowId, rowTime } from './reader';

/*
 * Offsets of the fields of the request, each an f64: lowest time and id, last time (inclusive),
 * time and id of the stop (exclusive; time +Infinity: no stop), LSN, row limit, separator, number
 * of nodes, number of dead rows. Then addresses: nodes (f64), dead rows (u32), their LSNs (f64),
 * plan, row list (u32, STEP_ROWS entries and slack), text. Then the size in bytes of the text
 * region.
 */
const Q_LOW_TIME: usize = 0;
const Q_LOW_ID: usize = 8;
const Q_END_TIME: usize = 16;
const Q_STOP_TIME: usize = 24;
const Q_STOP_ID: usize = 32;
const Q_LSN: usize = 40;
const Q_LIMIT: usize = 48;
const Q_SEPARATOR: usize = 56;
const Q_NODES: usize = 64;
const Q_DEAD: usize = 72;
const Q_NODES_AT: usize = 80;
const Q_DEAD_AT: usize = 88;
const Q_DEATHS_AT: usize = 96;
const Q_PLAN_AT: usize = 104;
const Q_ROWS_AT: usize = 112;
const Q_TEXT_AT: usize = 120;
const Q_TEXT_BYTES: usize = 128;
/**
 * Offsets of the fields of the response, which follows the request: number of rows, time of the
 * first row, time and id of the last row, number of buckets, row to continue from, state.
 */
const A_ROWS: usize = 136;
const A_FIRST_TIME: usize = 144;
const A_LAST_TIME: usize = 152;
const A_LAST_ID: usize = 160;
const A_BUCKETS: usize = 168;
const A_NEXT: usize = 176;
const A_STATE: usize = 184;

/** Size in bytes of the request and the response together. */
export const STEP_BLOCK_BYTES: u32 = 192;
/** Maximum number of rows that one step examines. */
export const STEP_ROWS: u32 = 8192;

/** Not all rows up to the last time and below the stop have been examined. */
const STATE_MORE: f64 = 0;
/** All rows of the segment up to the last time were returned. */
const STATE_END: f64 = 1;
/** All rows below the stop were returned; there may be rows after it. */
const STATE_STOP: f64 = 2;

function bound(value: f64): i64 {
  if (value <= -9007199254740992) return -9007199254740992;
  return value >= 9007199254740992 ? 9007199254740992 : <i64>value;
}

function addressAt(block: usize, field: usize): usize {
  return <usize>load<f64>(block + field);
}

/**
 * Fills the row list with rows in [from, to) that are alive at the LSN and contain the nodes.
 * Returns their number; A_NEXT receives the row to continue from.
 */
function listRows(s: usize, block: usize, from: u32, to: u32): i32 {
  const rows = addressAt(block, Q_ROWS_AT);
  const nodes = <u32>load<f64>(block + Q_NODES);
  const dead = <u32>load<f64>(block + Q_DEAD);
  let n: i32;
  let next = to;
  if (nodes) {
    n = lookupRows(s, addressAt(block, Q_NODES_AT), nodes, from, to, rows, STEP_ROWS);
    if (n < 0) return n;
    next = resultRows();
  } else {
    const most = load<f64>(block + Q_LIMIT) + <f64>dead;
    let count = min(to - from, STEP_ROWS);
    if (<f64>count > most) count = <u32>most;
    for (let i: u32 = 0; i < count; i++) put<u32>(rows, i, from + i);
    n = <i32>count;
    next = from + count;
  }
  if (dead)
    n = <i32>(
      reconcile(rows, n, addressAt(block, Q_DEAD_AT), addressAt(block, Q_DEATHS_AT), dead, load<f64>(block + Q_LSN))
    );
  store<f64>(block + A_NEXT, <f64>next);
  return n;
}

/**
 * Writes row text for the live rows that have a key in [low, stop), a time up to the last time, and
 * all nodes. Writes at most `limit` rows and at most one text region. Request and response are at
 * `block` (STEP_BLOCK_BYTES; see above). Returns the size of the text in bytes, or a status; on
 * TOO_SMALL the text region must grow.
 */
export function stepSegment(s: usize, block: usize): i32 {
  const from = seekRow(s, bound(load<f64>(block + Q_LOW_TIME)), bound(load<f64>(block + Q_LOW_ID)));
  const endTime = bound(load<f64>(block + Q_END_TIME));
  let to = endTime >= load<i64>(s + S_TIME_MAX) ? load<u32>(s + S_ROWS) : seekBehind(s, endTime);
  let done = STATE_END;
  if (load<f64>(block + Q_STOP_TIME) < Infinity) {
    const stop = seekRow(s, bound(load<f64>(block + Q_STOP_TIME)), bound(load<f64>(block + Q_STOP_ID)));
    if (stop < to) {
      to = stop;
      done = STATE_STOP;
    }
  }
  store<f64>(block + A_ROWS, 0);
  store<f64>(block + A_NEXT, <f64>from);
  store<f64>(block + A_STATE, done);
  if (from >= to) return 0;
  let n = listRows(s, block, from, to);
  if (n < 0) return n;
  const limit = load<f64>(block + Q_LIMIT);
  const rows = addressAt(block, Q_ROWS_AT);
  if (<f64>n > limit) {
    n = <i32>limit;
    store<f64>(block + A_NEXT, <f64>get<u32>(rows, n - 1) + 1);
  }
  if (load<f64>(block + A_NEXT) < <f64>to) store<f64>(block + A_STATE, STATE_MORE);
  return n ? writeText(s, block, rows, <u32>n) : 0;
}

function writeText(s: usize, block: usize, rows: usize, n: u32): i32 {
  const separator = <u32>load<f64>(block + Q_SEPARATOR);
  const bytes = segmentRows(
    s,
    rows,
    n,
    addressAt(block, Q_PLAN_AT),
    separator,
    addressAt(block, Q_TEXT_AT),
    <u32>load<f64>(block + Q_TEXT_BYTES),
  );
  if (bytes < 0) return bytes;
  const written = resultRows();
  store<f64>(block + A_ROWS, <f64>written);
  const first = load<u32>(rows);
  const last = get<u32>(rows, written - 1);
  if (written < n) {
    store<f64>(block + A_NEXT, <f64>last + 1);
    store<f64>(block + A_STATE, STATE_MORE);
  }
  store<f64>(block + A_FIRST_TIME, <f64>rowTime(s, first));
  store<f64>(block + A_LAST_TIME, <f64>rowTime(s, last));
  store<f64>(block + A_LAST_ID, <f64>rowId(s, last));
  const buckets = last - first + 1 == written ? bucketsOfRows(s, first, last + 1) : bucketsOfList(s, rows, written);
  store<f64>(block + A_BUCKETS, <f64>buckets);
  return bytes;
}
