// Executes the parts of a compaction: merges them in the core, then writes and syncs the new files.
// Runs in a worker thread or, if `InlineRunner` is used directly (as in tests), in the thread of
// the caller.

import { type Core, type CoreModule, type MergedText, SegmentMerger } from '../../core/index.ts';
import { type Fs, readFully } from '../../storage/index.ts';
import { analyzerOf } from '../../text/index.ts';
import { asCorruption, segmentName } from '../table/segment-file.ts';
import type { CompactionRunner, OpenWork, PartWork, TextWork, WorkDone } from './work.ts';

/**
 * A core instance with at most this much memory is kept for the next compaction. The memory of an
 * instance can grow but not shrink. A new instance takes additional memory until the old one is
 * garbage-collected.
 */
const KEPT_BYTES = 64 * 2 ** 20;
/** If more deferred syncs than this are running, the next file waits until one of them ends. */
const MOST_SYNCS = 32;

function mergedText({ columns, tag, language }: TextWork): MergedText {
  const analyzer = analyzerOf(language);
  return { columns, tag, termsOf: (text) => analyzer.terms(text) };
}

export class InlineRunner implements CompactionRunner {
  readonly #fs: Fs;
  readonly #module: CoreModule;
  #core: Core | undefined;
  #merger: SegmentMerger | undefined;
  #dir = '';
  #next = 0;
  #files: { number: number; bytes: number }[] = [];
  #syncLater = false;
  /**
   * `#ownSyncs`: the deferred syncs of this compaction's files. `#syncs`: all deferred syncs still
   * running, also those of directories and of earlier compactions.
   */
  #ownSyncs: Promise<void>[] = [];
  readonly #syncs = new Set<Promise<void>>();
  #syncError: { error: unknown } | undefined;

  constructor(fs: Fs, module: CoreModule) {
    this.#fs = fs;
    this.#module = module;
  }

  async open(work: OpenWork): Promise<void> {
    this.#dir = work.dir;
    this.#next = work.firstNumber;
    this.#files = [];
    this.#syncLater = work.syncLater;
    this.#ownSyncs = [];
    this.#fs.makeDir(work.dir);
    if (this.#core === undefined || this.#core.memory.size > KEPT_BYTES) this.#core = this.#module.instantiate();
    const options = { ...work, text: work.text && mergedText(work.text) };
    this.#merger = new SegmentMerger(this.#core, options, (file) => this.#write(file));
  }

  async part(work: PartWork): Promise<WorkDone> {
    const merger = this.#merger!;
    const before = { in: merger.rowsIn, out: merger.rowsOut };
    const { segment } = work;
    await merger.part(
      segment && {
        bytes: segment.bytes,
        checksum: segment.checksum,
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
    const dir = this.#dir;
    if (dir === '') return;
    if (!this.#syncLater) return this.#fs.syncDir(dir);
    const files = this.#ownSyncs;
    await this.#later(Promise.all(files).then(() => this.#fs.syncDir(dir)));
  }

  async flush(): Promise<void> {
    while (this.#syncs.size > 0) await Promise.all(this.#syncs);
    const failed = this.#syncError;
    this.#syncError = undefined;
    if (failed !== undefined) throw failed.error;
  }

  /**
   * Registers a sync for which `flush` must wait. If too many syncs are running, waits until one of
   * them ends.
   */
  async #later(sync: Promise<void>): Promise<void> {
    const noted: Promise<void> = sync
      .catch((error: unknown) => {
        this.#syncError ??= { error };
      })
      .finally(() => this.#syncs.delete(noted));
    this.#syncs.add(noted);
    if (this.#syncs.size > MOST_SYNCS) await Promise.race(this.#syncs);
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
    // A file that exists here was left by a compaction that a crash interrupted: no manifest lists
    // this number, because it has not been assigned yet.
    if (this.#fs.exists(path)) await this.#fs.remove(path);
    const handle = this.#fs.open(path, 'create');
    let isWritten = false;
    try {
      let at = 0;
      while (at < file.length) {
        const n = await handle.write(file.subarray(at), at);
        if (n <= 0) throw Object.assign(new Error(`${path}: wrote ${at} of ${file.length} bytes`), { code: 'EIO' });
        at += n;
      }
      isWritten = true;
      if (!this.#syncLater) await handle.sync();
    } finally {
      if (!this.#syncLater || !isWritten) handle.close();
    }
    this.#files.push({ number, bytes: file.length });
    if (!this.#syncLater) return;
    const sync = handle.sync().finally(() => handle.close());
    this.#ownSyncs.push(sync);
    await this.#later(sync);
  }
}
