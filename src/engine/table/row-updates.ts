// Records which rows were updated at which LSN, so that a transaction can detect a conflict on a
// row that a compaction has moved.
//
// An update keeps the id of a row and often its key. In segments, where no LSNs are stored, the row
// of a snapshot and a newer row with the same key cannot be distinguished without this record. An
// entry is kept at least as long as there is an open transaction whose snapshot does not include
// the update.

import { assert } from '../../assert.ts';
import { WideMap } from '../idempotency/wide-map.ts';

/** The snapshot of an open transaction. */
export interface Watcher {
  readonly lsn: number;
}

/**
 * Maximum number of entries that one call removes, unless all can be removed. Removing this many
 * takes about a millisecond.
 */
const MOST_FORGOTTEN = 8192;
/** Number of updates in a chunk. One array of a million would be copied when it grows. */
const CHUNK = 8192;

/** Row ids and LSNs of consecutive updates. */
interface Chunk {
  readonly ids: number[];
  readonly lsns: number[];
}

export class RowUpdates {
  /** Maps a row id to the LSN of the row's last update. */
  readonly #lsns = new WideMap<number, number>();
  /** The updates in LSN order. All chunks but the last are full. */
  #chunks: Chunk[] = [];
  /** Index of the first update in the first chunk that is not forgotten. */
  #first = 0;
  /** In LSN order. */
  readonly #watchers = new Set<Watcher>();

  /**
   * Keeps all updates above the watcher's LSN until the watcher is released. Its LSN must be the
   * newest one that readers see now.
   */
  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  release(watcher: Watcher, visibleLsn: number): void {
    if (this.#watchers.delete(watcher)) this.forget(visibleLsn);
  }

  /** Records an update; LSNs must ascend. Call `forget` when the update is visible to readers. */
  add(id: number, lsn: number): void {
    let last = this.#chunks[this.#chunks.length - 1];
    const before = last?.lsns[last.lsns.length - 1];
    assert(before === undefined || before <= lsn, 'updates are noted in the order of their LSNs');
    if (last === undefined || last.ids.length === CHUNK) {
      last = { ids: [], lsns: [] };
      this.#chunks.push(last);
    }
    this.#lsns.set(id, lsn);
    last.ids.push(id);
    last.lsns.push(lsn);
  }

  /**
   * Returns whether a row was updated after `lsn`, which must be the LSN of a watcher not released
   * yet.
   */
  isUpdatedAfter(id: number, lsn: number): boolean {
    return (this.#lsns.get(id) ?? 0) > lsn;
  }

  /** Number of rows with an entry. */
  get size(): number {
    return this.#lsns.size;
  }

  /**
   * Drops entries that no snapshot needs any more, but not always all of them (MOST_FORGOTTEN).
   * Snapshots taken from now on include all updates up to `visibleLsn`.
   */
  forget(visibleLsn: number): void {
    const last = this.#chunks[this.#chunks.length - 1];
    if (last === undefined) return;
    const [oldest] = this.#watchers;
    const seenByAll = Math.min(visibleLsn, oldest?.lsn ?? Infinity);
    if (last.lsns[last.lsns.length - 1]! <= seenByAll) {
      this.#lsns.clear();
      this.#chunks = [];
      this.#first = 0;
      return;
    }
    for (let left = MOST_FORGOTTEN; left > 0; left--) {
      const { ids, lsns } = this.#chunks[0]!;
      const id = ids[this.#first]!;
      const lsn = lsns[this.#first]!;
      if (lsn > seenByAll) return;
      if (this.#lsns.get(id) === lsn) this.#lsns.delete(id);
      if (++this.#first < CHUNK) continue;
      this.#chunks.shift();
      this.#first = 0;
    }
  }
}
