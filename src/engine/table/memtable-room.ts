// Places memtables in core instances: a growing one gets its own, small ones share.
//
// An instance reserves 10.5 GB of address space, so a process can have about 12,500 of them, while
// a database may have 50,000 tables with one row each. A table therefore begins with a small
// memtable in a shared instance and gets its own instance when that is full. Once the limit of own
// instances is reached, or no more can be created, large memtables share instances too.

import { assert } from '../../assert.ts';
import { type Core, CoreMemtable, MemtableHost } from '../../core/index.ts';

export interface MemtableLimits {
  /**
   * Approximate limits after which the next memtable begins: rows (a single commit may exceed them)
   * and bytes of records.
   */
  rows: number;
  bytes: number;
  /** The same limits for a memtable that begins small. */
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
  readonly #own = new Set<CoreMemtable>();
  readonly #small = new Set<CoreMemtable>();
  readonly #hosts = new Set<MemtableHost>();
  /** The shared instance that received the last memtable. */
  #newest: MemtableHost | undefined;

  /** `instantiate` throws `overloaded` when no instance can be created. */
  constructor(limits: MemtableLimits, instantiate: () => Core) {
    this.#limits = limits;
    this.#instantiate = instantiate;
  }

  /** Total bytes of the instances that hold memtables. */
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
   * Whether the memtable accepts `rows` more rows. A commit of many rows may exceed the limit of a
   * large memtable, but never that of a small one.
   */
  takes(memtable: CoreMemtable, rows: number): boolean {
    const limits = this.#limits;
    if (this.#small.has(memtable))
      return memtable.takenRows + rows <= limits.smallRows && memtable.takenBytes < limits.smallBytes;
    return memtable.takenRows < limits.rows && memtable.takenBytes < limits.bytes;
  }

  /**
   * A new memtable that will soon receive `rows` rows. `before`: the table's previous memtable,
   * full or frozen. Throws `overloaded`.
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
      return undefined; // a shared instance is tried next, and its error is the one reported
    }
    const memtable = CoreMemtable.alone(core, bucketSeconds, baseLsn);
    this.#own.add(memtable);
    return memtable;
  }

  /** A shared instance with room. */
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

  /** Frees a memtable that no version holds any more. */
  release(memtable: CoreMemtable): void {
    // An instance of its own is freed by garbage collection.
    if (this.#own.delete(memtable)) return;
    assert(this.#hosts.has(memtable.host), 'a shared memtable lies in an instance of this room');
    this.#small.delete(memtable);
    const { host } = memtable;
    memtable.free();
    if (host.memtables > 0 || (host === this.#newest && host.bytes < this.#limits.hostBytes)) return;
    this.#hosts.delete(host);
    if (this.#newest === host) this.#newest = undefined;
  }
}
