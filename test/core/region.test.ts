// Checks that a region in an instance's memory stays intact and usable when memory cannot grow.

import { expect, test } from 'vitest';
import { loadCore } from '../../src/core/index.ts';
import { Region } from '../../src/core/region.ts';

test.each(['ensure', 'extend'] as const)('a region is unchanged after `%s` has failed for lack of memory', (how) => {
  const real = loadCore('debug').instantiate();
  let isFull = false;
  const alloc = (bytes: number) => (isFull ? 0 : real.exports.hg_memory_alloc(bytes));
  const region = new Region({ exports: { ...real.exports, hg_memory_alloc: alloc }, memory: real.memory }, 64);
  real.memory.write(region.pointer, new Uint8Array(64).fill(7));
  const before = [region.pointer, region.bytes];
  isFull = true;
  expect(() => (how === 'ensure' ? region.ensure(4096) : region.extend(4096, 64))).toThrow(/out of memory/);
  expect([region.pointer, region.bytes]).toEqual(before);
  expect([...real.memory.borrow(region.pointer, 64)]).toEqual(new Array(64).fill(7));
  isFull = false;
  region.ensure(4096);
  expect(region.bytes).toBeGreaterThanOrEqual(4096);
});
