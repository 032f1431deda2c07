// Runs `npm run memory -- --sizes 50 --seed 1`, which starts a writer under `ulimit -v` of 0.7 GB
// to 4 TB. After a restart without a limit, everything that the writer acknowledged must be stored.

import { progress, readFlags } from './flags.ts';
import { memoryLoop } from './memory-loop.ts';

const { sizes, seed } = readFlags({ sizes: 50, seed: 1 });
const figures = await memoryLoop(sizes, seed, (now) => {
  if (now.sizes % 5 === 0) progress(`${now.sizes} of ${sizes} sizes, ${now.failures.length} failures`);
});
console.log({ ...figures, failures: figures.failures.length });
for (const failure of figures.failures.slice(0, 10)) console.log(`  ${failure}`);
process.exitCode = figures.failures.length === 0 ? 0 : 1;
