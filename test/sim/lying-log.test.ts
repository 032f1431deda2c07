import { describe, expect, it } from 'vitest';
import { expectLogContract, type LogMedium } from '../storage/log-contract.ts';
import { Random } from '../support/random.ts';
import { runLyingSeed } from './lying-history.ts';
import { LIES, type Manners, RemoteMemory } from './lying-log.ts';

const SEEDS = Number(process.env.HEDGEROW_LYING_SEEDS ?? 200);
const HONEST: Manners = { lateTurns: 0, refused: 0, cutBefore: 0, cutAfter: 0.5, lookupFails: 0, twice: 0 };

/** A remote whose every second connection is cut after the commit, which is then looked up. */
function remote(memory: RemoteMemory): LogMedium {
  const after = (arrives: boolean) => {
    const next = new RemoteMemory(new Random(1), HONEST);
    next.continueWith(memory.end(arrives));
    return remote(next);
  };
  return {
    open: memory.openRemote,
    crash: () => after(false),
    kill: () => after(true),
    failOnce: (code) => memory.failAfter(0, code),
    setFull(isFull) {
      memory.limitBytes = isFull ? 0 : Infinity;
    },
    damage: (lsn) => memory.damage(lsn),
  };
}

expectLogContract('a log whose commits are looked up', () => remote(new RemoteMemory(new Random(1), HONEST)));

describe('the engine over a log that lies', () => {
  it(`acknowledges nothing falsely, loses nothing, doubles nothing (${SEEDS} seeds)`, async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const outcome = await runLyingSeed(seed);
      expect(outcome.error, `npm run lying -- --seed ${seed}`).toBeUndefined();
      for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
    }
    const wanted = [
      'acknowledged',
      'failed',
      'late',
      'confirmed twice',
      'cutBefore',
      'cutAfter',
      'lookupFails',
      'refused',
    ];
    const repeated = ['while done: answer kept', 'while open: no answer', 'while undone: no answer'];
    const all = [...wanted, ...repeated.map((how) => `repeated ${how}`)];
    expect(all.filter((what) => (seen.get(what) ?? 0) === 0)).toEqual([]);
  });

  it.each(LIES)('finds a log that %s', async (lie) => {
    let found: string | undefined;
    for (let seed = 1; seed <= 40 && found === undefined; seed++) found = (await runLyingSeed(seed, lie)).error;
    expect(found).toMatch(/^(lost|answer-lost|half-commit|unexpected: HedgerowError: .* is corrupt)/);
  });

  it('has the same history for the same seed', async () => {
    const first = await runLyingSeed(7);
    await runLyingSeed(8);
    expect(await runLyingSeed(7)).toEqual(first);
    expect(first.history.length).toBeGreaterThan(20);
  });
});
