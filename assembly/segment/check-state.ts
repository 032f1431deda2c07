// The state of a check that is done in steps: where it continues, and what it has found so far.

/** Size in bytes of the state. */
export const CHECK_STATE_BYTES: u32 = 64;
/** Number of bytes of a checksum, a copy or a comparison of texts that are one unit of work. */
export const BYTES_A_UNIT: u32 = 16;
/** Result of a step or a stage that must be continued. */
export const MORE: i32 = 1;

export const K_STAGE: usize = 0;
/** Units of work left in this call. */
export const K_LEFT: usize = 4;
/** Address of the region that the check holds between two calls, or 0. */
export const K_HEADS: usize = 8;
/** Index of the next item of the stage. This field and those after it are 0 when a stage begins. */
export const K_AT: usize = 16;
/** How far the item is done: bytes of the section, rows of the column. */
export const K_DONE: usize = 20;
/** What the stage has found so far: 40 bytes, which each stage uses in its own way. */
export const K_VALUES: usize = 24;

/** Takes `units` from the work that is left, or all of it. */
export function spend(state: usize, units: u32): void {
  const left = load<u32>(state + K_LEFT);
  store<u32>(state + K_LEFT, left > units ? left - units : 0);
}
