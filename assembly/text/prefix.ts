// Makes the list of the documents that contain a term with a prefix: adds the frequencies of all
// its terms in an array with a sum per document.

import { alloc } from '../memory/alloc';
import { bytesOf, cell, get, put } from '../memory/cells';
import { C_DOCUMENTS, C_ROW, CURSOR_BYTES, frequency, makeList, next, openList, openNext, rowsOfList } from './cursor';
import { WALK_BYTES, walkTo } from './dictionary';
import {
  cursorOf,
  dropWork,
  P_COUNT,
  P_FIRST,
  P_LIST,
  PREPARE_MORE,
  PREPARE_NO_MEMORY,
  Q_BASE,
  Q_DOCUMENTS,
  Q_LENGTHS,
  Q_WIDTH,
  Q_WORK,
  Q_WORK_AT,
} from './query';

const terms: usize = memory.data(CURSOR_BYTES, 16);

/**
 * Prepares a part with a prefix of at least two terms. Returns the work that is left,
 * PREPARE_MORE or PREPARE_NO_MEMORY. The work of the query: a walk over the terms, then u32 per
 * document.
 */
export function preparePrefix(q: usize, part: usize, work: i32): i32 {
  const documents = load<u32>(q + Q_DOCUMENTS);
  let region = <usize>load<u32>(q + Q_WORK);
  if (!region) {
    region = alloc(<u32>(WALK_BYTES + bytesOf<u32>(documents)));
    if (!region) return PREPARE_NO_MEMORY;
    store<u32>(q + Q_WORK, <u32>region);
    memory.fill(region, 0, WALK_BYTES + bytesOf<u32>(documents));
    walkTo(load<u32>(q + Q_BASE), load<u32>(part + P_FIRST), region);
  }
  const sums = region + WALK_BYTES;
  const count = load<u32>(part + P_COUNT);
  for (let i = load<u32>(q + Q_WORK_AT); i < count; i++) {
    if (work < 0) return PREPARE_MORE;
    openNext(terms, region);
    for (; load<u32>(terms + C_ROW) < documents; next(terms)) {
      const sum = cell<u32>(sums, load<u32>(terms + C_ROW));
      store<u32>(sum, load<u32>(sum) + frequency(terms));
    }
    work -= 1 + <i32>load<u32>(terms + C_DOCUMENTS);
    store<u32>(q + Q_WORK_AT, i + 1);
  }
  return collect(q, part, sums) ? max(work - <i32>documents, -1) : PREPARE_NO_MEMORY;
}

/** Makes the list of the documents whose sum is not 0. Returns false if out of memory. */
function collect(q: usize, part: usize, sums: usize): bool {
  const documents = load<u32>(q + Q_DOCUMENTS);
  let n: u32 = 0;
  for (let row: u32 = 0; row < documents; row++) n += u32(get<u32>(sums, row) != 0);
  const list = makeList(n);
  if (!list) return false;
  const rows = rowsOfList(list, n);
  let at: u32 = 0;
  for (let row: u32 = 0; row < documents; row++) {
    const sum = get<u32>(sums, row);
    if (!sum) continue;
    put<u32>(list, at, sum - 1);
    put<u16>(rows, at, <u16>row);
    at++;
  }
  if (!ASC_NO_ASSERT) assert(!load<u32>(part + P_LIST), 'a part is prepared once');
  store<u32>(part + P_LIST, <u32>list);
  openList(cursorOf(part), list, n, n, load<u32>(q + Q_LENGTHS), load<u32>(q + Q_WIDTH));
  dropWork(q);
  return true;
}
