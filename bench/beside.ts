// Compares this checkout with another one, for instance the previous commit. Rounds of at least 100
// ms alternate in the order A B B A, so that other load on the machine affects both sides alike.
// Memory layout and compiled code differ by chance from process to process, so both sides are
// started several times.
//
// npm run build && npx tsx bench/beside.ts --other DIR [--starts 5] [--rounds 10] [--only TEXT]
//
// DIR is a built checkout. For each task this prints the time of one run in this checkout (of one
// request in http tasks), the ratio of the quick rounds, and the median and quartiles of the ratio
// between neighbouring rounds. A ratio above 1 means that this checkout is faster. Other load only
// ever adds to a round, so on a busy machine the quick rounds (the second fastest of each side and
// start, median over the starts) say more than all rounds. The exit code is 1 if their ratio is
// below 0.97 for any task.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadDataset } from './dataset.ts';
import { hasWrk, measurer, requestKinds, type Server, startServer, untilReady } from './http-load.ts';
import { statementKinds } from './statement-http.ts';
import { Workspace } from './workspace.ts';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const CHILD = fileURLToPath(new URL('beside-child.ts', import.meta.url));
const LEAST = 0.97;
const WARM_UP = 3;
/** A round repeats its task so often that it takes about this long. */
const ROUND_MS = 100;

const { values: given } = parseArgs({
  options: {
    other: { type: 'string' },
    rounds: { type: 'string', default: '10' },
    starts: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
});
if (given.other === undefined) throw new Error('Give --other DIR: a built checkout to compare with.');
const rounds = Number(given.rounds);
const CHECKOUTS = [
  ['other', given.other],
  ['ours', HERE],
] as const;

/**
 * Cost of one round on one side; lower is faster. `cpuMs` is the CPU time of all threads. Other
 * load on the machine disturbs it less than `ms`.
 */
interface Took {
  ms: number;
  cpuMs: number;
}

type Side = (round: number) => Promise<Took>;
type Pair = readonly [other: Took, ours: Took];

/** The rounds of each task, by start. */
const races = new Map<string, Pair[][]>();
for (let start = 1; start <= Number(given.starts); start++) {
  if (process.stderr.isTTY) process.stderr.write(`start ${start} of ${given.starts}\n`);
  const scratch = mkdtempSync(join(tmpdir(), 'hedgerow-beside-'));
  try {
    await raceEngines(scratch);
    await raceServers(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
console.log(
  `${'row'.padEnd(50)} ${'ms'.padStart(8)}  quick  ${'all rounds (quartiles)'.padEnd(24)} CPU time (quartiles)`,
);
const slower = [...races].filter(([name, starts]) => show(name, starts) < LEAST);
process.exitCode = slower.length > 0 ? 1 : 0;

async function raceEngines(scratch: string): Promise<void> {
  const children = await Promise.all(CHECKOUTS.map(([name, checkout]) => startChild(checkout, join(scratch, name))));
  try {
    const names = (await asked(children[1]!, { name: 'names' })) as string[];
    for (const name of names) {
      if (!name.includes(given.only)) continue;
      const run = async (child: ChildProcess, round: number, runs: number) =>
        (await asked(child, { name, round: round * runs, runs })) as Took;
      await run(children[1]!, 0, 1);
      const { ms } = await run(children[1]!, 1, 1);
      const runs = Math.ceil(ROUND_MS / ms);
      const sides = children.map(
        (child): Side =>
          (round) =>
            run(child, round, runs),
      );
      await race(name, sides);
    }
  } finally {
    for (const child of children) child.disconnect();
    await Promise.all(children.map((child) => once(child, 'exit')));
  }
}

async function startChild(checkout: string, dir: string): Promise<ChildProcess> {
  const child = fork(CHILD, [checkout, dir], { execArgv: ['--import', 'tsx'] });
  await once(child, 'message');
  return child;
}

async function asked(child: ChildProcess, message: object): Promise<unknown> {
  child.send(message);
  const [answer] = await once(child, 'message');
  return answer;
}

/**
 * Races the servers of both checkouts. Each server opens the directory that the child of the same
 * checkout has loaded, because the storage formats may differ.
 */
async function raceServers(scratch: string): Promise<void> {
  if (!hasWrk()) return console.error('http: left out, wrk is not installed (apt install wrk)');
  const workspace = new Workspace();
  const servers: Server[] = [];
  try {
    for (const [name, checkout] of CHECKOUTS) {
      const args = ['serve', '--data', join(scratch, name, 'read'), '--port', '0'];
      const server = await startServer(join(checkout, 'dist/main.js'), args);
      servers.push(server);
      await untilReady(server);
    }
    const { edges } = loadDataset({ tiny: false, scratch });
    for (const kind of [...requestKinds(edges, false), statementKinds(edges, false)[0]]) {
      if (!`http: ${kind.name}`.includes(given.only)) continue;
      const sides = servers.map((server): Side => {
        const measure = measurer(server, kind, workspace, false);
        return async () => {
          const { rate, cpuUs } = await measure();
          return { ms: 1000 / rate, cpuMs: cpuUs / 1000 };
        };
      });
      await race(`http: ${kind.name}`, sides);
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    workspace.remove(workspace.dir);
  }
}

async function race(name: string, [other, ours]: readonly Side[]): Promise<void> {
  for (let round = 0; round < WARM_UP; round++) {
    await other!(round);
    await ours!(round);
  }
  const pairs: Pair[] = [];
  races.set(name, [...(races.get(name) ?? []), pairs]);
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) pairs.push([await other!(round), await ours!(round)]);
    else {
      const took = await ours!(round);
      pairs.push([await other!(round), took]);
    }
  }
}

/** Prints a row, and returns the ratio of the quick rounds. */
function show(name: string, starts: readonly Pair[][]): number {
  const pairs = starts.flat();
  const [, quick] = quartiles(starts.map((some) => quickOf(some, 0) / quickOf(some, 1)));
  const wall = quartiles(pairs.map(([other, ours]) => other.ms / ours.ms));
  const cpu = quartiles(pairs.map(([other, ours]) => other.cpuMs / ours.cpuMs));
  const [, ms] = quartiles(pairs.map(([, ours]) => ours.ms));
  const ratios = ([low, middle, high]: readonly number[]) =>
    middle === undefined ? '' : `${middle.toFixed(3)} (${low!.toFixed(3)} to ${high!.toFixed(3)})`;
  const figures = [ms!.toPrecision(3).padStart(8), '', quick!.toFixed(3), '', ratios(wall).padEnd(24), ratios(cpu)];
  console.log(`${name.padEnd(50)} ${figures.join(' ')}`);
  return quick!;
}

/** Returns the time of the second fastest round of one side: the fastest may be a lucky one. */
function quickOf(pairs: readonly Pair[], side: 0 | 1): number {
  const times = pairs.map((pair) => pair[side].ms).sort((a, b) => a - b);
  return times[Math.min(1, times.length - 1)]!;
}

function quartiles(values: number[]): number[] {
  if (values.length === 0) return [];
  values.sort((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((share) => values[Math.floor(share * (values.length - 1))]!);
}
