// Cells of arrays and records in linear memory: these functions turn an index into an address.
//
// An array is the address of its first cell and the type of its cells: `get<u32>(rows, i)` is
// rows[i]. For consecutive records of one size, `element` gives the address of a record, and its
// fields are at constant offsets (`load<u32>(entry, E_OFFSET)`). The optimiser inlines these
// functions, so a call costs only the shift and the load. A loop over all cells of a list may
// advance an address instead (`for (; at < end; at += 4)`).

/** Returns the address of cell `index` of an array of T. */
@inline
export function cell<T>(array: usize, index: usize): usize {
  return array + (index << alignof<T>());
}

/** Returns the size in bytes of `count` cells of T. */
@inline
export function bytesOf<T>(count: usize): usize {
  return count << alignof<T>();
}

/** Returns the value of cell `index` of an array of T. */
@inline
export function get<T>(array: usize, index: usize): T {
  return load<T>(cell<T>(array, index));
}

/** Writes cell `index` of an array of T. */
@inline
export function put<T>(array: usize, index: usize, value: T): void {
  store<T>(cell<T>(array, index), value);
}

/** Returns the address of element `index` of an array of structures of `bytes` bytes each. */
@inline
export function element(array: usize, index: usize, bytes: usize): usize {
  return array + index * bytes;
}

/**
 * Returns the value of the cell after cell `index`: `after(starts, row)` is where the list of `row`
 * ends.
 */
@inline
export function after<T>(array: usize, index: usize): T {
  return load<T>(cell<T>(array, index), sizeof<T>());
}
