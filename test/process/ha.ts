// Runs `npm run ha -- --runs 100 --seed 1`: servers that share a log in PostgreSQL, under load,
// with one fault in each run. The exit code is 1 if a write was lost or doubled, if a read went
// back, or if the servers differ.

import { progress, readFlags } from './flags.ts';
import { type Pair, startPair } from './ha-cluster.ts';
import { FAULTS, haRun, type RunResult } from './ha-run.ts';

const { runs, seed, only } = readFlags({ runs: 100, seed: 1, only: '' });
const results: RunResult[] = [];
let pair: Pair | undefined;
const faults = FAULTS.filter((fault) => only === '' || fault === only);
for (let run = 0; run < runs; run++) {
  const fault = faults[run % faults.length]!;
  pair ??= await startPair();
  if (pair === undefined) break;
  const result = await haRun(pair, fault, seed + run).catch(
    (error: Error): RunResult => ({
      ...{ fault, gapMs: Number.NaN, writes: 0, reads: 0, refused: 0 },
      problems: [`the run failed: ${error.stack}`],
    }),
  );
  results.push(result);
  const { gapMs, writes, reads, refused, problems } = result;
  progress(
    `run ${run + 1}, seed ${seed + run}, ${fault}: ${Math.round(gapMs)} ms, ${writes} writes, ${reads} reads, ${refused} refused`,
  );
  for (const problem of problems) console.log(`run ${run + 1}, seed ${seed + run}, ${fault}: ${problem}`);
  if (fault === 'promote') {
    await pair.stop();
    pair = undefined;
  }
}
await pair?.stop();

const middle = (numbers: number[]) => Math.round(numbers.sort((one, other) => one - other)[numbers.length >> 1] ?? 0);
console.table(
  Object.fromEntries(
    faults.map((fault) => {
      const own = results.filter((result) => result.fault === fault);
      const gaps = own.map(({ gapMs }) => gapMs);
      return [
        fault,
        {
          runs: own.length,
          'next write, median ms': middle(gaps),
          'worst ms': Math.round(Math.max(...gaps)),
          writes: own.reduce((sum, { writes }) => sum + writes, 0),
          reads: own.reduce((sum, { reads }) => sum + reads, 0),
          problems: own.reduce((sum, { problems }) => sum + problems.length, 0),
        },
      ];
    }),
  ),
);
process.exitCode = results.length > 0 && results.every(({ problems }) => problems.length === 0) ? 0 : 1;
