// Encodes ascending member ids as stream-vbyte with lengths 1, 2, 4 and 8 (FORMAT.md section 1;
// Lemire, Kurz, Rupp 2018).
//
// The first member is zigzag encoded. Every other member is stored as the difference from the
// member before it. Each value takes the shortest of 1, 2, 4 or 8 bytes, little-endian. The length
// codes, 2 bits each, are collected in control bytes in front of the data, four codes per byte, so
// that decoding has no data-dependent branches.
//
// Example: {3, 5, 300} gives the values zigzag(3) = 6, 2 and 295, whose length codes are 0, 0 and
// 1. The encoding is control byte 0x10, then 06 02 27 01.

import { MAX_SAFE } from '../limits';
import { get, put } from '../memory/cells';

export function zigzag(value: i64): u64 {
  return <u64>((value << 1) ^ (value >> 63));
}

export function unzigzag(value: u64): i64 {
  return <i64>(value >> 1) ^ -(<i64>(value & 1));
}

/** Returns the length code of a value: 0, 1, 2 or 3 for 1, 2, 4 or 8 bytes. */
function lengthCode(value: u64): u32 {
  return u32(value > 0xff) + u32(value > 0xffff) + u32(value > 0xffffffff);
}

/** Returns an upper bound on the size in bytes of n encoded members. */
export function membersBound(n: u32): u32 {
  return ((n + 3) >> 2) + n * 8;
}

/**
 * Writes n strictly ascending members (i64) at `out`; returns the end address. Writes at most
 * `membersBound(n)` bytes.
 */
export function encodeMembers(members: usize, n: u32, out: usize): usize {
  let data = out + ((n + 3) >> 2);
  let control: u32 = 0;
  let previous: i64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const member = get<i64>(members, i);
    if (!ASC_NO_ASSERT) assert(!i || member > previous, 'members to encode ascend strictly');
    const value: u64 = i ? <u64>(member - previous) : zigzag(member);
    previous = member;
    const code = lengthCode(value);
    store<u64>(data, value);
    data += (<usize>1) << code;
    control |= code << ((i & 3) << 1);
    if ((i & 3) == 3) {
      store<u8>(out + (i >> 2), control);
      control = 0;
    }
  }
  if (n & 3) store<u8>(out + (n >> 2), control);
  if (!ASC_NO_ASSERT) assert(data <= out + membersBound(n), 'encoded members are within their bound');
  return data;
}

/**
 * Decodes n members from `src` into `out` (i64); returns the end of the encoded bytes. May read up
 * to 7 bytes beyond this end.
 */
export function decodeMembers(src: usize, n: u32, out: usize): usize {
  let data = src + ((n + 3) >> 2);
  let previous: i64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const code = (load<u8>(src + (i >> 2)) >> <u8>((i & 3) << 1)) & 3;
    const value = load<u64>(data) & (u64.MAX_VALUE >> (64 - ((<u64>8) << code)));
    data += (<usize>1) << code;
    previous = i ? previous + <i64>value : unzigzag(value);
    if (!ASC_NO_ASSERT) assert(!i || value > 0, 'decoded members ascend strictly');
    put<i64>(out, i, previous);
  }
  return data;
}

/** Returns the end address of n encoded members. */
export function skipMembers(src: usize, n: u32): usize {
  let data = src + ((n + 3) >> 2);
  for (let i: u32 = 0; i < n; i++) {
    data += (<usize>1) << ((load<u8>(src + (i >> 2)) >> <u8>((i & 3) << 1)) & 3);
  }
  return data;
}

/**
 * Checks n encoded members in [src, end): they must be in bounds, each in the shortest length, and
 * strictly ascending safe integers, and unused bits of the control bytes must be 0. Returns the end
 * address, or 0 if a rule is violated.
 */
export function checkMembers(src: usize, n: u32, end: usize): usize {
  let data = src + ((n + 3) >> 2);
  if (data > end) return 0;
  let previous: i64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const code = (load<u8>(src + (i >> 2)) >> <u8>((i & 3) << 1)) & 3;
    const length = (<usize>1) << code;
    if (data + length > end) return 0;
    const value = load<u64>(data) & (u64.MAX_VALUE >> (64 - ((<u64>8) << code)));
    if (lengthCode(value) != code) return 0;
    if (value > <u64>MAX_SAFE * 2 + 1) return 0;
    if (i && !value) return 0;
    previous = i ? previous + <i64>value : unzigzag(value);
    if (previous > MAX_SAFE || previous < -MAX_SAFE) return 0;
    data += length;
  }
  const unused = n & 3 ? load<u8>(src + (n >> 2)) >> <u8>((n & 3) << 1) : 0;
  return unused ? 0 : data;
}
