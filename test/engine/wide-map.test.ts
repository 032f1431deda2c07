// Compares `WideMap` with a Map, and checks that long texts of one length do not make it slow.

import { expect, test, vi } from 'vitest';
import { WideMap } from '../../src/engine/idempotency/wide-map.ts';
import { Random } from '../support/random.ts';

const KEYS: Record<string, (random: Random) => unknown> = {
  'whole numbers': (random) => random.below(200_000) - 100_000,
  'numbers of every size': (random) => (random.below(1000) - 500) * 2 ** random.below(60),
  fractions: (random) => random.below(100_000) / 7,
  texts: (random) => `word ${random.below(100_000)}`,
  'equal endings': (random) => `${random.below(100_000)} and so on, and so on`,
  'everything at once': (random) =>
    [null, true, false, '', 'a', 0, -0, 0.5, Number.NaN, random.below(50_000), `${random.below(50_000)}`][
      random.below(11)
    ],
};

test.each(Object.keys(KEYS))(
  'a wide map agrees with a Map beyond every size at which its layout changes: %s',
  (name) => {
    const random = new Random(1);
    const wide = new WideMap<unknown, number>();
    const plain = new Map<unknown, number>();
    for (let step = 0; step < 60_000; step++) {
      const key = KEYS[name]!(random);
      if (random.chance(0.1)) expect(wide.delete(key)).toBe(plain.delete(key));
      else {
        wide.set(key, step);
        plain.set(key, step);
      }
    }
    expect(wide.size).toBe(plain.size);
    for (const [key, value] of plain) if (wide.get(key) !== value || !wide.has(key)) throw new Error(`${String(key)}`);
    expect([wide.has('never'), wide.get('never')]).toEqual([false, undefined]);
    wide.clear();
    expect([wide.size, wide.has([...plain.keys()][0])]).toEqual([0, false]);
  },
);

test('a wide map handles long texts of one length quickly, and keeps, replaces and deletes them', () => {
  const keys = Array.from({ length: 3000 }, (_, i) => `${'a'.repeat(17_000)}${String(i).padStart(6, '0')}`);
  const wide = new WideMap<string, number>();
  const before = process.cpuUsage();
  for (const [place, key] of keys.entries()) wide.set(key, place);
  for (const [place, key] of keys.entries()) if (wide.get(`${key}`) !== place) throw new Error(`${place}`);
  // A Map takes about eight seconds, because V8 hashes strings of this length by their length only.
  expect(process.cpuUsage(before).user).toBeLessThan(3e6);
  wide.set(keys[7]!, -1);
  expect([wide.size, wide.get(keys[7]!), wide.delete(keys[8]!), wide.delete(keys[8]!)]).toEqual([
    3000,
    -1,
    true,
    false,
  ]);
  expect([wide.size, wide.has(keys[8]!), wide.has(keys[9]!)]).toEqual([2999, false, true]);
});

test('a wide map that is split moves two keys for each new one', () => {
  const wide = new WideMap<string, number>();
  const keys = Array.from({ length: 40_000 }, (_, index) => `word ${index}`);
  const sets = vi.spyOn(Map.prototype, 'set');
  let before = 0;
  let most = 0;
  for (const [index, key] of keys.entries()) {
    wide.set(key, index);
    most = Math.max(most, sets.mock.calls.length - before);
    before = sets.mock.calls.length;
  }
  sets.mockRestore();
  expect(most).toBe(3);
  for (const [index, key] of keys.entries()) if (wide.get(key) !== index) throw new Error(key);
  expect(wide.size).toBe(keys.length);
});
