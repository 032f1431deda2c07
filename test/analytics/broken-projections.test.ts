// Checks what happens to projections that one of their users has released as broken.

import { expect, test } from 'vitest';
import { ProjectionCache } from '../../src/analytics/cache.ts';
import type { SharedProjections } from '../../src/analytics/shared-projections.ts';
import type { EdgeSource } from '../../src/analytics/work.ts';
import { type Core, loadCore } from '../../src/core/index.ts';

const SOURCE = { tableId: 1, token: 'rows', window: { startTs: undefined, endTs: undefined } } as unknown as EdgeSource;

test('the core instance of a broken projection is not reused, no matter which user releases it last', async () => {
  const cache = new ProjectionCache(2 ** 30, loadCore());
  const cores: Core[] = [];
  const make = async (core: Core) => {
    cores.push(core);
    return { core } as unknown as SharedProjections;
  };
  const take = () => cache.take(SOURCE, make, () => false);
  const [one, other] = [await take(), await take()];
  expect(cores).toHaveLength(1);
  one.release(true);
  other.release(false);
  (await take()).release(false);
  expect(cores).toHaveLength(2);
  expect(cores[1]).not.toBe(cores[0]);
});
