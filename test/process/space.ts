// Runs `npm run space -- --sizes 200 --seed 1`, which fills up and enlarges disks of many sizes.
// Needs permission to mount.

import { progress, readFlags } from './flags.ts';
import { spaceLoop, whyNoDisk } from './space-loop.ts';

const { sizes, seed } = readFlags({ sizes: 200, seed: 1 });
const why = whyNoDisk();
if (why !== undefined) {
  console.log(`skipped: ${why}`);
} else {
  const figures = await spaceLoop(sizes, seed, (now) => {
    if (now.sizes % 10 === 0) progress(`${now.sizes} of ${sizes} sizes, ${now.failures.length} failures`);
  });
  console.log({ ...figures, failures: figures.failures.length });
  for (const failure of figures.failures.slice(0, 10)) console.log(`  ${failure}`);
  process.exitCode = figures.failures.length === 0 ? 0 : 1;
}
