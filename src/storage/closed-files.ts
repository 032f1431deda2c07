// The files of the log to which nothing is written any more, oldest first: those that recovery
// needs, and before them those that are kept as history or by a lease. Removes files that nobody
// needs any more.

import { assert } from '../assert.ts';
import type { Fs } from './fs.ts';
import type { ClosedLogFile } from './log-file.ts';
import { beyondHistory } from './log-history.ts';
import type { LogHistory } from './log-store.ts';

export interface ClosedFilesOptions {
  fs: Fs;
  history: LogHistory | undefined;
  /** Epoch seconds. */
  seconds: (() => number) | undefined;
  /** First LSN of the file that is being written; undefined if there is none. */
  activeFirstLsn: () => number | undefined;
  /** Sequence number of the file that the mark names. */
  markSequence: () => number;
}

export class ClosedFiles {
  readonly #options: ClosedFilesOptions;
  readonly #files: ClosedLogFile[];
  /** Nothing needs the LSNs up to this one for recovery. */
  #truncatedLsn: number;
  readonly #leases = new Set<{ readonly fromLsn: number }>();
  /** Total size of the files that recovery does not need. */
  historyBytes = 0;

  /** `truncatedLsn`: nothing needs the LSNs up to this one for recovery. */
  constructor(files: ClosedLogFile[], truncatedLsn: number, options: ClosedFilesOptions) {
    this.#options = options;
    this.#files = files;
    this.#truncatedLsn = truncatedLsn;
    this.#countHistory();
  }

  get list(): readonly ClosedLogFile[] {
    return this.#files;
  }

  get bytes(): number {
    let bytes = 0;
    for (const file of this.#files) bytes += file.bytes;
    return bytes;
  }

  /** Oldest LSN in these files; undefined if there is none. */
  get oldestLsn(): number | undefined {
    // Obsolete files found by recovery are never read; their first LSN is unknown and set to 0.
    return this.#files.find(({ firstLsn }) => firstLsn > 0)?.firstLsn;
  }

  /** Adds a file that has just been closed. */
  add(file: ClosedLogFile): void {
    assert(file.sequence > (this.#files.at(-1)?.sequence ?? 0), 'the files of a log ascend');
    this.#files.push(file);
  }

  /** Keeps the files with LSNs from `fromLsn` on until the returned function is called. */
  lease(fromLsn: number): () => void {
    const lease = { fromLsn };
    this.#leases.add(lease);
    return () => void this.#leases.delete(lease);
  }

  /** Declares that recovery does not need the LSNs up to `lsn`, and removes what is too old. */
  async truncate(lsn: number): Promise<void> {
    this.#truncatedLsn = Math.max(this.#truncatedLsn, lsn);
    const { history, seconds } = this.#options;
    const count = this.#removable(this.#leasedLsn());
    await this.#remove(history === undefined ? count : beyondHistory(this.#files, count, history, seconds!()));
  }

  /** On a full disk, the history gives way. Returns whether it had any file. */
  async dropHistory(): Promise<boolean> {
    const count = this.#removable(this.#leasedLsn());
    await this.#remove(count);
    return count > 0;
  }

  #leasedLsn(): number {
    let leased = Infinity;
    for (const { fromLsn } of this.#leases) leased = Math.min(leased, fromLsn);
    return leased;
  }

  /** Returns how many of the oldest files have no LSN that recovery or a lease needs. */
  #removable(leasedLsn: number): number {
    const { activeFirstLsn, markSequence } = this.#options;
    const upTo = Math.min(this.#truncatedLsn, leasedLsn - 1);
    let count = 0;
    for (; count < this.#files.length; count++) {
      const next = this.#files[count + 1]?.firstLsn ?? activeFirstLsn();
      if (next === undefined || next - 1 > upTo) break;
      // The file that the mark names is kept, and so are later ones. The name of a later file may
      // not be durable, so without the marked file a crash could leave no log file at all.
      if (this.#files[count]!.sequence >= markSequence()) break;
    }
    return count;
  }

  #countHistory(): void {
    this.historyBytes = 0;
    for (const file of this.#files.slice(0, this.#removable(Infinity))) this.historyBytes += file.bytes;
  }

  /** Removes the oldest `count` files. */
  async #remove(count: number): Promise<void> {
    const files = this.#files.splice(0, count);
    this.#countHistory();
    // The directory is not synced: if a crash undoes a removal, that is harmless. Only a rotation
    // may sync the directory, because an error reported to another sync would hide that the name of
    // a new file was lost.
    for (const file of files) await this.#options.fs.remove(file.path);
  }
}
