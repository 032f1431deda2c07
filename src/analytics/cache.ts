// Caches projections inside a worker thread, for the next measure of the same edges. The cache is
// bounded in bytes, and evicts the least recently used entry that has no user.
//
// An entry is keyed by (row token, window). The first caller builds the projections, and later
// callers wait for that build. A failed build removes its entry. If it failed because its caller
// was cancelled or ran out of time, one of the waiting callers starts a new build. Entries in use
// are never evicted. They only become `stale`: new callers no longer find them, and the last user
// drops them.

import type { Core, CoreModule } from '../core/index.ts';
import type { SharedProjections } from './shared-projections.ts';
import type { EdgeSource } from './work.ts';

/**
 * Maximum size in bytes of an instance that is reused. Larger instances are left to the garbage
 * collector, because WebAssembly memory never shrinks.
 */
const MOST_SPARE_BYTES = 64 * 2 ** 20;
const MOST_SPARE = 4;

/** Projections that one caller holds. */
export interface Held {
  readonly projections: SharedProjections;
  /**
   * Returns the projections to the cache. If `broken` is true, their instance may be corrupt, so no
   * later caller receives them.
   */
  release(broken: boolean): void;
}

interface Entry {
  readonly key: string;
  readonly source: EdgeSource;
  /** Rejects when the projections cannot be built. */
  readonly made: Promise<SharedProjections>;
  projections: SharedProjections | undefined;
  users: number;
  used: number;
  /** True if the entry is no longer listed, so that new callers cannot find it. */
  stale: boolean;
  /**
   * True if a caller released the entry as broken, so that the memory of its instance may be
   * corrupt.
   */
  broken: boolean;
  /**
   * True if the caller that was building the projections was cancelled. Another caller may then
   * build them.
   */
  abandoned: boolean;
}

export class ProjectionCache {
  readonly #mostBytes: number;
  readonly #entries = new Map<string, Entry>();
  readonly #instances: Instances;
  #clock = 0;

  constructor(mostBytes: number, module: CoreModule) {
    this.#mostBytes = mostBytes;
    this.#instances = new Instances(module);
  }

  /**
   * Resolves to the projections of these edges. One caller builds them while the others wait. If
   * that caller is cancelled (`hasGivenUp`), a waiting caller builds them instead. Rejects with the
   * error of `make`.
   */
  async take(
    source: EdgeSource,
    make: (core: Core) => Promise<SharedProjections>,
    hasGivenUp: () => boolean,
  ): Promise<Held> {
    const key = `${source.token} ${source.window.startTs} ${source.window.endTs}`;
    for (;;) {
      const known = this.#entries.get(key);
      if (known === undefined) return this.#hold(this.#begin(key, source, make, hasGivenUp));
      try {
        return await this.#hold(known);
      } catch (error) {
        if (!known.abandoned || hasGivenUp()) throw error;
      }
    }
  }

  #begin(
    key: string,
    source: EdgeSource,
    make: (core: Core) => Promise<SharedProjections>,
    hasGivenUp: () => boolean,
  ): Entry {
    this.#dropOlder(source);
    const core = this.#instances.take();
    const made = make(core).then(
      (projections) => {
        entry.projections = projections;
        return projections;
      },
      (error) => {
        entry.abandoned = hasGivenUp();
        this.#remove(entry);
        this.#instances.give(core);
        throw error;
      },
    );
    const entry: Entry = {
      key,
      source,
      made,
      projections: undefined,
      users: 0,
      used: 0,
      stale: false,
      broken: false,
      abandoned: false,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  async #hold(entry: Entry): Promise<Held> {
    entry.users += 1;
    entry.used = ++this.#clock;
    try {
      const projections = await entry.made;
      return {
        projections,
        release: (broken) => {
          entry.users -= 1;
          entry.broken ||= broken;
          if (broken) this.#remove(entry);
          else if (entry.stale && !entry.broken && entry.users === 0) this.#drop(entry);
          this.#makeRoom();
        },
      };
    } catch (error) {
      entry.users -= 1;
      throw error;
    }
  }

  /**
   * Drops the entries for older states of the same table, because these are not requested again.
   */
  #dropOlder({ tableId, token }: EdgeSource): void {
    for (const entry of this.#entries.values()) {
      if (entry.source.tableId !== tableId || entry.source.token === token) continue;
      if (entry.users > 0) this.#remove(entry);
      else this.#drop(entry);
    }
  }

  #makeRoom(): void {
    while (this.bytes > this.#mostBytes) {
      let oldest: Entry | undefined;
      for (const entry of this.#entries.values())
        if (entry.users === 0 && (oldest === undefined || entry.used < oldest.used)) oldest = entry;
      if (oldest === undefined) return;
      this.#drop(oldest);
    }
  }

  /** Removes an entry from the list; its current users keep it. */
  #remove(entry: Entry): void {
    entry.stale = true;
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }

  /** Removes an entry that has no users, and recycles its instance. */
  #drop(entry: Entry): void {
    this.#remove(entry);
    if (entry.projections !== undefined) this.#instances.give(entry.projections.core);
    entry.projections = undefined;
  }

  /** Total size in bytes of the cached instances. */
  get bytes(): number {
    let bytes = 0;
    for (const { projections } of this.#entries.values()) bytes += projections?.core.memory.size ?? 0;
    return bytes;
  }
}

/**
 * A pool of reusable instances. The memory of an instance is freed only by the garbage collector,
 * so reuse avoids an accumulation of unused instances.
 */
export class Instances {
  readonly #module: CoreModule;
  readonly #spare: Core[] = [];

  constructor(module: CoreModule) {
    this.#module = module;
  }

  take(): Core {
    const core = this.#spare.pop() ?? this.#module.instantiate();
    core.exports.hg_memory_reset();
    return core;
  }

  give(core: Core): void {
    if (core.memory.size <= MOST_SPARE_BYTES && this.#spare.length < MOST_SPARE) this.#spare.push(core);
  }
}
