// Computes CRC-32C (Castagnoli) checksums of byte regions.

import { get, put } from '../memory/cells';

/** Reflected Castagnoli polynomial (RFC 3720, appendix B.4). */
const POLYNOMIAL: u32 = 0x82f63b78;
/**
 * 16 tables of 256 u32, 1,024 bytes each, filled at first use. Entry b of table t is the CRC
 * remainder of the byte b followed by t zero bytes.
 */
const TABLES: usize = memory.data(16384, 16);

function fillTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (POLYNOMIAL & (0 - (crc & 1)));
    put<u32>(TABLES, byte, crc);
  }
  for (let entry: u32 = 256; entry < 4096; entry++) {
    const previous = get<u32>(TABLES, entry - 256);
    put<u32>(TABLES, entry, (previous >>> 8) ^ get<u32>(TABLES, previous & 255));
  }
}

/**
 * Returns the CRC-32C of `len` bytes at `ptr`. Calls can be chained as with zlib's crc32: `seed` is
 * 0 for the first piece of the data; for every other piece it is the checksum of the pieces before
 * it. The checksum of "123456789" is 0xe3069283.
 *
 * Method: slicing by 16 (Kounavis and Berry, 2005). Cost: one table load per byte, and 16 KiB of
 * tables, which the first call fills.
 */
export function crc32c(ptr: usize, len: u32, seed: u32): u32 {
  if (load<u32>(TABLES + 4) == 0) fillTables();
  let crc = ~seed;
  const end = ptr + len;
  const blocksEnd = ptr + (len & ~15);
  for (; ptr < blocksEnd; ptr += 16) {
    const a = load<u32>(ptr) ^ crc;
    const b = load<u32>(ptr, 4);
    const c = load<u32>(ptr, 8);
    const d = load<u32>(ptr, 12);
    // Each load instruction contains the address of its table as a constant offset. A helper that
    // takes the address as an argument would cost one more addition per byte.
    crc =
      load<u32>((d >>> 22) & 0x3fc, TABLES) ^
      load<u32>((d >>> 14) & 0x3fc, TABLES + 1024) ^
      load<u32>((d >>> 6) & 0x3fc, TABLES + 2048) ^
      load<u32>((d << 2) & 0x3fc, TABLES + 3072) ^
      load<u32>((c >>> 22) & 0x3fc, TABLES + 4096) ^
      load<u32>((c >>> 14) & 0x3fc, TABLES + 5120) ^
      load<u32>((c >>> 6) & 0x3fc, TABLES + 6144) ^
      load<u32>((c << 2) & 0x3fc, TABLES + 7168) ^
      load<u32>((b >>> 22) & 0x3fc, TABLES + 8192) ^
      load<u32>((b >>> 14) & 0x3fc, TABLES + 9216) ^
      load<u32>((b >>> 6) & 0x3fc, TABLES + 10240) ^
      load<u32>((b << 2) & 0x3fc, TABLES + 11264) ^
      load<u32>((a >>> 22) & 0x3fc, TABLES + 12288) ^
      load<u32>((a >>> 14) & 0x3fc, TABLES + 13312) ^
      load<u32>((a >>> 6) & 0x3fc, TABLES + 14336) ^
      load<u32>((a << 2) & 0x3fc, TABLES + 15360);
  }
  for (; ptr < end; ptr++) crc = (crc >>> 8) ^ get<u32>(TABLES, (crc ^ load<u8>(ptr)) & 255);
  return ~crc;
}
