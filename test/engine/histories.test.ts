// Compares random histories of the whole engine with the naive model. HEDGEROW_HISTORIES sets the
// number of histories (10000 for a long run), and HEDGEROW_FIRST_HISTORY the seed of the first one.

import { expect, test } from 'vitest';
import { EngineHistory, warmUp } from '../support/engine-history.ts';

const HISTORIES = Number(process.env.HEDGEROW_HISTORIES ?? 100);
const FIRST = Number(process.env.HEDGEROW_FIRST_HISTORY ?? 1);
const STEPS = 60;
const HANG_MS = 60_000;

test.each(['files', 'memory'] as const)(
  `${HISTORIES} random histories with a log in %s give the model's answers`,
  async (log) => {
    warmUp();
    const totals: Record<string, number> = {};
    for (let seed = FIRST; seed < FIRST + HISTORIES; seed++) {
      const history = new EngineHistory(seed, log);
      await timely(history, seed);
      for (const [name, count] of Object.entries(history.seen)) totals[name] = (totals[name] ?? 0) + count;
    }
    if (HISTORIES < 100) return;
    // The histories are useful only if all of these events occurred.
    for (const name of ALL_KINDS) expect(totals[name], name).toBeGreaterThan(0);
    if (HISTORIES > 1000) console.log(totals);
  },
  HISTORIES * 1000 + 60_000,
);

const ALL_KINDS = [
  'read',
  'own read',
  'pinned read',
  'pages',
  'slice',
  'scan to its end',
  'plan in segments',
  'plan in memtable',
  'figures',
  'commit',
  'rollback',
  'rewind',
  'conflict',
  'duel',
  'update in place',
  'update that moves',
  'removal of a row',
  'addColumn',
  'dropColumn',
  'renameColumn',
  'renameTable',
  'ALTER refused',
  'compaction',
  'compaction aside',
  'ttl',
  'create',
  'drop',
  'threshold',
  'index',
  'drop of an index',
  'filter',
  'order of a column',
  'reopen',
  'crash',
  'kill',
  'lost tail',
  'refusal',
  'crash at write',
  'crash at sync',
];

/** Runs a history. If it hangs, fails with the last steps of the history. */
async function timely(history: EngineHistory, seed: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hangs after\n  ${history.log.slice(-25).join('\n  ')}`)), HANG_MS);
  });
  try {
    await Promise.race([history.run(STEPS), hang]);
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
