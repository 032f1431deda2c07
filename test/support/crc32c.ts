// Computes CRC32C in plain JavaScript, so that storage can be tested without the core.

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/**
 * Returns a checksum that continues from `seed`: `crc32c(b, crc32c(a, 0))` is the checksum of a
 * followed by b.
 */
export function crc32c(bytes: Uint8Array, seed: number): number {
  let value = ~seed;
  for (let index = 0; index < bytes.length; index++) value = TABLE[(value ^ bytes[index]!) & 255]! ^ (value >>> 8);
  return ~value >>> 0;
}
