// Measures times: alternates the sides, returns medians of rounds, and keeps results alive.

/**
 * One side of a race. Does its work once, and returns the time (or the rate). Returns a promise if
 * the work is asynchronous.
 */
export type Side = () => number | Promise<number>;

/**
 * Runs the sides alternately, reversing the order every round, so that other load on the machine
 * affects all of them. Returns the median of each side. With `warmUp`, each side first runs once
 * more, which is not counted.
 */
export async function alternate(rounds: number, sides: readonly Side[], warmUp = false): Promise<number[]> {
  if (warmUp) for (const side of sides) await side();
  const taken: number[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round++) {
    const order = sides.map((_, index) => (round % 2 === 0 ? index : sides.length - 1 - index));
    for (const index of order) taken[index]!.push(await sides[index]!());
  }
  return taken.map(median);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the milliseconds of one run. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** No further round starts after this much CPU time, in milliseconds. */
const MOST_CPU_MS = 4000;

/**
 * Returns the lowest CPU time of the rounds, and the last result. Other load on the machine
 * disturbs this minimum least.
 */
export function bestCpuMs<Value>(rounds: number, work: () => Value): { ms: number; value: Value } {
  let best = Infinity;
  let all = 0;
  for (let round = 1; ; round++) {
    const start = process.cpuUsage();
    const value = work();
    const { user, system } = process.cpuUsage(start);
    // The clock has microsecond resolution.
    const ms = Math.max(1, user + system) / 1000;
    best = Math.min(best, ms);
    all += ms;
    if (round >= rounds || all > MOST_CPU_MS) return { ms: best, value };
  }
}

let sunk = 0;

/** Consumes a result, so that no compiler removes the work that produced it. */
export function sink(value: number): void {
  sunk = (sunk + value) % 1_000_003;
}

export function sinkValue(): number {
  return sunk;
}
