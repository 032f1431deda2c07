// Random histories of appends, crashes, kills and disk faults: acknowledged operations survive,
// frames are complete, LSNs have no gaps.

import { expect, test } from 'vitest';
import { LogHistory } from '../support/log-history.ts';

const SEEDS = Number(process.env.HEDGEROW_LOG_SEEDS ?? 400);
const FIRST_SEED = Number(process.env.HEDGEROW_LOG_FIRST_SEED ?? 1);

test(`${SEEDS} histories keep every acknowledged operation`, async () => {
  const totals: Record<string, number> = {};
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const history = new LogHistory(seed);
    await history.run(6).catch((error: Error) => {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
    });
    for (const [name, count] of Object.entries(history.seen)) totals[name] = (totals[name] ?? 0) + count;
  }
  // The histories are only worth something if all of these events occurred.
  for (const [name, count] of Object.entries(totals)) expect(count, name).toBeGreaterThan(0);
});
