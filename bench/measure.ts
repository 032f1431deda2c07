// How times are taken: sides in turns, medians of rounds, results kept alive.

/** One side of a race: does its work once and answers what it cost (or reached); a promise where it waits. */
export type Side = () => number | Promise<number>;

/**
 * Runs the sides in turns, the order reversed every round, so that what else the machine does falls on all of them; answers the
 * median of each. The first run of each side is a warm-up when `warmUp` is given, and not counted.
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

/** Milliseconds of one run. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** No more rounds once they took so long. */
const MOST_CPU_MS = 4000;

/** The least CPU time of the rounds, which others at work on the machine disturb least, and the last result. */
export function bestCpuMs<Value>(rounds: number, work: () => Value): { ms: number; value: Value } {
  let best = Infinity;
  let all = 0;
  for (let round = 1; ; round++) {
    const start = process.cpuUsage();
    const value = work();
    const { user, system } = process.cpuUsage(start);
    // The clock counts microseconds.
    const ms = Math.max(1, user + system) / 1000;
    best = Math.min(best, ms);
    all += ms;
    if (round >= rounds || all > MOST_CPU_MS) return { ms: best, value };
  }
}

let sunk = 0;

/** Uses a result, so that no compiler drops the work that made it. */
export function sink(value: number): void {
  sunk = (sunk + value) % 1_000_003;
}

export function sinkValue(): number {
  return sunk;
}
