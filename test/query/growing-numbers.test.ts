// Tests arrays of numbers that grow ahead of their use.

import { expect, test } from 'vitest';
import { GrowingNumbers } from '../../src/query/executor/folds/growing-numbers.ts';

test.each([1, 1000, 70_000])('a growing array is 0 wherever nothing was written, in steps of %i', (step) => {
  const numbers = new GrowingNumbers();
  const most = step === 1 ? 300_000 : 1_000_000;
  let sum = 0;
  for (let count = step; count <= most; count += step) {
    // Memory that is given back is dirty when it is allocated again.
    if (count % (64 * step) === 0) Buffer.allocUnsafeSlow(2 ** 20).fill(255);
    numbers.reserve(count);
    numbers.values[count - 1] = 7;
    sum += 7;
  }
  expect(numbers.values.length).toBeGreaterThanOrEqual(most - step);
  expect(numbers.values.reduce((total, value) => total + value, 0)).toBe(sum);
});
