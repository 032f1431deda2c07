// Runs simulated histories. HEDGEROW_SIM_SEEDS sets their number, HEDGEROW_SIM_TEXTS that of those
// with text indexes; `npm run sim` is the long form.

import { describe, expect, it } from 'vitest';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { knownDefect } from './known-defects.ts';
import { GO_NAMES, type GoName, goOf } from './sim-goes.ts';
import { runSeed } from './sim-runner.ts';
import { warmUp } from './sim-world.ts';

const SEEDS = Number(process.env.HEDGEROW_SIM_SEEDS ?? 5000);
const TEXTS_SEEDS = Number(process.env.HEDGEROW_SIM_TEXTS ?? 300);

/** Returns the failure of a seed, unless the failure is a known defect. */
async function failureOfSeed(seed: number, go = goOf(seed)): Promise<string | undefined> {
  const { error, history } = await runSeed(seed, go);
  if (error === undefined || knownDefect(error, go) !== undefined) return undefined;
  return `seed ${seed} (${go}): repeat it with npm run sim -- --seed ${seed} --go ${go}\n${history.slice(-40).join('\n')}`;
}

/** Runs the seeds from 1 on, all of which must pass. Returns how often each event occurred. */
async function runSeeds(seeds: number, goOfSeed: (seed: number) => GoName): Promise<Record<string, number>> {
  warmUp();
  const seen: Record<string, number> = {};
  for (let seed = 1; seed <= seeds; seed++) {
    const go = goOfSeed(seed);
    const { error, history, seen: things } = await runSeed(seed, go);
    if (error !== undefined && knownDefect(error, go) === undefined)
      expect.fail(`seed ${seed}: npm run sim -- --seed ${seed} --go ${go}\n${history.slice(-40).join('\n')}`);
    for (const [name, count] of Object.entries(things)) seen[name] = (seen[name] ?? 0) + count;
  }
  return seen;
}

describe('a simulated history', () => {
  it.each(KEPT_SEEDS)('passes now although it once failed: seed $seed, $go ($found)', async ({ seed, go }) => {
    expect(await failureOfSeed(seed, go)).toBeUndefined();
  });

  it.each(GO_NAMES)('is the same on every repetition if it is of the kind %s, whatever ran before', async (go) => {
    for (const seed of [101, 102]) {
      const { history } = await runSeed(seed, go);
      await runSeed(seed + 50, go);
      expect((await runSeed(seed, go)).history).toEqual(history);
    }
  });
});

describe('every kind of event', () => {
  it(
    `happens in ${SEEDS} simulated histories, all of which pass`,
    async () => {
      const seen = await runSeeds(SEEDS, goOf);
      // The histories are useful only if all of these events occurred.
      if (SEEDS >= 2000) for (const name of ALL_KINDS) expect(seen[name], name).toBeGreaterThan(0);
    },
    SEEDS * 500 + 60_000,
  );

  it(
    `of text indexes happens in ${TEXTS_SEEDS} simulated histories, all of which pass`,
    async () => {
      const seen = await runSeeds(TEXTS_SEEDS, () => 'texts');
      if (TEXTS_SEEDS >= 300) for (const name of KINDS_OF_TEXTS) expect(seen[name], name).toBeGreaterThan(0);
    },
    TEXTS_SEEDS * 500 + 60_000,
  );
});

const KINDS_OF_TEXTS = [
  'backup',
  'create text index',
  'drop of a text index with its column',
  'drop text index',
  'kill',
  'power loss',
  'refused: overloaded',
  'renameColumn',
  'restore',
  'search refused',
  'search that finds nothing',
  'search to its end',
  'search without an index',
  'session',
  'the index of a session changed after its snapshot',
];

const ALL_KINDS = [
  'addColumn',
  'backup',
  'commit',
  'compaction',
  'create',
  'cursor to its end',
  'damage refused',
  'damage without effect',
  'damaged table refuses',
  'drop',
  'dropColumn',
  'duel',
  'expire',
  'index',
  'kill',
  'opening refused',
  'pinned read',
  'power loss',
  'read',
  'read refused',
  'refused: overloaded',
  'renameColumn',
  'renameTable',
  'reopen',
  'restore',
  'retry of what was done',
  'retry of what was lost',
  'threshold',
];
