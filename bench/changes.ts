// The feed of changes with many subscribers: whether each gets every change once and in order, how
// late, and what it costs writers and memory.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MAIN, OPEN_SETTINGS, type Server, startServer, untilReady } from './http-load.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const WRITERS = fileURLToPath(new URL('changes-writers.mjs', import.meta.url));
const SUBSCRIBERS = fileURLToPath(new URL('changes-subscribers.mjs', import.meta.url));
const RATE = 12_000;
const CONNECTIONS = 64;
/** Seconds between two cuts of a connection. */
const CUT_SECONDS = 0.25;
const MEMORY_EVERY_MS = 250;

interface Written {
  readonly done: number;
  readonly p99Ms: number;
}

interface Followed {
  readonly events: number;
  readonly cuts: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly problem: string | null;
}

/** `HEDGEROW_BENCH_SECONDS` is the length of a run: 15 by default, 60 in the figures that count. */
export async function runChanges({ tiny, dataset, workspace, note }: PartOptions): Promise<BenchRow[]> {
  dataset.release();
  const seconds = tiny ? 1 : Number(process.env.HEDGEROW_BENCH_SECONDS ?? 15);
  const count = tiny ? 5 : 100;
  const rate = tiny ? 100 : RATE;
  const dir = workspace.fresh('changes');
  const server = await startServer(MAIN, ['serve', '--data', dir, '--port', '0'], { settings: OPEN_SETTINGS });
  try {
    await untilReady(server);
    const alone = await write(server, rate, seconds);
    const { port } = new URL(server.url);
    const child = spawn(
      process.execPath,
      [SUBSCRIBERS, port, `${count}`, `${CUT_SECONDS}`, `${await headOf(server)}`],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    await lines.next();
    const memory = watchMemory(server.pid);
    const cpuBefore = cpuSecondsOf(server.pid);
    const beside = await write(server, rate, seconds);
    const cpu = cpuSecondsOf(server.pid) - cpuBefore;
    const [first, last] = memory.stop();
    child.stdin!.write(`${await headOf(server)}\n`);
    const followed = JSON.parse((await lines.next()).value) as Followed;
    await ended(child);
    if (followed.problem !== null) throw new Error(`changes: ${followed.problem}`);
    note(
      `changes: ${count} subscribers got ${followed.events} changes, each in order and once, over ${followed.cuts} cut connections; the server used ${((100 * cpu) / seconds).toFixed(0)} % of a core`,
    );
    return [
      benchRow({
        name: `single inserts with ${count} subscribers, beside none, at ${rate} a second`,
        unit: '/s',
        ours: beside.done / seconds,
        peer: alone.done / seconds,
        target: { ratioAtLeast: 0.9 },
      }),
      benchRow({ name: '99th percentile of these inserts', unit: 'ms', ours: beside.p99Ms, peer: alone.p99Ms }),
      benchRow({ name: 'changes to all subscribers', unit: '/s', ours: followed.events / seconds }),
      benchRow({ name: 'from the request of an insert to a subscriber, p50', unit: 'ms', ours: followed.p50Ms }),
      benchRow({
        name: 'from the request of an insert to a subscriber, p99',
        unit: 'ms',
        ours: followed.p99Ms,
        target: { oursAtMost: 50 },
      }),
      benchRow({
        name: 'memory of the server in the last third, beside the first',
        unit: 'MB',
        ours: last / 2 ** 20,
        peer: first / 2 ** 20,
      }),
    ];
  } finally {
    await server.stop();
    workspace.remove(dir);
  }
}

async function write({ url }: Server, rate: number, seconds: number): Promise<Written> {
  const child = spawn(process.execPath, [WRITERS, new URL(url).port, `${rate}`, `${seconds}`, `${CONNECTIONS}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout!.on('data', (data: Buffer) => {
    text += data.toString();
  });
  await ended(child);
  return JSON.parse(text) as Written;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`${child.spawnargs[1]} ended with ${child.exitCode}`);
}

async function headOf({ url }: Server): Promise<number> {
  const health = (await (await fetch(`${url}/health`)).json()) as { last_lsn: number };
  return health.last_lsn;
}

/** Returns the CPU time of a process. Linux counts it in ticks of 10 ms. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * Measures resident memory now and then; `stop` returns the medians of the first and last third.
 */
function watchMemory(pid: number): { stop(): [first: number, last: number] } {
  const sizes: number[] = [];
  const look = () => {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    sizes.push(pages * 4096);
  };
  look();
  const timer = setInterval(look, MEMORY_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      const third = Math.ceil(sizes.length / 3);
      const median = (some: number[]) => some.sort((a, b) => a - b)[some.length >> 1]!;
      return [median(sizes.slice(0, third)), median(sizes.slice(-third))];
    },
  };
}
