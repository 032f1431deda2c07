// Converts time and id bounds passed through the ABI.

/**
 * Converts a time or id bound to an integer. Numbers out of range and infinities are clamped, so
 * that bounds before and after all keys can be expressed; NaN becomes 0.
 */
export function boundOf(value: f64): i64 {
  if (value <= -9007199254740992) return -9007199254740992;
  if (value >= 9007199254740992) return 9007199254740992;
  return value == value ? <i64>value : 0;
}
