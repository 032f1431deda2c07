// Runs a writer under `ulimit -v` with many limits. Every instance of the core (the WebAssembly
// module) reserves about 10.5 GB of address space. So each limit makes the creation of an instance
// fail at another point of the writer's work.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge } from './judge.ts';
import { KINDS } from './kill-loop.ts';
import { Ledger } from './ledger.mjs';
import { startWriter } from './spoken.ts';

const OPERATIONS = 120;
const GIGABYTE_KB = 2 ** 20;
/**
 * The smallest limit; each next one is larger by a constant factor. The first fifth of the limits
 * is too small for one instance, or even for Node itself.
 */
const SMALLEST_GB = 0.7;
const FIRST_INSTANCE_GB = 12;
const LARGEST_GB = 4000;
const MOST_MS = 60_000;

export interface MemoryFigures {
  sizes: number;
  /** Number of limits at which the process died. */
  died: number;
  /** Number of limits at which the directory did not open. */
  closed: number;
  /** Number of limits at which operations were refused. */
  refused: number;
  acknowledged: number;
  failures: string[];
}

export async function memoryLoop(
  sizes: number,
  seed: number,
  progress: (figures: MemoryFigures) => void = () => undefined,
): Promise<MemoryFigures> {
  const figures: MemoryFigures = { sizes: 0, died: 0, closed: 0, refused: 0, acknowledged: 0, failures: [] };
  for (let place = 0; place < sizes; place++) {
    const gigabytes = sizeOf(place, sizes);
    const home = mkdtempSync(join(tmpdir(), 'hedgerow-memory-'));
    try {
      await oneSize(home, gigabytes, seed + place, figures);
    } catch (error) {
      figures.failures.push(
        `ulimit -v of ${gigabytes.toFixed(1)} GB, seed ${seed + place}: ${(error as Error).message}`,
      );
    } finally {
      rmSync(home, { recursive: true });
    }
    figures.sizes++;
    progress(figures);
  }
  return figures;
}

function sizeOf(place: number, sizes: number): number {
  const small = Math.floor(sizes / 5);
  if (place < small) return SMALLEST_GB * (FIRST_INSTANCE_GB / SMALLEST_GB) ** (place / Math.max(1, small));
  return FIRST_INSTANCE_GB * (LARGEST_GB / FIRST_INSTANCE_GB) ** ((place - small) / Math.max(1, sizes - small - 1));
}

async function oneSize(home: string, gigabytes: number, seed: number, figures: MemoryFigures): Promise<void> {
  const ledger = new Ledger();
  const task = { dir: `${home}/db`, backups: `${home}/backups`, expected: `${home}/expected.json`, seed, lanes: 3 };
  const limited = [
    'bash',
    '-c',
    `ulimit -v ${Math.floor(gigabytes * GIGABYTE_KB)} && exec "$@"`,
    'limited',
    process.execPath,
  ];
  const writer = startWriter({ ...task, operations: OPERATIONS, kinds: KINDS }, ledger, limited);
  const timer = setTimeout(() => {
    figures.failures.push(`ulimit -v of ${gigabytes.toFixed(1)} GB, seed ${seed}: it hung`);
    writer.child.kill('SIGKILL');
  }, MOST_MS);
  if (await writer.word('done')) writer.child.stdin!.end('close\n');
  await writer.end;
  clearTimeout(timer);
  if (writer.words.some((word) => word.startsWith('closed'))) figures.closed++;
  else if (!writer.words.includes('done')) figures.died++;
  if (writer.refused.length > 0) figures.refused++;
  figures.acknowledged += ledger.next - 1 - ledger.open.size;
  await judge(task.dir, ledger, { compact: true });
}
