// Runs the parts of a compaction: merges in the core, writes and syncs the new files. Used in a worker, and inline by tests.

import { type Core, type CoreModule, SegmentMerger } from '../../core/index.ts';
import type { Fs } from '../../storage/fs.ts';
import { readFully } from '../../storage/whole-file.ts';
import { asCorruption, segmentName } from '../segment-file.ts';
import type { CompactionRunner, OpenWork, PartWork, WorkDone } from './work.ts';

/** Memory of the core that stays for the next compaction: it can grow but not shrink, and a new one costs as much again until garbage is collected. */
const KEPT_BYTES = 64 * 2 ** 20;

export class InlineRunner implements CompactionRunner {
  readonly #fs: Fs;
  readonly #module: CoreModule;
  #core: Core | undefined;
  #merger: SegmentMerger | undefined;
  #dir = '';
  #next = 0;
  #files: { number: number; bytes: number }[] = [];

  constructor(fs: Fs, module: CoreModule) {
    this.#fs = fs;
    this.#module = module;
  }

  async open(work: OpenWork): Promise<void> {
    this.#dir = work.dir;
    this.#next = work.firstNumber;
    this.#files = [];
    this.#fs.makeDir(work.dir);
    if (this.#core === undefined || this.#core.memory.size > KEPT_BYTES) this.#core = this.#module.instantiate();
    this.#merger = new SegmentMerger(this.#core, work, (file) => this.#write(file));
  }

  async part(work: PartWork): Promise<WorkDone> {
    const merger = this.#merger!;
    const before = { in: merger.rowsIn, out: merger.rowsOut };
    const { segment } = work;
    await merger.part(
      segment && {
        bytes: segment.bytes,
        read: (target) => this.#read(segment.path, target),
        dead: { count: segment.deadRows.length, rows: segment.deadRows, lsns: segment.deadLsns, version: 0 },
        lsn: segment.lsn,
        file: segment.path,
        lower: segment.lower,
        upper: segment.upper,
      },
      work.runs,
      work.last,
      work.even,
    );
    const files = this.#files;
    this.#files = [];
    return { files, rowsIn: merger.rowsIn - before.in, rowsOut: merger.rowsOut - before.out };
  }

  async close(): Promise<void> {
    this.#merger = undefined;
    if (this.#dir !== '') await this.#fs.syncDir(this.#dir);
  }

  /** Throws `corrupt` when the file is missing or cannot be read. */
  #read(path: string, target: Uint8Array): void {
    try {
      const handle = this.#fs.open(path, 'read');
      try {
        readFully(handle, target, 0);
      } finally {
        handle.close();
      }
    } catch (error) {
      throw asCorruption(error, path);
    }
  }

  async #write(file: Uint8Array): Promise<void> {
    const number = this.#next++;
    const path = `${this.#dir}/${segmentName(number)}`;
    // Left by a compaction that a crash cut: no manifest lists a number that is still to be given out.
    if (this.#fs.exists(path)) await this.#fs.remove(path);
    const handle = this.#fs.open(path, 'create');
    try {
      let at = 0;
      while (at < file.length) {
        const n = await handle.write(file.subarray(at), at);
        if (n <= 0) throw Object.assign(new Error(`${path}: wrote ${at} of ${file.length} bytes`), { code: 'EIO' });
        at += n;
      }
      await handle.sync();
    } finally {
      handle.close();
    }
    this.#files.push({ number, bytes: file.length });
  }
}
