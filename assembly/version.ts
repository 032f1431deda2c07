// Versions and features of this build of the core.

/** Incremented when an export changes its meaning or is removed. */
export function hg_abi_version(): u32 {
  return 1;
}

/** Newest segment and record format, which this build writes; it reads every version from 1 on. */
export function hg_format_version(): u32 {
  return 1;
}

/** Bit 0: SIMD. Bit 1: debug build with assertions. */
export function hg_features(): u32 {
  let bits: u32 = 0;
  if (ASC_FEATURE_SIMD) bits |= 1;
  if (!ASC_NO_ASSERT) bits |= 2;
  return bits;
}
