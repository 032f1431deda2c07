// Generates random numbers from a seed (mulberry32), so that the same seed always gives the same
// demo.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 (included) to 1 (excluded). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns a random item; the list must not be empty. */
  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)]!;
  }

  /** Returns `count` different items, or all of them when there are fewer. */
  sample<T>(items: readonly T[], count: number): T[] {
    const left = [...items];
    const most = Math.min(count, left.length);
    for (let i = 0; i < most; i++) {
      const other = this.between(i, left.length - 1);
      [left[i], left[other]] = [left[other]!, left[i]!];
    }
    return left.slice(0, most);
  }

  shuffled<T>(items: readonly T[]): T[] {
    return this.sample(items, items.length);
  }
}
