// Runs `npm run mutate -- --files log,recovery --sample 300 --seed 1 --jobs 2`. This plants faults
// (mutants) in the code that keeps data safe, and checks that the tests detect them. It prints the
// score and the mutants that no test detected.
//
// Each job works in a copy of src and test, with links to the built core and to the packages. For
// each mutant, the job runs the quick tests of the mutant's group. If these detect nothing, it runs
// the other tests of the group, and finally some simulated histories.

import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Random } from '../support/random.ts';
import { progress, readFlags } from './flags.ts';
import { type Mutant, mutantsOf, withMutant } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A run longer than this counts as detected. Runs without a mutant are much shorter. */
const MUTANT_MS = 240_000;
/** Number of simulated histories for each mutant that the tests did not detect. */
const SEEDS = 500;

interface Group {
  folder: string;
  files: RegExp;
  quick: readonly string[];
  more: readonly string[];
}

const LOG_TESTS = [
  'log.test',
  'log-corruption',
  'log-poison',
  'log-m',
  'log-room',
  'log-fence',
  'frame.test',
  'log-contract',
  'log-reader',
].map((name) => `test/storage/${name}`);
const ENGINE_TESTS = ['recovery', 'failing-disk', 'replays.test', 'documents', 'transaction.test'].map(
  (name) => `test/engine/${name}`,
);

/**
 * Groups by their name in `--files`. `quick` and `more` contain path prefixes of tests, as vitest
 * accepts them. A prefix without any test is skipped.
 */
const GROUPS: Readonly<Record<string, readonly Group[]>> = {
  log: [
    {
      folder: 'src/storage',
      files: /^(log|log-file|log-mark|log-reader|archived-log|frame|frame-group)\.ts$/,
      quick: LOG_TESTS,
      more: ['test/storage/log-crash', ...ENGINE_TESTS],
    },
  ],
  recovery: [
    {
      folder: 'src/storage',
      files: /^log-recovery\.ts$/,
      quick: LOG_TESTS,
      more: ['test/storage/log-crash', ...ENGINE_TESTS],
    },
    {
      folder: 'src/engine',
      files: /^(recovery\/recovery|checkpoint\/orphans)\.ts$/,
      quick: ENGINE_TESTS,
      more: ['test/engine/row-crash', 'test/engine/corruption'],
    },
  ],
  manifest: [
    {
      folder: 'src/storage',
      files: /^(manifest|atomic-file)\.ts$/,
      quick: ['test/storage/manifest'],
      more: ENGINE_TESTS,
    },
  ],
  committer: [
    {
      folder: 'src/engine',
      files: /^commit\/committer\.ts$/,
      quick: ENGINE_TESTS,
      more: ['test/engine/conflicts', 'test/engine/row-writes'],
    },
  ],
  checkpoint: [
    {
      folder: 'src/engine',
      files: /^checkpoint\/checkpoint(er)?\.ts$/,
      quick: ENGINE_TESTS,
      more: ['test/engine/row-crash', 'test/engine/compaction'],
    },
  ],
  idempotency: [
    {
      folder: 'src/engine',
      files: /^idempotency\/(idempotency-store|kept-answer)\.ts$/,
      quick: ['test/engine/replays.test'],
      more: ['test/http/idempotency'],
    },
    {
      folder: 'src/storage',
      files: /^replay-file\.ts$/,
      quick: ['test/storage/replay-file'],
      more: ['test/engine/replays.test'],
    },
    { folder: 'src/http', files: /^once\.ts$/, quick: ['test/http/idempotency'], more: [] },
  ],
};

interface Planned {
  mutant: Mutant;
  stages: readonly (readonly string[])[];
}

function presentTests(starts: readonly string[]): string[] {
  return starts.filter((start) => {
    const [folder, name] = [start.slice(0, start.lastIndexOf('/')), start.slice(start.lastIndexOf('/') + 1)];
    return readdirSync(`${ROOT}/${folder}`).some((each) => each.startsWith(name) && each.endsWith('.test.ts'));
  });
}

