// Versions and features of this build of the core.

/** Returns the ABI version, which rises when an export changes its meaning or is removed. */
export function hg_abi_version(): u32 {
  return 1;
}

/**
 * Returns the version of the segment and record format that this build writes. This build reads
 * every version from 1 up to this one.
 */
export function hg_format_version(): u32 {
  return 3;
}

/** Returns the features as bits. Bit 0: SIMD. Bit 1: debug build with assertions. */
export function hg_features(): u32 {
  let bits: u32 = 0;
  if (ASC_FEATURE_SIMD) bits |= 1;
  if (!ASC_NO_ASSERT) bits |= 2;
  return bits;
}
