// Which rows were updated, and when: what a transaction must know of a row that it changes after a compaction has moved it.
//
// An update keeps the id, and perhaps the key, so that the row of a snapshot and a newer one with the same key cannot be told apart where no LSNs
// stand (in segments). An entry is kept as long as some open transaction cannot see it yet, or a little longer.

import { WideMap } from '../idempotency/wide-map.ts';

/** A snapshot of a transaction. */
export interface Watcher {
  readonly lsn: number;
}

/** Entries that one call lets go of, unless it is all of them: a millisecond. */
const MOST_FORGOTTEN = 8192;

export class RowUpdates {
  /** Id -> LSN of the last update. */
  readonly #lsns = new WideMap<number, number>();
  /** All updates in the order of their LSNs, from #first on: their ids, and their LSNs. */
  #ids: number[] = [];
  #idLsns: number[] = [];
  #first = 0;
  /** In the order of their LSNs. */
  readonly #watchers = new Set<Watcher>();

  /**
   * Keeps what is newer than the watcher's LSN until it is released. It must be the newest that
   * readers see now.
   */
  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  release(watcher: Watcher, visibleLsn: number): void {
    if (this.#watchers.delete(watcher)) this.forget(visibleLsn);
  }

  /** Notes an update; LSNs ascend. `forget` is to follow when it is durable. */
  add(id: number, lsn: number): void {
    this.#lsns.set(id, lsn);
    this.#ids.push(id);
    this.#idLsns.push(lsn);
  }

  /** Whether a row was updated after the LSN of a watcher that is not released. */
  isUpdatedAfter(id: number, lsn: number): boolean {
    return (this.#lsns.get(id) ?? 0) > lsn;
  }

  /** Rows of which an entry is kept. */
  get size(): number {
    return this.#lsns.size;
  }

  /** Lets go of what nobody needs: a snapshot taken from now on sees all up to `visibleLsn`. */
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
