// The shape of the checksum function that storage is given (the core computes it).

/**
 * CRC32C (Castagnoli, RFC 3720) of `bytes`, continuing from `seed` (0 to begin): `f(b, f(a, 0))` is the checksum of a then b.
 * Signed or unsigned results are both taken.
 */
export type Crc32c = (bytes: Uint8Array, seed: number) => number;
