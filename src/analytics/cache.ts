// Caches projections inside a worker thread for the next measure of the same edges. The cache is
// bounded in bytes and evicts the least recently used entry that nobody is using.
//
// An entry is keyed by (row token, window). The first caller builds the projections and later
// callers wait for that same build. A failed build removes its entry; if it failed because its
// caller gave up, one of the waiting callers starts over. Entries in use are never evicted: they
// are only unlisted (`stale`), so that no new caller finds them, and dropped by their last user.

import type { Core, CoreModule } from '../core/index.ts';
import type { SharedProjections } from './shared-projections.ts';
import type { EdgeSource } from './work.ts';

/** Larger instances are left to the garbage collector, because WebAssembly memory never shrinks. */
const MOST_SPARE_BYTES = 64 * 2 ** 20;
const MOST_SPARE = 4;

/** Projections in use by one caller. */
export interface Held {
  readonly projections: SharedProjections;
  /**
   * Returns them to the cache. `broken`: their instance may be corrupt, so no later caller gets
   * them.
   */
  release(broken: boolean): void;
}

interface Entry {
  readonly key: string;
  readonly source: EdgeSource;
  /** Rejects when building them fails. */
  readonly made: Promise<SharedProjections>;
  projections: SharedProjections | undefined;
  users: number;
  used: number;
  /** Unlisted: not handed out again. */
  stale: boolean;
  /** Somebody released it as broken: the memory of its instance is in doubt. */
  broken: boolean;
  /** The caller that was building them gave up, so another caller may build them. */
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
   * The projections of these edges. One caller builds them while others wait; if that caller gave
   * up (`hasGivenUp`), a waiting one builds them instead. Rejects with the error of `make`.
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

  /** Drops entries for other states of the same table: nobody asks for an older state again. */
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

  /** Unlists an entry; its current users keep it. */
  #remove(entry: Entry): void {
    entry.stale = true;
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }

  /** Removes an entry without users and recycles its instance. */
  #drop(entry: Entry): void {
    this.#remove(entry);
    if (entry.projections !== undefined) this.#instances.give(entry.projections.core);
    entry.projections = undefined;
  }

  /** Total size of the cached instances. */
  get bytes(): number {
    let bytes = 0;
    for (const { projections } of this.#entries.values()) bytes += projections?.core.memory.size ?? 0;
    return bytes;
  }
}

/**
 * A pool of reusable instances. Only the garbage collector frees an instance's memory, so reuse
 * avoids piling up garbage.
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
