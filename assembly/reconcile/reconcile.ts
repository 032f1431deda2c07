// Removes the rows that are dead in a snapshot from an ascending list of rows.

import { get, put } from '../memory/cells';

/**
 * Removes from `rows` (u32[n], ascending, changed in place) the rows in `dead` (u32[m], ascending)
 * whose deletion LSN in `deaths` (f64[m]) is <= lsn. If the address `deaths` is 0, removes all rows
 * in `dead`. Returns how many rows remain. Cost: n + log m, plus the number of dead rows between
 * the first and the last row of the list.
 */
export function reconcile(rows: usize, n: u32, dead: usize, deaths: usize, m: u32, lsn: f64): u32 {
  if (!n || !m) return n;
  let j = lowerBound(dead, m, load<u32>(rows));
  let kept: u32 = 0;
  let previous: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const row = get<u32>(rows, i);
    if (!ASC_NO_ASSERT) assert(!i || previous < row, 'rows ascend strictly');
    previous = row;
    while (j < m && get<u32>(dead, j) < row) j++;
    if (!ASC_NO_ASSERT) assert(!j || j >= m || get<u32>(dead, j - 1) <= get<u32>(dead, j), 'dead rows ascend');
    const isDead = j < m && get<u32>(dead, j) == row && (!deaths || get<f64>(deaths, j) <= lsn);
    put<u32>(rows, kept, row);
    kept += u32(!isDead);
  }
  if (!ASC_NO_ASSERT) assert(kept <= n && n - kept <= m, 'no more rows are taken out than are dead');
  return kept;
}

function lowerBound(list: usize, n: u32, value: u32): u32 {
  let base: u32 = 0;
  let length = n;
  while (length > 0) {
    const half = length >> 1;
    if (get<u32>(list, base + half) < value) {
      base += half + 1;
      length -= half + 1;
    } else length = half;
  }
  return base;
}
