// `npm run kill -- --kills 1000 --seed 1`: kill -9 of an embedded writer and of the service, in turn.

import { progress, readFlags } from './flags.ts';
import { killLoop } from './kill-loop.ts';

const { kills, seed } = readFlags({ kills: 1000, seed: 1 });
const begunMs = performance.now();
const figures = await killLoop(kills, seed, (now) => {
  if (now.kills % 10 === 0) progress(`${now.kills} of ${kills} kills, ${now.acknowledged} operations acknowledged`);
});
console.log({ ...figures, seconds: Math.round((performance.now() - begunMs) / 1000) });
