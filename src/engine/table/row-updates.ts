// Records which rows were updated, and when, so that a transaction can detect a conflict on a row
// that a compaction has moved since.
//
// An update keeps the id and perhaps the key, so a snapshot's row and a newer one with the same key
// cannot be told apart where no LSNs are stored (in segments). An entry is kept at least as long as
// some open transaction cannot see it yet.

import { assert } from '../../assert.ts';
import { WideMap } from '../idempotency/wide-map.ts';

/** The snapshot of a transaction. */
export interface Watcher {
  readonly lsn: number;
}

/** Maximum entries that one call removes, unless it removes all: about a millisecond. */
const MOST_FORGOTTEN = 8192;

export class RowUpdates {
  /** Row id to LSN of its last update. */
  readonly #lsns = new WideMap<number, number>();
  /** All updates in LSN order, starting at #first: their ids and their LSNs. */
  #ids: number[] = [];
  #idLsns: number[] = [];
  #first = 0;
  /** In LSN order. */
  readonly #watchers = new Set<Watcher>();

  /**
   * Keeps updates newer than the watcher's LSN until it is released. That must be the newest LSN
   * that readers see now.
   */
  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  release(watcher: Watcher, visibleLsn: number): void {
    if (this.#watchers.delete(watcher)) this.forget(visibleLsn);
  }

  /** Records an update; LSNs must ascend. Call `forget` once it is durable. */
  add(id: number, lsn: number): void {
    const last = this.#idLsns[this.#idLsns.length - 1];
    assert(last === undefined || last <= lsn, 'updates are noted in the order of their LSNs');
    this.#lsns.set(id, lsn);
    this.#ids.push(id);
    this.#idLsns.push(lsn);
  }

  /** Whether a row was updated after the LSN of a watcher that has not been released. */
  isUpdatedAfter(id: number, lsn: number): boolean {
    return (this.#lsns.get(id) ?? 0) > lsn;
  }

  /** Number of rows with an entry. */
  get size(): number {
    return this.#lsns.size;
  }

  /**
   * Drops entries that no one needs: snapshots taken from now on see everything up to `visibleLsn`.
   */
  forget(visibleLsn: number): void {
    const { length } = this.#ids;
    if (length === 0) return;
    const [oldest] = this.#watchers;
    const seenByAll = Math.min(visibleLsn, oldest?.lsn ?? Infinity);
    if (this.#idLsns[length - 1]! <= seenByAll) {
      this.#lsns.clear();
      this.#cut(length);
      return;
    }
    const end = Math.min(length, this.#first + MOST_FORGOTTEN);
    for (; this.#first < end; this.#first++) {
      const id = this.#ids[this.#first]!;
      const lsn = this.#idLsns[this.#first]!;
      if (lsn > seenByAll) break;
      if (this.#lsns.get(id) === lsn) this.#lsns.delete(id);
    }
    if (this.#first * 2 >= length) this.#cut(this.#first);
  }

  #cut(count: number): void {
    this.#ids = this.#ids.slice(count);
    this.#idLsns = this.#idLsns.slice(count);
    this.#first = 0;
  }
}
