// Counters and histograms in typed arrays, updated on the hot path at about ten nanoseconds per
// sample.

/** Upper bounds of the buckets for durations, in microseconds: 50 us to 10 s. */
export const DURATION_BOUNDS_US: readonly number[] = [
  50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
  5_000_000, 10_000_000,
];
export const OPERATIONS_BOUNDS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 16384];
export const BYTES_BOUNDS: readonly number[] = [
  256,
  1024,
  4096,
  16384,
  65536,
  2 ** 18,
  2 ** 20,
  2 ** 22,
  2 ** 24,
  2 ** 26,
];

/**
 * Histograms of one measure, one per series. A series is a combination of labels; series are
 * numbered from 0.
 */
export class Histograms {
  readonly bounds: Float64Array;
  /**
   * Samples per bucket, not cumulative. Each series has `bounds.length + 1` buckets; the last one
   * has no upper bound.
   */
  #counts: Float64Array;
  #sums: Float64Array;

  constructor(bounds: readonly number[], series: number) {
    this.bounds = Float64Array.from(bounds);
    this.#counts = new Float64Array(series * (bounds.length + 1));
    this.#sums = new Float64Array(series);
  }

  get series(): number {
    return this.#sums.length;
  }

  /** Adds a sample. A negative value or NaN (from a faulty clock) counts as 0. */
  add(series: number, value: number): void {
    const bounds = this.bounds;
    let counted = value;
    if (!(counted > 0)) counted = 0;
    let bucket = 0;
    while (bucket < bounds.length && counted > bounds[bucket]!) bucket += 1;
    this.#counts[series * (bounds.length + 1) + bucket]! += 1;
    this.#sums[series]! += counted;
  }

  /** Makes room for at least `series` series. */
  grow(series: number): void {
    if (series <= this.series) return;
    const counts = new Float64Array(series * (this.bounds.length + 1));
    counts.set(this.#counts);
    this.#counts = counts;
    const sums = new Float64Array(series);
    sums.set(this.#sums);
    this.#sums = sums;
  }

  /**
   * Returns the number of samples at or below each bound, then the number of all samples, as
   * Prometheus expects.
   */
  cumulated(series: number): number[] {
    const buckets = this.bounds.length + 1;
    let total = 0;
    return Array.from(this.#counts.subarray(series * buckets, (series + 1) * buckets), (count) => {
      total += count;
      return total;
    });
  }

  sum(series: number): number {
    return this.#sums[series]!;
  }
}

/** The classes 1xx to 5xx. */
const STATUS_CLASSES = 5;

/** Counts answers by route and status class. */
export class AnswerCounts {
  #counts = new Float64Array(0);

  add(route: number, status: number): void {
    const place = route * STATUS_CLASSES + statusClass(status);
    this.#counts[place]! += 1;
  }

  grow(routes: number): void {
    const counts = new Float64Array(routes * STATUS_CLASSES);
    counts.set(this.#counts);
    this.#counts = counts;
  }

  /** Calls `visit` for each combination with a count above 0. `status` is a class such as `2xx`. */
  forEach(visit: (route: number, status: string, count: number) => void): void {
    this.#counts.forEach((count, place) => {
      if (count > 0) visit(Math.floor(place / STATUS_CLASSES), `${(place % STATUS_CLASSES) + 1}xx`, count);
    });
  }
}

/** Returns 0 for 1xx up to 4 for 5xx; an invalid status counts as a server error (4). */
function statusClass(status: number): number {
  return status >= 100 && status < 500 ? Math.floor(status / 100) - 1 : STATUS_CLASSES - 1;
}
