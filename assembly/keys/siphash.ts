// SipHash-1-3 (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012), with the 128-bit
// secret key of the instance. So a client that chooses keys cannot find ones with equal hashes.

let key0: u64 = 0x736f6d6570736575;
let key1: u64 = 0x646f72616e646f6d;

/** Sets the secret key. Must be called before the first hash is stored. */
export function setHashKey(a: u32, b: u32, c: u32, d: u32): void {
  key0 = ((<u64>a) << 32) | b;
  key1 = ((<u64>c) << 32) | d;
}

/**
 * Returns the hash of `bytes` bytes at `at` (8 more bytes are readable) under the secret key, in
 * which `tweak` is XORed; different tweaks give unrelated hashes.
 */
export function sipHash(at: usize, bytes: u32, tweak: u32): u64 {
  const second = key1 ^ <u64>tweak;
  let v0 = key0 ^ 0x736f6d6570736575;
  let v1 = second ^ 0x646f72616e646f6d;
  let v2 = key0 ^ 0x6c7967656e657261;
  let v3 = second ^ 0x7465646279746573;
  const end = at + (bytes & ~7);
  // One round for each word.
  for (; at < end; at += 8) {
    const word = load<u64>(at);
    v3 ^= word;
    v0 += v1;
    v1 = rotl(v1, 13) ^ v0;
    v0 = rotl(v0, 32);
    v2 += v3;
    v3 = rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotl(v1, 17) ^ v2;
    v2 = rotl(v2, 32);
    v0 ^= word;
  }
  // One for the last, incomplete word; then three without input.
  const left = (bytes & 7) * 8;
  const word = (load<u64>(end) & (((<u64>1) << left) - 1)) | ((<u64>bytes) << 56);
  v3 ^= word;
  v0 += v1;
  v1 = rotl(v1, 13) ^ v0;
  v0 = rotl(v0, 32);
  v2 += v3;
  v3 = rotl(v3, 16) ^ v2;
  v0 += v3;
  v3 = rotl(v3, 21) ^ v0;
  v2 += v1;
  v1 = rotl(v1, 17) ^ v2;
  v2 = rotl(v2, 32);
  v0 ^= word;
  v2 ^= 0xff;
  for (let i = 0; i < 3; i++) {
    v0 += v1;
    v1 = rotl(v1, 13) ^ v0;
    v0 = rotl(v0, 32);
    v2 += v3;
    v3 = rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotl(v1, 17) ^ v2;
    v2 = rotl(v2, 32);
  }
  return v0 ^ v1 ^ v2 ^ v3;
}
