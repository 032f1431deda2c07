import { afterEach, expect, test, vi } from 'vitest';
import { NumberTable } from '../../src/query/executor/rows/number-table.ts';
import { Random } from '../support/random.ts';

const NUMBERS: Record<string, (random: Random) => number> = {
  'small integers': (random) => random.below(150_000),
  'integers on both sides of zero': (random) => random.below(300_000) - 150_000,
  'large integers': (random) => random.below(200_000) * 2 ** 26 + random.below(3),
  fractions: (random) => random.below(200_000) / 3,
  'numbers of every size': (random) => (random.below(2000) - 1000) * 2 ** (random.below(90) - 30),
};

test.each(Object.keys(NUMBERS))(
  'a number table gives each number a place, beyond every size at which its layout changes: %s',
  (name) => {
    const random = new Random(3);
    const table = new NumberTable();
    const places = new Map<number, number>();
    for (let step = 0; step < 200_000; step++) {
      const value = NUMBERS[name]!(random);
      let place = places.get(value);
      if (place === undefined) {
        place = places.size;
        places.set(value, place);
      }
      if (table.placeOf(value) !== place) throw new Error(`${value} has place ${table.placeOf(value)}, not ${place}`);
    }
    expect(table.size).toBe(places.size);
    for (const [value, place] of places)
      if (table.at(place) !== value + 0 || table.placeOf(value) !== place) throw new Error(`${value}`);
  },
);

test('0 and -0 are one number, and a place may be taken without a number', () => {
  const table = new NumberTable();
  expect([table.placeOf(-0), table.placeOf(0), table.take(), table.placeOf(1.5)]).toEqual([0, 0, 1, 2]);
  expect([table.size, table.at(1)]).toEqual([3, Number.NaN]);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

/** Returns the hash of a number in a table whose random seeds are all 1. */
function hashOf(value: number): number {
  const halves = new Uint32Array(new Float64Array([value]).buffer);
  let hash = halves[0]! ^ 1;
  hash = Math.imul(hash ^ (hash >>> 15) ^ halves[1]!, 0x85ebca6b);
  hash ^= hash >>> 13;
  return (hash ^ (hash >>> 16)) >>> 0;
}

test('numbers that mostly fall into one part of a large table are found', async () => {
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    (array as Int32Array).fill(1);
    return array;
  });
  vi.resetModules();
  const seeded = await import('../../src/query/executor/rows/number-table.ts');
  const inOne: number[] = [];
  const others: number[] = [];
  for (let value = 3_000_000; inOne.length < 6000; value++) (hashOf(value) >>> 26 === 0 ? inOne : others).push(value);
  const numbers = [...inOne, ...others.slice(0, 14_000)];
  const table = new seeded.NumberTable();
  for (const [place, number] of numbers.entries()) expect(table.placeOf(number)).toBe(place);
  for (const [place, number] of numbers.entries()) expect(table.find(number)).toBe(place);
  expect(table.find(1.5)).toBe(-1);
});

test('a few large integers do not reserve memory for all smaller ones', () => {
  const before = process.memoryUsage().arrayBuffers;
  const tables = Array.from({ length: 200 }, () => new NumberTable());
  for (const table of tables) for (const value of [2_000_000, 3, 1_999_999, 2_000_000]) table.placeOf(value);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 24);
  expect(tables.map((table) => [table.size, table.find(1_999_999), table.find(1_999_998)])).toEqual(
    tables.map(() => [3, 2, -1]),
  );
});

test('a table of thousands of numbers is divided before moving them all takes long', () => {
  const table = new NumberTable();
  let most = 0;
  for (let value = 0; value < 30_000; value++) {
    const before = table.bytes;
    table.placeOf(value + 0.5);
    most = Math.max(most, table.bytes - before);
  }
  // The parts take 1 MB when the table is divided.
  expect(most).toBeLessThan(1_100_000);
});