function plan(words: readonly string[], sample: number, seed: number): Planned[] {
  const all = words.flatMap((word) => {
    const groups = GROUPS[word];
    if (groups === undefined) throw new Error(`--files takes ${Object.keys(GROUPS).join(', ')}, not ${word}.`);
    return groups.flatMap(({ folder, files, quick, more }) => {
      const stages = [presentTests(quick), presentTests(more)].filter((tests) => tests.length > 0);
      const names = (readdirSync(`${ROOT}/${folder}`, { recursive: true }) as string[]).filter((name) =>
        files.test(name),
      );
      if (names.length === 0)
        throw new Error(`${folder} has no file ${files}: it was moved, and mutate.ts must follow.`);
      return names.flatMap((name) =>
        mutantsOf(`${folder}/${name}`, readFileSync(`${ROOT}/${folder}/${name}`, 'utf8')).map((mutant) => ({
          mutant,
          stages,
        })),
      );
    });
  });
  const random = new Random(seed);
  for (let place = all.length - 1; place > 0; place--) {
    const other = random.below(place + 1);
    [all[place], all[other]] = [all[other]!, all[place]!];
  }
  return all.slice(0, sample);
}

function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'hedgerow-mutate-'));
  for (const name of ['src', 'test', 'bench', 'assembly', 'package.json', 'vitest.config.ts', 'tsconfig.json'])
    if (existsSync(`${ROOT}/${name}`)) cpSync(`${ROOT}/${name}`, `${copy}/${name}`, { recursive: true });
  for (const name of ['node_modules', 'build', 'dist']) symlinkSync(`${ROOT}/${name}`, `${copy}/${name}`);
  return copy;
}

/** Returns whether all tests pass. */
function testsPass(copy: string, tests: readonly string[]): Promise<boolean> {
  return runs(copy, [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--bail',
    '1',
    '--maxWorkers',
    '1',
    '--reporter',
    'dot',
    ...tests,
  ]);
}

/** Returns whether the simulated histories of all seeds pass. */
function simulationHolds(copy: string): Promise<boolean> {
  return runs(copy, ['--import', 'tsx', 'test/sim/run.ts', '--seeds', `1..${SEEDS}`, '--first']);
}

/** Returns whether the script exits with code 0. Kills a script that takes too long. */
function runs(copy: string, words: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, { cwd: copy, stdio: 'ignore', detached: true });
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), MUTANT_MS);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}

async function survives(copy: string, { mutant, stages }: Planned): Promise<boolean> {
  const path = `${copy}/${mutant.file}`;
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, withMutant(text, mutant));
  try {
    for (const tests of stages) if (!(await testsPass(copy, tests))) return false;
    return await simulationHolds(copy);
  } finally {
    writeFileSync(path, text);
  }
}

async function checkUnchanged(copy: string, planned: readonly Planned[]): Promise<void> {
  const tests = new Set(planned.flatMap(({ stages }) => stages.flat()));
  for (const test of tests)
    if (!(await testsPass(copy, [test]))) throw new Error(`${test} fails without a mutant; mend it first.`);
}

const { files, sample, seed, jobs } = readFlags({ files: Object.keys(GROUPS).join(), sample: 300, seed: 1, jobs: 2 });
const planned = plan(files.split(','), sample, seed);
const copies = Array.from({ length: jobs }, makeCopy);
try {
  progress(`${planned.length} mutants; the tests without one first`);
  await checkUnchanged(copies[0]!, planned);
  const survivors: Mutant[] = [];
  let [next, done] = [0, 0];
  await Promise.all(
    copies.map(async (copy) => {
      for (let place = next++; place < planned.length; place = next++) {
        const { mutant } = planned[place]!;
        if (await survives(copy, planned[place]!)) {
          survivors.push(mutant);
          progress(told(mutant));
        }
        if (++done % 10 === 0) progress(`${done} of ${planned.length} mutants, ${survivors.length} survived`);
      }
    }),
  );
  survivors.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  for (const mutant of survivors) console.log(told(mutant));
  const killed = planned.length - survivors.length;
  console.log(
    `${killed} of ${planned.length} mutants noticed, score ${((100 * killed) / Math.max(1, planned.length)).toFixed(1)} %`,
  );
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true });
}

function told({ file, line, operator, before, after }: Mutant): string {
  return `${file}:${line} ${operator}: ${before}  ->  ${after}`;
}
