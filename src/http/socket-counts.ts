// Counts the connections of each client address, so that one client cannot use up all connections
// of the process.

import { addressId, addressText } from './client-address.ts';

export interface SocketCountsOptions {
  /**
   * Maximum number of open connections per address (for IPv6, per first 64 bits); 0 means no limit.
   */
  most: number;
  /**
   * Maximum number of open connections in total; no limit if omitted. Each takes a file descriptor,
   * and the database needs some too.
   */
  mostInAll?: number;
  /**
   * Addresses that are not counted, in the notation of RFC 5952: proxies through which many clients
   * connect.
   */
  exempt: readonly string[];
  /**
   * Addresses of all open connections, for a transport that does not report whose connection has
   * ended; undefined if they cannot be determined.
   */
  peers: () => ArrayBuffer[] | undefined;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

/** Maximum share of the time spent on recounting all connections. */
const SHARE_OF_TIME = 0.1;

/**
 * Invariant: `#open` is exact; the count of an address is never below its open connections, and is
 * exact while `#unknown` is false.
 *
 * As long as the total does not exceed the limit per address, no address can exceed it, so most of
 * the time no recount is needed. The kernel's table includes connections that are not accepted yet,
 * which are counted again when they are accepted. So a recount lowers the counts but does not make
 * them exact.
 */
export class SocketCounts {
  readonly #options: SocketCountsOptions;
  readonly #exempt: ReadonlySet<string>;
  readonly #counts = new Map<number | string, number>();
  #open = 0;
  /**
   * True if a connection of an unknown address has ended since all connections were last closed.
   */
  #unknown = false;
  /** The address whose connection is being refused. */
  #refused: number | string | undefined;
  /** Earliest time of the next recount. */
  #nextLookMs = 0;

  constructor(options: SocketCountsOptions) {
    this.#options = options;
    this.#exempt = new Set(options.exempt);
  }

  get open(): number {
    return this.#open;
  }

  /**
   * Counts a new connection. Returns false if it is over the limit: the caller must then close it
   * at once, and also call `closed` for it.
   */
  opened(address: ArrayBuffer): boolean {
    const { most, mostInAll = Number.POSITIVE_INFINITY } = this.#options;
    const id = addressId(address);
    this.#open += 1;
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    if (this.#open > mostInAll) {
      this.#refused = id;
      return false;
    }
    if (most === 0 || !this.#isOver(id) || this.#exempt.has(addressText(address))) return true;
    if (this.#unknown && !this.#look()) return true;
    if (!this.#isOver(id)) return true;
    this.#refused = id;
    return false;
  }

  /** Counts the end of a connection. `address` is omitted if the transport does not report it. */
  closed(address?: ArrayBuffer): void {
    const id = address === undefined ? this.#refused : addressId(address);
    this.#refused = undefined;
    this.#open -= 1;
    if (id === undefined) this.#unknown = true;
    else this.#less(id);
    if (this.#open > 0) return;
    this.#counts.clear();
    this.#unknown = false;
  }

  #isOver(id: number | string): boolean {
    const { most } = this.#options;
    return this.#open > most && this.#counts.get(id)! > most;
  }

  #less(id: number | string): void {
    const count = (this.#counts.get(id) ?? 0) - 1;
    if (count > 0) this.#counts.set(id, count);
    else this.#counts.delete(id);
  }

  /**
   * Recounts all connections, unless that was done recently. Returns false if this machine cannot
   * list them.
   */
  #look(): boolean {
    const { now, peers } = this.#options;
    const startMs = now();
    if (startMs < this.#nextLookMs) return true;
    const found = peers();
    if (found === undefined) return false;
    this.#counts.clear();
    for (const address of found) {
      const id = addressId(address);
      this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    }
    this.#nextLookMs = now() + (now() - startMs) / SHARE_OF_TIME;
    return true;
  }
}
