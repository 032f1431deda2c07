// `npm run statements -- --statements 100000 --seed 1` sends hostile statements to the built
// service under a heap of 300 MB. The exit code is 1 if the service dies, gives a wrong answer, or
// blocks its event loop.

import { progress, readFlags } from '../process/flags.ts';
import { runHostile } from './statement-run.ts';

const { statements, seed, clients } = readFlags({ statements: 100_000, seed: 1, clients: 4 });
const begunMs = performance.now();
const { statuses, failures, steps } = await runHostile(statements, seed, { watched: true, clients, tell: progress });
console.log(`${statements} statements in ${Math.round((performance.now() - begunMs) / 1000)} s, by status (0: cut):`);
console.log(statuses);
steps.sort((a, b) => b.ms - a.ms);
const longest = steps[0]?.ms ?? 0;
console.log(
  `${steps.length} steps of the event loop over ${process.env.HEDGEROW_LOOP_LIMIT_MS ?? 100} ms, the longest ${longest} ms; ${failures.length} failures`,
);
for (const { ms, collectedMs, during } of steps.slice(0, 20))
  console.log(`${ms} ms (garbage collection ${collectedMs} ms) during`, during);
for (const failure of failures.slice(0, 20)) console.log(failure);
process.exit(failures.length === 0 && steps.length === 0 ? 0 : 1);
