// `npm run sim` runs simulated histories by seed. `-- --seed N` runs one and prints its history if
// it fails; `-- --seeds FROM..TO` runs many.

import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { knownDefect } from './known-defects.ts';
import { GO_NAMES, type GoName, goOf } from './sim-goes.ts';
import { type Outcome, runSeed } from './sim-runner.ts';
import { warmUp } from './sim-world.ts';

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    jobs: { type: 'string', default: '1' },
    go: { type: 'string' },
    /** Stops at the first failure. */
    first: { type: 'boolean', default: false },
    /** Prints the history of a single seed even if it passes. */
    verbose: { type: 'boolean', default: false },
    /** Counts known defects as failures. */
    strict: { type: 'boolean', default: false },
    /** Runs only every nth seed, as one of several jobs. `offset` is added to the first seed. */
    stride: { type: 'string', default: '1' },
    offset: { type: 'string', default: '0' },
  },
});

const go = given.go as GoName | undefined;
if (go !== undefined && !GO_NAMES.includes(go)) throw new Error(`--go takes one of ${GO_NAMES.join(', ')}.`);
if (given.seed !== undefined) process.exitCode = await runOne(Number(given.seed));
else if (given.seeds !== undefined) process.exitCode = await runMany(given.seeds);
else throw new Error('Give --seed N for one history, or --seeds FROM..TO for many.');

async function runOne(seed: number): Promise<number> {
  warmUp();
  const outcome = await runSeed(seed, go);
  if (given.verbose || outcome.error !== undefined) console.log(outcome.history.join('\n'));
  const digest = createHash('sha256').update(outcome.history.join('\n')).digest('hex').slice(0, 16);
  console.log(`seed ${seed} ${go ?? goOf(seed)}: ${outcome.error ?? 'holds'} (history ${digest})`);
  return outcome.error === undefined ? 0 : 1;
}

function commandOf(seed: number): string {
  return `npm run sim -- --seed ${seed}${go === undefined ? '' : ` --go ${go}`}`;
}

async function runMany(range: string): Promise<number> {
  const [, from = '', to = ''] = /^([0-9]+)\.\.([0-9]+)$/.exec(range) ?? [];
  if (to === '') throw new Error('--seeds takes FROM..TO, for example 1..5000.');
  const jobs = Number(given.jobs);
  if (jobs > 1) return runJobs(jobs);
  warmUp();
  const until = given.minutes === undefined ? Infinity : Date.now() + Number(given.minutes) * 60_000;
  const stride = Number(given.stride);
  const started = Date.now();
  const totals = { ran: 0, failed: 0, known: new Map<string, number[]>(), seen: new Map<string, number>() };
  let said = started;
  for (let seed = Number(from) + Number(given.offset); seed <= Number(to) && Date.now() < until; seed += stride) {
    const outcome = await runSeed(seed, go);
    totals.ran++;
    for (const [name, count] of Object.entries(outcome.seen))
      totals.seen.set(name, (totals.seen.get(name) ?? 0) + count);
    if (outcome.error !== undefined) countFailure(seed, outcome.error, totals);
    if (given.first && totals.failed > 0) break;
    if (Date.now() - said < 10_000) continue;
    said = Date.now();
    console.error(
      `seed ${seed}: ${totals.ran} ran, ${totals.failed} failed, ${((said - started) / totals.ran).toFixed(1)} ms each`,
    );
  }
  report(totals, Date.now() - started);
  return totals.failed > 0 ? 1 : 0;
}

interface Totals {
  ran: number;
  failed: number;
  known: Map<string, number[]>;
  seen: Map<string, number>;
}

function countFailure(seed: number, error: NonNullable<Outcome['error']>, totals: Totals): void {
  const point = given.strict ? undefined : knownDefect(error, go ?? goOf(seed));
  if (point !== undefined) {
    totals.known.set(point, [...(totals.known.get(point) ?? []), seed]);
    return;
  }
  totals.failed++;
  console.log(
    `seed ${seed} (${go ?? goOf(seed)}) failed: ${error.slice(0, 600)}\n  repeat it with: ${commandOf(seed)}`,
  );
}

function report({ ran, failed, known, seen }: Totals, elapsedMs: number): void {
  console.error(`${ran} seeds, ${failed} failed, ${(elapsedMs / Math.max(1, ran)).toFixed(1)} ms each`);
  for (const [point, seeds] of [...known].sort())
    console.error(`known defect ${point}: ${seeds.length} seeds, first ${seeds.slice(0, 5).join(', ')}`);
  console.error(
    [...seen]
      .sort()
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
  );
}

/** Runs several jobs, each of which runs every nth seed in its own process. */
async function runJobs(jobs: number): Promise<number> {
  const args = process.argv.slice(2).filter((each, index, all) => each !== '--jobs' && all[index - 1] !== '--jobs');
  const codes = await Promise.all(
    Array.from({ length: jobs }, (_, offset) => {
      const child = fork(fileURLToPath(import.meta.url), [...args, '--stride', `${jobs}`, '--offset', `${offset}`]);
      return new Promise<number>((resolve) => void child.on('exit', (code) => resolve(code ?? 1)));
    }),
  );
  return Math.max(...codes);
}
