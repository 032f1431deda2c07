// Compares sessions that have interleaved transactions with a naive model of row versions.

import { describe, expect, it } from 'vitest';
import { SessionsWorld } from './sessions-world.ts';

/**
 * The long form is HEDGEROW_SESSIONS=100: 100 sessions with 1,000 transactions each. It takes many
 * minutes.
 */
const SESSIONS = Number(process.env.HEDGEROW_SESSIONS ?? 0);
const TRANSACTIONS = Number(process.env.HEDGEROW_TRANSACTIONS ?? 1000);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);

/** Events that must have occurred for the test to be meaningful. */
const KINDS = [
  'commit',
  'conflict',
  'rollback',
  'expired',
  'refused after expiry',
  'compaction',
  'reopen',
  'definition',
  'batch',
  'together',
  'insert by REST',
  'delete by REST',
  'write alone',
  'whole pairs',
  'begin while a commit was on its way',
  'UPDATE',
  'UPDATE 400',
  'INSERT',
  'INSERT 400',
  'DELETE',
  'EXPLAIN',
  'BEGIN 400',
];

describe('interleaved sessions', () => {
  const seen = new Set<string>();

  it.each(Array.from({ length: 4 }, (_, place) => FIRST_SEED + place))(
    'see their snapshots, and the first committer wins, with seed %i',
    async (seed) => {
      const world = new SessionsWorld({ seed, sessions: 3 + (seed % 3) * 3, transactions: 25, sliced: seed % 2 === 0 });
      await world.run();
      for (const what of Object.keys(world.seen)) seen.add(what);
    },
    120_000,
  );

  it('have caused every kind of event', () => {
    expect(KINDS.filter((what) => !seen.has(what))).toEqual([]);
  });

  it.runIf(SESSIONS > 0)(
    'see their snapshots if there are many sessions',
    async () => {
      const world = new SessionsWorld({
        seed: FIRST_SEED,
        sessions: SESSIONS,
        transactions: TRANSACTIONS,
        sliced: false,
      });
      await world.run();
      console.log(world.seen);
      expect(world.seen.commit).toBeGreaterThan((SESSIONS * TRANSACTIONS) / 10);
      expect(world.seen.conflict).toBeGreaterThan(0);
    },
    7_200_000,
  );
});
