// Projections kept in a thread for the next measure of the same edges, up to a number of bytes: the least recently used go first.

import type { Core, CoreModule } from '../core/index.ts';
import type { SharedProjections } from './shared-projections.ts';
import type { EdgeSource } from './work.ts';

/** Larger instances are left to the garbage collector: their memory does not shrink. */
const MOST_SPARE_BYTES = 64 * 2 ** 20;
const MOST_SPARE = 4;

/** Projections in use. */
export interface Held {
  readonly projections: SharedProjections;
  /** Gives them back. `broken`: their instance is in doubt, nobody gets them again. */
  release(broken: boolean): void;
}

interface Entry {
  readonly key: string;
  readonly source: EdgeSource;
  /** Rejects when the one who makes them fails. */
  readonly made: Promise<SharedProjections>;
  projections: SharedProjections | undefined;
  users: number;
  used: number;
  /** Not to be given out any more. */
  stale: boolean;
  /** Whoever was making them gave up: another one may do it. */
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
   * The projections of these edges. One caller makes them, others wait for it; when it has given up (`hasGivenUp`), another one makes them. Rejects with
   * what `make` rejects with.
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
          if (broken) this.#remove(entry);
          else if (entry.stale && entry.users === 0) this.#drop(entry);
          this.#makeRoom();
        },
      };
    } catch (error) {
      entry.users -= 1;
      throw error;
    }
  }

  /** Nobody asks for an older state of a table again. */
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

  /** Takes an entry off the list; whoever uses it goes on. */
  #remove(entry: Entry): void {
    entry.stale = true;
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }

  /** Nobody uses it: its instance may be another's. */
  #drop(entry: Entry): void {
    this.#remove(entry);
    if (entry.projections !== undefined) this.#instances.give(entry.projections.core);
    entry.projections = undefined;
  }

  /** Of all that is kept. */
  get bytes(): number {
    let bytes = 0;
    for (const { projections } of this.#entries.values()) bytes += projections?.core.memory.size ?? 0;
    return bytes;
  }
}

/** Instances to be used again: the memory of one is freed by the garbage collector only. */
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
