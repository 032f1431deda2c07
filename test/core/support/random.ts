// Seeded random numbers for the core's tests and benches.

export interface Random {
  /** Returns a whole number in [0, limit); the limit is at most 2^32. */
  below(limit: number): number;
  /** Returns a double in [0, 1) with 53 random bits. */
  unit(): number;
  bits64(): bigint;
}

/** Returns a mulberry32 generator. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    below: (limit) => Math.floor((next() / 2 ** 32) * limit),
    unit: () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53,
    bits64: () => (BigInt(next()) << 32n) | BigInt(next()),
  };
}

/** Returns up to `count` distinct values below `span`, in ascending order. */
export function ascending(random: Random, count: number, span: number): number[] {
  const values = new Set<number>();
  for (let i = 0; i < count; i++) values.add(random.below(span));
  return [...values].sort((a, b) => a - b);
}
