// `npm run lying` runs histories of the engine over a lying log, by seed: `-- --seed N` runs one
// and prints it, `-- --seeds FROM..TO` many. `--lie N` plants a fault in the log.

import { parseArgs } from 'node:util';
import { runLyingSeed } from './lying-history.ts';
import { LIES } from './lying-log.ts';

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1..100000' },
    /** Number of a fault of the log, from 1 on. */
    lie: { type: 'string' },
  },
});
const lie = given.lie === undefined ? undefined : LIES[Number(given.lie) - 1];
if (given.lie !== undefined && lie === undefined) throw new Error(`--lie takes 1 to ${LIES.length}.`);

if (given.seed !== undefined) {
  const { error, history } = await runLyingSeed(Number(given.seed), lie);
  console.log(`${history.join('\n')}\nseed ${given.seed}: ${error ?? 'holds'}`);
  process.exitCode = error === undefined ? 0 : 1;
} else {
  const [, from = '', to = ''] = /^([0-9]+)\.\.([0-9]+)$/.exec(given.seeds) ?? [];
  if (to === '') throw new Error('--seeds takes FROM..TO, for example 1..5000.');
  process.exitCode = await runMany(Number(from), Number(to));
}

async function runMany(from: number, to: number): Promise<number> {
  const seen = new Map<string, number>();
  const started = Date.now();
  let failed = 0;
  let said = started;
  for (let seed = from; seed <= to; seed++) {
    const outcome = await runLyingSeed(seed, lie);
    for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
    if (outcome.error !== undefined) {
      failed++;
      console.log(`seed ${seed} failed: ${outcome.error.slice(0, 600)}`);
      console.log(`  repeat it with: npm run lying -- --seed ${seed}${lie === undefined ? '' : ` --lie ${given.lie}`}`);
    }
    if (Date.now() - said < 10_000) continue;
    said = Date.now();
    console.error(`seed ${seed}: ${failed} failed, ${((said - started) / (seed - from + 1)).toFixed(1)} ms each`);
  }
  const seconds = (Date.now() - started) / 1000;
  console.log(`${to - from + 1} seeds, ${failed} failed, ${seconds.toFixed(0)} s`);
  for (const [what, count] of [...seen].sort()) console.log(`  ${what}: ${count}`);
  return failed > 0 ? 1 : 0;
}
