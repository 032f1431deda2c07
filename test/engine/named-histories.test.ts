// Compares random histories of named tables with the naive model. HEDGEROW_NAMED_HISTORIES sets the
// number of histories (10000 for a long run), and HEDGEROW_FIRST_HISTORY the seed of the first one.

import { expect, test } from 'vitest';
import { warmUp } from '../support/engine-history.ts';
import { NamedHistory } from '../support/named-history.ts';

const HISTORIES = Number(process.env.HEDGEROW_NAMED_HISTORIES ?? 60);
const FIRST = Number(process.env.HEDGEROW_FIRST_HISTORY ?? 1);
const STEPS = 60;
const HANG_MS = 60_000;

test(
  `${HISTORIES} random histories of named tables give the model's answers`,
  async () => {
    warmUp();
    const totals: Record<string, number> = {};
    for (let seed = FIRST; seed < FIRST + HISTORIES; seed++) {
      const options = {
        isFollowed: seed % 4 === 0,
        isShort: seed % 5 === 1 && seed % 4 > 0,
        hasBackup: seed % 20 === 7,
      };
      const history = new NamedHistory(seed, options);
      await timely(history, seed);
      for (const [name, times] of Object.entries(history.world.seen)) totals[name] = (totals[name] ?? 0) + times;
    }
    if (HISTORIES > 1000) console.log(totals);
    for (const what of ['a key that is gone', 'refused in a transaction: conflict'])
      expect(totals[what], what).toBeGreaterThan(0);
    expect(totals.read).toBeGreaterThan(0);
  },
  HISTORIES * 1000 + 60_000,
);

/** Runs a history. If it hangs, fails with the last steps of the history. */
async function timely(history: NamedHistory, seed: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const { log } = history.world;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hangs after\n  ${log.slice(-25).join('\n  ')}`)), HANG_MS);
  });
  try {
    await Promise.race([history.run(STEPS), hang]);
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
