// Opens a database on a simulated disk. The database has a clock that advances only when it is
// read, and runs compactions inline.

import { loadCore } from '../../src/core/index.ts';
import { InlineRunner } from '../../src/engine/compaction/merge-files.ts';
import type { CompactionRunner, OpenWork, PartWork, WorkDone } from '../../src/engine/compaction/work.ts';
import { Database, type EngineOptions, type Scan, type Snapshot, type Table } from '../../src/engine/index.ts';
import type { ScanBounds } from '../../src/engine/types.ts';
import { Scheduler } from '../../src/schedule/scheduler.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { SimFs } from './sim-fs.ts';

/** Runs compactions inline, and waits for the test's callback before every step. */
export class PausingRunner implements CompactionRunner {
  readonly #inner: InlineRunner;
  readonly #pause: (step: 'open' | 'part' | 'close') => Promise<void>;

  constructor(
    fs: Fs,
    pause: (step: 'open' | 'part' | 'close') => Promise<void>,
    core: EngineOptions['core'] = 'release',
  ) {
    this.#inner = new InlineRunner(fs, loadCore(core));
    this.#pause = pause;
  }

  async open(work: OpenWork): Promise<void> {
    await this.#pause('open');
    return this.#inner.open(work);
  }

  async part(work: PartWork): Promise<WorkDone> {
    await this.#pause('part');
    return this.#inner.part(work);
  }

  async close(): Promise<void> {
    await this.#pause('close');
    return this.#inner.close();
  }
}

/** Returns a scheduler whose turns do not depend on how fast the machine is. */
export function simScheduler(): Scheduler {
  let ms = 0;
  return new Scheduler(() => (ms += 0.5));
}

export function simOptions(fs: Fs, more: Partial<EngineOptions> = {}): EngineOptions {
  let us = 0;
  return {
    dir: '/db',
    fs,
    runner: new InlineRunner(fs, loadCore(more.core)),
    now: () => 1_000_000_000_000,
    nowUs: () => (us += 7),
    schedule: () => {},
    primaryTable: 'hyperedges',
    maxMembers: 255,
    durability: 'fsync',
    memoryBudgetBytes: 2 ** 24,
    segmentRows: 8,
    logFileBytes: 8192,
    core: 'debug',
    ...more,
  };
}

/** Returns an empty simulated disk. */
export function simDisk(seed = 1): SimFs {
  return new SimFs(seed);
}

export function openSim(fs: Fs, more: Partial<EngineOptions> = {}): Promise<Database> {
  return Database.open(simOptions(fs, more));
}

/** Returns the whole text of a scan. */
export function drain(scan: Scan): string {
  const slices: Uint8Array[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(slice);
  return Buffer.concat(slices).toString();
}

/** Returns the rows of a scan as values. */
export function rowsOf(table: Table, request: ScanBounds = {}, snapshot?: Snapshot): Record<string, unknown>[] {
  return JSON.parse(`[${drain(table.scan({ format: 'json', ...request }, snapshot))}]`);
}

export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
