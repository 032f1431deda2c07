// Compares random histories of the whole engine with the naive model. HEDGEROW_HISTORIES sets the
// number of histories (10000 for a long run), HEDGEROW_FOLLOWED_ENGINE_HISTORIES the number of
// those with a follower, and HEDGEROW_FIRST_HISTORY the seed of the first one.

import { expect, test } from 'vitest';
import { EngineHistory, warmUp } from '../support/engine-history.ts';

const HISTORIES = Number(process.env.HEDGEROW_HISTORIES ?? 100);
const FOLLOWED = Number(process.env.HEDGEROW_FOLLOWED_ENGINE_HISTORIES ?? 60);
const FIRST = Number(process.env.HEDGEROW_FIRST_HISTORY ?? 1);
const STEPS = 60;
const HANG_MS = 60_000;

test.each(['files', 'memory'] as const)(
  `${HISTORIES} random histories with a log in %s give the model's answers`,
  async (log) => {
    const totals = await runAll(HISTORIES, (seed) => new EngineHistory(seed, log));
    expectAll(ALL_KINDS, totals, HISTORIES);
  },
  HISTORIES * 1000 + 60_000,
);

test(
  `${FOLLOWED} random histories with a follower give the model's answers there too`,
  async () => {
    // One in four has its log in memory.
    const totals = await runAll(FOLLOWED, (seed) => new EngineHistory(seed, seed % 4 === 0 ? 'memory' : 'files', true));
    expectAll([...ALL_KINDS, ...FOLLOWED_KINDS], totals, FOLLOWED);
  },
  FOLLOWED * 2000 + 60_000,
);

/** Runs histories one after another. Returns how often each kind of event happened. */
async function runAll(count: number, historyOf: (seed: number) => EngineHistory): Promise<Record<string, number>> {
  warmUp();
  const totals: Record<string, number> = {};
  for (let seed = FIRST; seed < FIRST + count; seed++) {
    const history = historyOf(seed);
    await timely(history, seed);
    for (const [name, times] of Object.entries(history.seen)) totals[name] = (totals[name] ?? 0) + times;
  }
  return totals;
}

/** The histories are useful only if all of these events occurred. */
function expectAll(kinds: readonly string[], totals: Record<string, number>, histories: number): void {
  if (histories < 100) return;
  for (const name of kinds) expect(totals[name], name).toBeGreaterThan(0);
  if (histories > 1000) console.log(totals);
}

const ALL_KINDS = [
  'read',
  'create with intervals',
  'read at a time',
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

const FOLLOWED_KINDS = [
  'documents',
  'follower: followed',
  'follower: compared',
  'follower: read',
  'follower: read of the past',
  'follower: compaction',
  'follower: close',
  'follower: kill',
  'follower: crash',
  'follower: crash within an operation',
  'follower: fault of the disk',
  'follower: away for too long',
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
