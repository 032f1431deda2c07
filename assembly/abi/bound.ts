// Time and id bounds as passed through the ABI.

/**
 * A time or id bound: out-of-range numbers and infinities are clamped, so that "before all" and
 * "after all" can be expressed.
 */
export function boundOf(value: f64): i64 {
  if (value <= -9007199254740992) return -9007199254740992;
  if (value >= 9007199254740992) return 9007199254740992;
  return value == value ? <i64>value : 0;
}
