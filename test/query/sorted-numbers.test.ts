// Tests the steps of the merge sort: how many comparisons are made between two pauses.

import { expect, test } from 'vitest';
import { MOST_OF_RUN, sortedNumbers } from '../../src/query/executor/sorts/sorted-numbers.ts';
import { Random } from '../support/random.ts';

/** Returns the sorted numbers, and the number of comparisons in each step. */
function sortedIn(numbers: Uint32Array, run: number): { sorted: Uint32Array; comparisons: number[] } {
  const comparisons: number[] = [];
  let count = 0;
  const steps = sortedNumbers(
    numbers,
    (a, b) => {
      count++;
      return (a % 1000) - (b % 1000);
    },
    run,
  );
  for (;;) {
    const step = steps.next();
    comparisons.push(count);
    count = 0;
    if (step.done === true) return { sorted: step.value, comparisons };
  }
}

test.each([0, 1, 255, 256, 257, 4096, 5000, 100_000])('%i numbers are sorted, and equal ones keep their order', (n) => {
  const random = new Random(n);
  const numbers = Uint32Array.from({ length: n }, () => random.below(1_000_000));
  const wanted = [...numbers].sort((a, b) => (a % 1000) - (b % 1000));
  for (const run of [16, 300, MOST_OF_RUN]) expect([...sortedIn(numbers, run).sorted]).toEqual(wanted);
});

test('the first steps are small, and no step is larger than the run of a full step', () => {
  const random = new Random(1);
  const numbers = Uint32Array.from({ length: 50_000 }, () => random.below(1_000_000));
  const { comparisons } = sortedIn(numbers, MOST_OF_RUN);
  expect(comparisons[0]).toBeLessThan(256 * 8);
  expect(comparisons[1]).toBeLessThan(512 * 9);
  expect(Math.max(...comparisons)).toBeLessThan(MOST_OF_RUN * 12);
});
