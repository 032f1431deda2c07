// Runs `npm run syscalls -- --sample 100000 --seed 1 --phases commit,rotation`. This injects
// SIGKILL, EIO, ENOSPC and short writes at every system call of the phases.

import { progress, readFlags } from './flags.ts';
import { PHASES, type Phase, syscallLoop } from './syscall-loop.ts';
import { whyNoTrace } from './traced.ts';

const { sample, seed, phases } = readFlags({ sample: 1_000_000, seed: 1, phases: PHASES.join() });
const why = whyNoTrace();
if (why !== undefined) {
  console.log(`skipped: ${why}`);
} else {
  let failed = 0;
  for (const phase of phases.split(',') as Phase[]) {
    const figures = await syscallLoop([phase], seed, sample, (now, of) => {
      if (now.runs % 20 === 0) progress(`${phase}: ${now.runs} of ${of} faults, ${now.failures.length} failures`);
    });
    failed += figures.failures.length;
    console.log(phase, { ...figures, failures: figures.failures.length });
    for (const failure of figures.failures.slice(0, 10)) console.log(`  ${failure}`);
  }
  process.exitCode = failed === 0 ? 0 : 1;
}
