// Computes CRC-32C checksums with the core, for the storage layer.

import type { Core } from './load.ts';
import { Region } from './region.ts';

const CHUNK = 262144;

/**
 * Returns a function that is called like zlib's crc32 (seed 0 for the first piece), but uses the
 * Castagnoli polynomial (RFC 3720).
 */
export function makeChecksum(core: Core): (bytes: Uint8Array, seed: number) => number {
  const region = new Region(core, 4096);
  return (bytes, seed) => {
    let crc = seed;
    if (bytes.length > region.bytes) region.ensure(Math.min(bytes.length, CHUNK));
    for (let at = 0; at < bytes.length; at += CHUNK) {
      const piece = at === 0 && bytes.length <= CHUNK ? bytes : bytes.subarray(at, at + CHUNK);
      core.memory.write(region.pointer, piece);
      crc = core.exports.hg_crc32c(region.pointer, piece.length, crc) >>> 0;
    }
    return crc;
  };
}
