// For each of many disk sizes: lets a writer fill the disk, enlarges the disk, and lets the writer
// go on. Checks that acknowledged operations are stored, that refused ones are not, and that work
// resumes without a restart.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge } from './judge.ts';
import { Ledger } from './ledger.mjs';
import { startWriter } from './spoken.ts';

const KINDS = {
  insert: 40,
  delete: 6,
  transaction: 8,
  createTable: 2,
  dropTable: 1,
  putDocument: 4,
  compact: 2,
  ttl: 1,
};
/** Number of operations that the writer tries before the disk is enlarged. */
const OPERATIONS = 300;
/** Number of operations that the writer tries after the disk was enlarged. */
const MORE = 25;
/**
 * The smallest disk is too small for an empty database, and the largest never fills up. With 200
 * sizes, the steps are 6 KB.
 */
const LEAST_BYTES = 48 * 1024;
const MOST_BYTES = 1248 * 1024;
const GROWN_BYTES = 64 * 2 ** 20;

export interface SpaceFigures {
  sizes: number;
  /** Number of sizes at which an operation was refused before the disk was enlarged. */
  full: number;
  /** Number of sizes at which the directory did not open at all. */
  closed: number;
  /** Number of sizes at which work did not resume after the disk was enlarged. */
  stuck: number;
  failures: string[];
}

/** Returns the reason why no disk can be created here, or undefined if one can. */
export function whyNoDisk(): string | undefined {
  const home = mkdtempSync(join(tmpdir(), 'hedgerow-space-'));
  try {
    const made = mount(home, 65536, false);
    if (made !== '') return `tmpfs cannot be mounted here: ${made}`;
    spawnSync('umount', [home]);
    return undefined;
  } finally {
    rmSync(home, { recursive: true });
  }
}

function mount(dir: string, bytes: number, again: boolean): string {
  const options = `${again ? 'remount,' : ''}size=${bytes}`;
  const run = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir], { encoding: 'utf8' });
  return run.error?.message ?? run.stderr.trim();
}

export async function spaceLoop(
  sizes: number,
  seed: number,
  progress: (figures: SpaceFigures) => void = () => undefined,
): Promise<SpaceFigures> {
  const figures: SpaceFigures = { sizes: 0, full: 0, closed: 0, stuck: 0, failures: [] };
  for (let place = 0; place < sizes; place++) {
    const bytes =
      Math.round((LEAST_BYTES + ((MOST_BYTES - LEAST_BYTES) * place) / Math.max(1, sizes - 1)) / 4096) * 4096;
    const home = mkdtempSync(join(tmpdir(), 'hedgerow-space-'));
    try {
      await oneSize(home, bytes, seed + place, figures);
    } catch (error) {
      figures.failures.push(`${bytes} bytes, seed ${seed + place}: ${(error as Error).message}`);
    } finally {
      spawnSync('umount', ['-l', `${home}/disk`]);
      rmSync(home, { recursive: true, force: true });
    }
    figures.sizes++;
    progress(figures);
  }
  return figures;
}

async function oneSize(home: string, bytes: number, seed: number, figures: SpaceFigures): Promise<void> {
  const disk = `${home}/disk`;
  spawnSync('mkdir', [disk]);
  const failed = mount(disk, bytes, false);
  if (failed !== '') throw new Error(failed);
  const ledger = new Ledger();
  const task = { dir: `${disk}/db`, backups: `${disk}/backups`, expected: `${home}/expected.json`, seed, lanes: 2 };
  const writer = startWriter({ ...task, operations: OPERATIONS, kinds: KINDS }, ledger);
  const opened = await writer.word('done');
  mount(disk, GROWN_BYTES, true);
  const before = writer.refused.length;
  if (before > 0) figures.full++;
  if (opened) {
    writer.child.stdin!.write(`more ${MORE}\n`);
    await writer.word('done');
    writer.child.stdin!.end('close\n');
  } else {
    figures.closed++;
  }
  const end = await writer.end;
  const codes = new Set(writer.refused.map((line) => line.split(' ')[2]));
  const closed = writer.words.find((word) => word.startsWith('closed'));
  if (closed !== undefined && !closed.startsWith('closed disk_full'))
    throw new Error(`the opening was refused with: ${closed}`);
  if (closed === undefined && end !== '0') throw new Error(`the writer ended with ${end}: ${writer.errors()}`);
  const stuck = writer.refused.length > before;
  if (stuck) figures.stuck++;
  await judge(task.dir, ledger, { compact: true });
  const odd = [...codes].filter((code) => !['disk_full', 'disk_failed', 'log_failed'].includes(code!));
  if (odd.length > 0)
    throw new Error(`refused with ${odd}: ${writer.refused.find((line) => line.split(' ')[2] === odd[0])}`);
  if (stuck) throw new Error(`work did not go on after the disk had grown: ${writer.refused.at(-1)}`);
}
