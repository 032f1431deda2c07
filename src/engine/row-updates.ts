// Which rows were updated, and when: what a transaction must know of a row that it changes after a compaction has moved it.
//
// An update keeps the id, and perhaps the key, so that the row of a snapshot and a newer one with the same key cannot be told apart where no LSNs
// stand (in segments). An entry is kept as long as some open transaction cannot see it yet.

/** A snapshot of a transaction. */
export interface Watcher {
  readonly lsn: number;
}

export class RowUpdates {
  /** Id -> LSN of the last update, the oldest one first. */
  readonly #lsns = new Map<number, number>();
  /** In the order of their LSNs. */
  readonly #watchers = new Set<Watcher>();

  /** Keeps what is newer than the watcher's LSN until it is released. It must be the newest that readers see now. */
  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  release(watcher: Watcher, visibleLsn: number): void {
    if (this.#watchers.delete(watcher)) this.forget(visibleLsn);
  }

  /** Notes an update; LSNs ascend. `forget` is to follow when it is durable. */
  add(id: number, lsn: number): void {
    this.#lsns.delete(id);
    this.#lsns.set(id, lsn);
  }

  /** Whether a row was updated after the LSN of a watcher that is not released. */
  isUpdatedAfter(id: number, lsn: number): boolean {
    return (this.#lsns.get(id) ?? 0) > lsn;
  }

  /** Entries that are kept. */
  get size(): number {
    return this.#lsns.size;
  }

  /** Lets go of what nobody needs: a snapshot taken from now on sees all up to `visibleLsn`. */
  forget(visibleLsn: number): void {
    const [oldest] = this.#watchers;
    const seenByAll = Math.min(visibleLsn, oldest?.lsn ?? Infinity);
    for (const [id, lsn] of this.#lsns) {
      if (lsn > seenByAll) return;
      this.#lsns.delete(id);
    }
  }
}
