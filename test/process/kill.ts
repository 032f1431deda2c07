// Runs `npm run kill -- --kills 1000 --seed 1`, which kills a writing process with SIGKILL. 7 in 10
// kills hit an embedded database, and 3 in 10 hit the service over HTTP.

import { progress, readFlags } from './flags.ts';
import { killLoop } from './kill-loop.ts';

/** Share of the kills that hit the service. */
const SERVICE_SHARE = 0.3;

const { kills, seed } = readFlags({ kills: 1000, seed: 1 });
const ofService = Math.round(kills * SERVICE_SHARE);
for (const [who, count] of [
  ['embedded', kills - ofService],
  ['service', ofService],
] as const) {
  const begunMs = performance.now();
  const figures = await killLoop(count, seed, who === 'service', (now) => {
    if (now.kills % 10 === 0)
      progress(`${who}: ${now.kills} of ${count} kills, ${now.acknowledged} operations acknowledged`);
  });
  console.log(who, { ...figures, seconds: Math.round((performance.now() - begunMs) / 1000) });
}
