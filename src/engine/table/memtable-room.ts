// Places memtables in core instances: a large memtable gets an instance of its own, small ones
// share instances.
//
// An instance reserves 10.5 GB of address space, so a process can have about 12,500 of them, while
// a database may have 50,000 tables with one row each. Therefore the first memtable of a table is a
// small one in a shared instance, unless it is made for a large commit. When it is full, the next
// memtable of the table gets an instance of its own. If there are already too many such instances,
// or no more can be created, large memtables share instances too.

import { assert } from '../../assert.ts';
import { type Core, CoreMemtable, MemtableHost } from '../../core/index.ts';

export interface MemtableLimits {
  /**
   * Approximate limits at which the next memtable begins: number of rows, and total size of the
   * records in bytes. A single commit may exceed them.
   */
  rows: number;
  bytes: number;
  /** The same for a small memtable, which however never has more than `smallRows` rows. */
  smallRows: number;
  smallBytes: number;
  /** Maximum number of memtables with an instance of their own. */
  ownInstances: number;
  /** A shared instance accepts another memtable while it is below both limits. */
  hostMemtables: number;
  hostBytes: number;
}

export const MEMTABLE_LIMITS: MemtableLimits = {
  rows: 262_144,
  bytes: 48 * 2 ** 20,
  smallRows: 64,
  smallBytes: 8192,
  ownInstances: 2048,
  hostMemtables: 256,
  hostBytes: 2 ** 24,
};

export class MemtableRoom {
  readonly #limits: MemtableLimits;
  readonly #instantiate: () => Core;
  readonly #released: (memtable: CoreMemtable) => void;
  readonly #own = new Set<CoreMemtable>();
  readonly #small = new Set<CoreMemtable>();
  readonly #hosts = new Set<MemtableHost>();
  /** The shared instance that received a memtable last. */
  #newest: MemtableHost | undefined;

  /**
   * `instantiate` throws `overloaded` when no instance can be created. `released` is called before
   * a memtable is freed.
   */
  constructor(limits: MemtableLimits, instantiate: () => Core, released: (memtable: CoreMemtable) => void = () => {}) {
    this.#limits = limits;
    this.#instantiate = instantiate;
    this.#released = released;
  }

  /** Total size in bytes of the instances that contain memtables. */
  get bytes(): number {
    let bytes = 0;
    for (const { host } of this.#own) bytes += host.bytes;
    for (const host of this.#hosts) bytes += host.bytes;
    return bytes;
  }

  /** Number of instances that hold memtables. */
  get instances(): number {
    return this.#own.size + this.#hosts.size;
  }

  /**
   * Returns whether the memtable accepts `rows` more rows. A commit of many rows may exceed the
   * limits of a large memtable, but never the row limit of a small one.
   */
  takes(memtable: CoreMemtable, rows: number): boolean {
    const limits = this.#limits;
    if (this.#small.has(memtable))
      return memtable.takenRows + rows <= limits.smallRows && memtable.takenBytes < limits.smallBytes;
    return memtable.takenRows < limits.rows && memtable.takenBytes < limits.bytes;
  }

  /**
   * Returns a new memtable that will soon receive `rows` rows. `before` is the previous memtable of
   * the table, if any, which is full or frozen. Throws `overloaded`.
   */
  make(bucketSeconds: number, baseLsn: number, rows: number, before: CoreMemtable | undefined): CoreMemtable {
    const isFirst = before === undefined || (this.#small.has(before) && this.takes(before, rows));
    const isSmall = rows <= this.#limits.smallRows && isFirst;
    if (!isSmall && this.#own.size < this.#limits.ownInstances) {
      const own = this.#makeOwn(bucketSeconds, baseLsn);
      if (own !== undefined) return own;
    }
    const memtable = new CoreMemtable(this.#host(), bucketSeconds, baseLsn);
    if (isSmall) this.#small.add(memtable);
    return memtable;
  }

  #makeOwn(bucketSeconds: number, baseLsn: number): CoreMemtable | undefined {
    let core: Core;
    try {
      core = this.#instantiate();
    } catch {
      return undefined; // a shared instance is tried next; if that fails, its error is reported
    }
    const memtable = CoreMemtable.alone(core, bucketSeconds, baseLsn);
    this.#own.add(memtable);
    return memtable;
  }

  /** Returns a shared instance that has room for another memtable. */
  #host(): MemtableHost {
    if (this.#newest !== undefined && this.#hasRoom(this.#newest)) return this.#newest;
    let found: MemtableHost | undefined;
    for (const host of this.#hosts) if (this.#hasRoom(host)) found = host;
    if (found === undefined) {
      found = new MemtableHost(this.#instantiate());
      this.#hosts.add(found);
    }
    this.#newest = found;
    return found;
  }

  #hasRoom({ memtables, bytes }: MemtableHost): boolean {
    return memtables < this.#limits.hostMemtables && bytes < this.#limits.hostBytes;
  }

  /** Frees a memtable that no version contains any more. */
  release(memtable: CoreMemtable): void {
    this.#released(memtable);
    // If the memtable has an instance of its own, garbage collection frees the instance.
    if (this.#own.delete(memtable)) return;
    assert(this.#hosts.has(memtable.host), 'a shared memtable is in an instance of this room');
    this.#small.delete(memtable);
    const { host } = memtable;
    memtable.free();
    if (host.memtables > 0 || (host === this.#newest && host.bytes < this.#limits.hostBytes)) return;
    this.#hosts.delete(host);
    if (this.#newest === host) this.#newest = undefined;
  }
}
