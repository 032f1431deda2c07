// Runs `npm run soak -- --minutes 30 --seed 1 --report build/soak`. The exit code is 1 if a figure
// grows after warm-up or a request fails.

import { progress, readFlags } from './flags.ts';
import { soak } from './soak-run.ts';

const { minutes, seed, report } = readFlags({ minutes: 30, seed: 1, report: 'build/soak' });
const result = await soak(Math.round(minutes * 60), seed, report, (sample) => {
  if (sample.seconds % 10 !== 0) return;
  const { seconds, rssBytes, logBytes, descriptors, instances, requests, p99Ms } = sample;
  const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
  progress(
    `${seconds} s: RSS ${megabytes(rssBytes)}, log ${megabytes(logBytes)}, ${descriptors} descriptors, ${instances} instances, ${requests} requests/s, p99 ${Math.round(p99Ms)} ms`,
  );
});
console.table(result.verdicts);
console.log(`${result.requests} requests, /health/live p99 ${result.liveP99Ms.toFixed(1)} ms, report ${result.report}`);
for (const failure of result.failures.slice(0, 20)) console.log(failure);
process.exitCode = result.failures.length === 0 && result.verdicts.every(({ flat }) => flat) ? 0 : 1;
