// `npm run fuzz -- --inputs 2000000 --seed 1 --target statement` feeds mutated inputs to every
// decoder and parser, guided by coverage where V8 counts it.

import { progress, readFlags } from '../process/flags.ts';
import { fuzzAll } from './all-targets.ts';

const { inputs, seed, target } = readFlags({ inputs: 2_000_000, seed: 1, target: '' });
const begunMs = performance.now();
const all = await fuzzAll(inputs, seed, target === '' ? undefined : target, progress);
const failures = all.flatMap((figures) => figures.failures);
console.table(all.map(({ failures: each, ...figures }) => ({ ...figures, failures: each.length })));
const total = all.reduce((sum, figures) => sum + figures.inputs, 0);
console.log(`${total} inputs in ${Math.round((performance.now() - begunMs) / 1000)} s, ${failures.length} failures`);
for (const failure of failures.slice(0, 20)) console.log(failure);
process.exit(failures.length === 0 ? 0 : 1);
