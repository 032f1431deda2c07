// Compressed sparse rows: running sums, transposes, rows picked out of others. Rows [from, to) at a time.

/** Replaces n u32 by the sum of those before them, beginning with `first`; returns the sum of all. */
export function runningSums(values: usize, n: u32, first: u32): u32 {
  for (const end = values + ((<usize>n) << 2); values < end; values += 4) {
    const value = load<u32>(values);
    store<u32>(values, first);
    first += value;
  }
  return first;
}

/** Adds to `counts` (u32) how often each of n items occurs. */
export function tally(items: usize, n: u32, counts: usize): void {
  for (const end = items + ((<usize>n) << 2); items < end; items += 4) {
    const count = counts + ((<usize>load<u32>(items)) << 2);
    store<u32>(count, load<u32>(count) + 1);
  }
}

/**
 * Writes the rows of each item: `cursors` (u32, one an item) say where the next one goes and move on. When all rows are done, a cursor stands where the
 * next item's rows begin.
 */
export function transpose(starts: usize, items: usize, from: u32, to: u32, cursors: usize, out: usize): void {
  let at = items + ((<usize>load<u32>(starts + ((<usize>from) << 2))) << 2);
  for (let row = from; row < to; row++) {
    const end = items + ((<usize>load<u32>(starts + ((<usize>(row + 1)) << 2))) << 2);
    for (; at < end; at += 4) {
      const cursor = cursors + ((<usize>load<u32>(at)) << 2);
      const place = load<u32>(cursor);
      store<u32>(cursor, place + 1);
      store<u32>(out + ((<usize>place) << 2), row);
    }
  }
}

/** Copies the items of rows list[from, to) to where `toStarts` says. */
export function pickRows(
  starts: usize,
  items: usize,
  list: usize,
  from: u32,
  to: u32,
  toStarts: usize,
  toItems: usize,
): void {
  let at = toItems + ((<usize>load<u32>(toStarts + ((<usize>from) << 2))) << 2);
  for (let i = from; i < to; i++) {
    const start = starts + ((<usize>load<u32>(list + ((<usize>i) << 2))) << 2);
    const end = items + ((<usize>load<u32>(start, 4)) << 2);
    for (let item = items + ((<usize>load<u32>(start)) << 2); item < end; item += 4) {
      store<u32>(at, load<u32>(item));
      at += 4;
    }
  }
}

/** Writes values[list[i]] (f64) at out[i] for i in [from, to). */
export function pickNumbers(values: usize, list: usize, from: u32, to: u32, out: usize): void {
  for (let i = from; i < to; i++) {
    const row = load<u32>(list + ((<usize>i) << 2));
    store<f64>(out + ((<usize>i) << 3), load<f64>(values + ((<usize>row) << 3)));
  }
}

/** Writes n u32, each `by` more, at `out`. */
export function shifted(values: usize, n: u32, by: u32, out: usize): void {
  for (const end = values + ((<usize>n) << 2); values < end; values += 4) {
    store<u32>(out, load<u32>(values) + by);
    out += 4;
  }
}
