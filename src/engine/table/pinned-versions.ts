// Accounts for memory that is in use only because of readers of old versions: memtables that a
// snapshot still contains although a compaction has replaced them or their table was dropped.
//
// The segments of such versions are not counted: they are evicted from memory like any others, and
// their files are removed when the last reader ends.

import { assert } from '../../assert.ts';
import type { CoreMemtable } from '../../core/index.ts';
import type { Table } from './table.ts';
import type { Version } from './version.ts';

export interface PinnedVersionsOptions {
  /** Above this many bytes, readers should be ended where possible. */
  limitBytes: number;
  /** Charges bytes to the memory budget; a negative number releases them. */
  charge: (bytes: number) => void;
}

export class PinnedVersions {
  readonly #options: PinnedVersionsOptions;
  /** Versions that were replaced while they had readers. */
  readonly #versions = new Map<Version, Table>();
  #bytes = 0;

  constructor(options: PinnedVersionsOptions) {
    this.#options = options;
  }

  /** Total size in bytes of the memtables that are kept only for readers. */
  get bytes(): number {
    return this.#bytes;
  }

  get isOver(): boolean {
    return this.#bytes > this.#options.limitBytes;
  }

  /** Returns whether ending the readers of this version may free memory. */
  has(version: Version): boolean {
    return this.#versions.has(version);
  }

  /** Called when another version has replaced `old` as the table's current one. */
  replaced(table: Table, old: Version): void {
    if (old.references > 0) this.#versions.set(old, table);
    if (this.#versions.size > 0) this.#count();
  }

  /** Called when the version has no readers any more. */
  released(version: Version): void {
    assert(version.references === 0, 'a version is let go when nobody reads it');
    if (this.#versions.delete(version)) this.#count();
  }

  #count(): void {
    const memtables = new Set<CoreMemtable>();
    for (const [version, table] of this.#versions) {
      for (const { memtable } of version.memtables) {
        const isCurrent = table.version.memtables.some((entry) => entry.memtable === memtable);
        if (!isCurrent || table.dropped) memtables.add(memtable);
      }
    }
    let bytes = 0;
    for (const memtable of memtables) bytes += memtable.residentBytes;
    this.#options.charge(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}
