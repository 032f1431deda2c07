// Runs the short form of `npm run ha`: one run for each fault.

import { afterAll, describe, expect, test } from 'vitest';
import { type Pair, startPair } from '../process/ha-cluster.ts';
import { FAULTS, haRun } from '../process/ha-run.ts';

let pair: Pair | undefined = await startPair();
const isMissing = pair === undefined;

afterAll(() => pair?.stop());

describe.skipIf(isMissing)('three servers under load', () => {
  // A promoted standby is the last, because the pair cannot be used afterwards.
  test.each(FAULTS)('lose and double no write, and agree: %s', { timeout: 180_000 }, async (fault) => {
    const result = await haRun(pair!, fault, 1);
    expect(result.problems).toEqual([]);
    expect([result.writes > 10, result.reads > 10]).toEqual([true, true]);
    if (fault !== 'promote') return;
    await pair!.stop();
    pair = undefined;
  });
});
