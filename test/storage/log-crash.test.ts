// Runs random histories of appends, crashes, kills and disk faults. Acknowledged operations must
// survive, frames must be complete, and LSNs must have no gaps.

import { expect, test } from 'vitest';
import { LogHistory } from '../support/log-history.ts';

const SEEDS = Number(process.env.HEDGEROW_LOG_SEEDS ?? 400);
const FIRST_SEED = Number(process.env.HEDGEROW_LOG_FIRST_SEED ?? 1);

test(`${SEEDS} random histories keep every acknowledged operation`, async () => {
  const totals: Record<string, number> = {};
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const history = new LogHistory(seed);
    await history.run(6).catch((error: Error) => {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
    });
    for (const [name, count] of Object.entries(history.seen)) totals[name] = (totals[name] ?? 0) + count;
  }
  // The histories are useful only if all of these events occurred.
  for (const [name, count] of Object.entries(totals)) expect(count, name).toBeGreaterThan(0);
});
