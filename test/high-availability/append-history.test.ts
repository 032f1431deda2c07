// Tests the checker of histories: on bad histories, and against all orders of small random ones.

import { expect, test } from 'vitest';
import { historyProblem, type Operation } from '../support/append-history.ts';
import { Random } from '../support/random.ts';

const write = (value: number, startMs: number, endMs: number): Operation => ({ kind: 'write', value, startMs, endMs });
const read = (values: readonly number[], startMs: number, endMs: number): Operation => ({
  ...{ kind: 'read', values, startMs, endMs },
});

test.each<[string, Operation[], number[], RegExp | undefined]>([
  [
    'writes and reads in turn',
    [write(1, 0, 1), read([1], 2, 3), write(2, 4, 5), read([1, 2], 6, 7)],
    [1, 2],
    undefined,
  ],
  ['a read that overlaps a write sees it or not', [write(1, 0, 9), read([1], 2, 3), read([], 0, 1)], [1], undefined],
  ['a write of unknown outcome is missing', [write(1, 0, Number.POSITIVE_INFINITY)], [], undefined],
  [
    'a write of unknown outcome took effect late',
    [write(1, 0, Number.POSITIVE_INFINITY), read([], 5, 6)],
    [1],
    undefined,
  ],
  ['an acknowledged write is lost', [write(1, 0, 1), write(2, 2, 3)], [2], /write 1 is lost/],
  ['a write is done twice', [write(1, 0, 1)], [1, 1], /twice/],
  ['an element that nobody wrote', [write(1, 0, 1)], [1, 7], /nobody wrote 7/],
  ['a read misses a write that had ended', [write(1, 0, 1), read([], 2, 3)], [1], /did not see the write 1/],
  ['a read goes back', [write(1, 0, 9), read([1], 1, 2), read([], 3, 4)], [1], /did not see a read of 1/],
  ['writes in the other order', [write(1, 0, 1), write(2, 2, 3)], [2, 1], /the write 2 .* did not see the write 1/],
  ['a read of a write that has not begun', [write(1, 5, 6), read([1], 0, 1)], [1], /did not see a read of 1/],
  ['a read of another order', [write(1, 0, 9), write(2, 0, 9), read([2], 1, 2)], [1, 2], /returned 2 as element 0/],
])('%s', (_, operations, final, problem) => {
  const found = historyProblem(operations, final);
  if (problem === undefined) expect(found).toBe(undefined);
  else expect(found).toMatch(problem);
});

/** Whether some order of the operations agrees with their times, the reads and the final list. */
function isLinearizable(left: readonly Operation[], done: readonly number[], final: readonly number[]): boolean {
  if (left.every((operation) => operation.endMs === Number.POSITIVE_INFINITY) && `${done}` === `${final}`) return true;
  const firstEnd = Math.min(...left.map(({ endMs }) => endMs));
  return left.some((operation) => {
    if (operation.startMs > firstEnd) return false;
    const rest = left.filter((other) => other !== operation);
    if (operation.kind === 'write')
      return final[done.length] === operation.value && isLinearizable(rest, [...done, operation.value], final);
    return `${operation.values}` === `${done}` && isLinearizable(rest, done, final);
  });
}

test('agrees with a search of all orders', () => {
  let good = 0;
  for (let seed = 0; seed < 4000; seed++) {
    const random = new Random(seed);
    const writes = 1 + random.below(3);
    const final = Array.from({ length: writes }, (_, index) => index);
    const operations: Operation[] = [];
    for (let count = 0; count < writes + random.below(4); count++) {
      const startMs = random.below(8);
      const endMs = startMs + 0.5 + random.below(6);
      if (count < writes) operations.push(write(count, startMs, random.chance(0.1) ? Number.POSITIVE_INFINITY : endMs));
      else operations.push(read(final.slice(0, random.below(writes + 1)), startMs, endMs));
    }
    const expected = isLinearizable(operations, [], final);
    if (expected) good++;
    expect(historyProblem(operations, final) === undefined, JSON.stringify({ seed, operations })).toBe(expected);
  }
  expect(good).toBeGreaterThan(400);
  expect(good).toBeLessThan(3600);
});
