import { afterEach, expect, test, vi } from 'vitest';
import { ListTable } from '../../src/query/executor/rows/list-table.ts';
import { ValueIds } from '../../src/query/executor/rows/value-ids.ts';
import { Random } from '../support/random.ts';

const LISTS: Record<string, (random: Random) => number[]> = {
  'short lists of small integers': (random) => Array.from({ length: random.below(4) }, () => random.below(40)),
  'single numbers': (random) => [random.below(150_000)],
  'large integers': (random) => [random.below(300) * 2 ** 40 + random.below(3), random.below(300) * 2 ** 32],
  'fractions on both sides of zero': (random) => [(random.below(500) - 250) / 3, random.below(300) / 7],
  'long lists': (random) =>
    Array.from({ length: 100 + random.below(2) }, (_, index) => (index === 50 ? random.below(900) : 1)),
};

test.each(Object.keys(LISTS))(
  'a list table gives each list a place, beyond every size at which its layout changes: %s',
  (name) => {
    const random = new Random(3);
    const table = new ListTable();
    const places = new Map<string, number>();
    for (let step = 0; step < 60_000; step++) {
      const list = LISTS[name]!(random);
      const key = list.join();
      const known = places.get(key);
      if (table.find(list) !== (known ?? -1)) throw new Error(`[${key}] is at ${table.find(list)}, not ${known}`);
      if (known === undefined) places.set(key, places.size);
      if (table.placeOf(list) !== places.get(key)) throw new Error(`[${key}] has place ${table.placeOf(list)}`);
    }
    expect(table.size).toBe(places.size);
    for (const [key, place] of places) if (table.at(place).join() !== key) throw new Error(`[${key}]`);
  },
);

test('lists differ by order and length, 0 and -0 are one number, and a place may be taken without a list', () => {
  const table = new ListTable();
  const lists = [[1, 2], [2, 1], [1], [], [-0], [0], [1, 2]];
  expect(lists.map((list) => table.placeOf(list))).toEqual([0, 1, 2, 3, 4, 4, 0]);
  expect([table.take(), table.placeOf([7]), table.find([]), table.size]).toEqual([5, 6, 3, 7]);
  expect([table.at(5), table.at(6)]).toEqual([[], [7]]);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

/** Returns the hash of a list of one number in a table whose random seeds are all 1. */
function hashOf(value: number): number {
  const halves = new Uint32Array(new Float64Array([value]).buffer);
  let hash = 1 ^ 1 ^ halves[0]!;
  hash = Math.imul(hash ^ (hash >>> 15) ^ halves[1]!, 0x85ebca6b);
  hash ^= hash >>> 13;
  return (hash ^ (hash >>> 16)) >>> 0;
}

test('lists that mostly fall into one part of a large table are found', async () => {
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    (array as Int32Array).fill(1);
    return array;
  });
  vi.resetModules();
  const seeded = await import('../../src/query/executor/rows/list-table.ts');
  const inOne: number[] = [];
  const others: number[] = [];
  for (let value = 0; inOne.length < 6000; value++) (hashOf(value) >>> 26 === 0 ? inOne : others).push(value);
  const numbers = [...inOne, ...others.slice(0, 14_000)];
  const table = new seeded.ListTable();
  for (const [place, number] of numbers.entries()) expect(table.placeOf([number])).toBe(place);
  for (const [place, number] of numbers.entries()) expect(table.find([number])).toBe(place);
  expect(table.find([1.5])).toBe(-1);
});

test('ids of lists are equal where their JSON is, whichever way a list is compared', () => {
  const ids = new ValueIds('list');
  const long = Array.from({ length: 2000 }, (_, index) => index);
  const lists = [[1, 2], ['a'], null, [1, 2], ['a'], [...long], [], long, [Number.NaN], [null], null];
  const found = ids.idsOf({ kind: 'value', values: lists }, lists.length);
  expect([...found]).toEqual([0, 1, 2, 0, 1, 3, 4, 3, 5, 5, 2]);
  expect([ids.size, ids.nullId]).toEqual([6, 2]);
  const values = ids.valuesOf(Uint32Array.from([0, 1, 2, 3, 4, 5]));
  expect(values).toEqual({ kind: 'value', values: [[1, 2], ['a'], null, long, [], [Number.NaN]] });
  expect([...ids.knownIds({ kind: 'value', values: [[2, 1], [1, 2], null, ['b'], []] }, 5, false)]).toEqual([
    -1, 0, -1, -1, 4,
  ]);
});

test('a table of thousands of lists is divided before moving them all takes long', () => {
  const table = new ListTable();
  let most = 0;
  for (let value = 0; value < 30_000; value++) {
    const before = table.bytes;
    table.placeOf([value]);
    most = Math.max(most, table.bytes - before);
  }
  // The parts take 512 KB when the table is divided.
  expect(most).toBeLessThan(600_000);
});
