// Tests that kill -9 at random moments loses no acknowledged operation, and that every other
// operation is stored completely or not at all. The long form is `npm run kill`.

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { killLoop } from './kill-loop.ts';

const BUILT = existsSync(new URL('../../dist/main.js', import.meta.url));

test.skipIf(!BUILT)(
  '40 kills of an embedded writer leave nothing lost, duplicated or half applied',
  { timeout: 300_000 },
  async () => {
    const figures = await killLoop(40, 15, false);
    expect(figures.kills).toBe(40);
    expect(figures.acknowledged).toBeGreaterThan(0);
  },
);

test.skipIf(!BUILT)(
  '10 kills of the service leave nothing lost, duplicated or half applied',
  { timeout: 300_000 },
  async () => {
    const figures = await killLoop(10, 15, true);
    expect(figures.kills).toBe(10);
    expect(figures.acknowledged).toBeGreaterThan(0);
  },
);
