// Cells of arrays and records in linear memory: the one place that turns an index into an address.
//
// An array is the address of its first cell and the type of its cells: `get<u32>(rows, i)` is
// rows[i]. Records of one size behind each other are addressed by `at`, their fields by constant
// offsets (`load<u32>(entry, E_OFFSET)`). The optimiser puts each of these functions in place of
// its call, so a call costs what the shift and the load cost. A loop over all cells of a list may
// walk its address instead (`for (; at < end; at += 4)`).

/** Address of cell `index` of an array of T. */
@inline
export function cell<T>(array: usize, index: usize): usize {
  return array + (index << alignof<T>());
}

/** Bytes of `count` cells of T. */
@inline
export function bytesOf<T>(count: usize): usize {
  return count << alignof<T>();
}

/** Cell `index` of an array of T. */
@inline
export function get<T>(array: usize, index: usize): T {
  return load<T>(cell<T>(array, index));
}

/** Writes cell `index` of an array of T. */
@inline
export function put<T>(array: usize, index: usize, value: T): void {
  store<T>(cell<T>(array, index), value);
}

/** Address of element `index` of an array of structures of `bytes` bytes each. */
@inline
export function element(array: usize, index: usize, bytes: usize): usize {
  return array + index * bytes;
}

/** The cell after cell `index`: `after(starts, row)` is where the list of `row` ends. */
@inline
export function after<T>(array: usize, index: usize): T {
  return load<T>(cell<T>(array, index), sizeof<T>());
}
