// The type of the checksum function that is passed to storage; the core implements it.

/**
 * CRC32C (Castagnoli, RFC 3720) of `bytes`, continuing from `seed` (0 to begin): `f(b, f(a, 0))` is
 * the checksum of a followed by b. The result may be signed or unsigned.
 */
export type Crc32c = (bytes: Uint8Array, seed: number) => number;
