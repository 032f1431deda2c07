// `npm run sim:plant` plants each fault in a copy of the sources, and runs the simulation there
// until a seed finds the fault. Prints a table. Fails if any fault is not found.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { editsOf, patched } from './plant-source.ts';
import { PLANTS, type Plant } from './plants.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Files and folders that a copy shares with the repository through links. */
const SHARED = ['node_modules', 'build', 'package.json', 'tsconfig.json'];
const COPIED = ['src', 'test/sim', 'test/support', 'test/model', 'test/query/naive-search.ts'];

const { values: given } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1..20000' },
    jobs: { type: 'string', default: '1' },
    /** Selects only faults whose name contains this text. */
    only: { type: 'string', default: '' },
    /** Number of faults to skip at the start of the list. */
    skip: { type: 'string', default: '0' },
  },
});

interface Found {
  plant: Plant;
  seed: number | undefined;
  rule: string;
  seconds: number;
}

const chosen = PLANTS.slice(Number(given.skip)).filter(({ name }) => name.includes(given.only));
const results: Found[] = [];
const waiting = [...chosen];
await Promise.all(Array.from({ length: Number(given.jobs) }, work));
const missed = results.filter(({ seed }) => seed === undefined);
console.log(`${results.length - missed.length} of ${results.length} planted faults were found`);
process.exitCode = missed.length > 0 ? 1 : 0;

async function work(): Promise<void> {
  for (let plant = waiting.shift(); plant !== undefined; plant = waiting.shift()) {
    const found = await hunt(plant);
    results.push(found);
    const { seed, seconds, rule } = found;
    const where = seed === undefined ? `NOT FOUND in ${given.seeds}` : `seed ${seed}`;
    console.log(`${plant.name} | ${where} | ${seconds.toFixed(1)} s | ${rule}`);
  }
}

async function hunt(plant: Plant): Promise<Found> {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-plant-'));
  const started = Date.now();
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(dir, name), { recursive: true });
    mkdirSync(join(dir, 'test'), { recursive: true });
    for (const name of SHARED) symlinkSync(join(ROOT, name), join(dir, name));
    for (const edit of editsOf(plant)) {
      const path = join(dir, 'src', edit.file);
      writeFileSync(path, patched(readFileSync(path, 'utf8'), plant.name, edit));
    }
    const output = await simulate(dir, plant);
    const [, seed, rule = ''] = /^seed (\d+) \(\w+\) failed: (.{0,160})/m.exec(output) ?? [];
    return { plant, seed: seed === undefined ? undefined : Number(seed), rule, seconds: (Date.now() - started) / 1000 };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the output of the simulation up to the first failing seed. */
function simulate(dir: string, { go }: Plant): Promise<string> {
  const kind = go === undefined ? [] : ['--go', go];
  const args = ['--import', 'tsx', 'test/sim/run.ts', '--seeds', given.seeds, '--first', ...kind];
  const child = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve) => void child.on('close', () => resolve(output)));
}
