// Counts the connections of each client address, so that one client cannot take all that the process may have.

import { addressId, addressText } from './client-address.ts';

export interface SocketCountsOptions {
  /** Open connections of one address (IPv6: of its first 64 bits), at most; 0: no limit. */
  most: number;
  /** Open connections of all addresses together, at most; left out: no limit. Each takes a file descriptor, of which the database needs some too. */
  mostInAll?: number;
  /** Addresses that are not counted, as RFC 5952 writes them: proxies, that many clients come through. */
  exempt: readonly string[];
  /** Addresses of all open connections, for a transport that does not say whose has ended; undefined when they cannot be had. */
  peers: () => ArrayBuffer[] | undefined;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

/** Looking at all connections takes at most this share of the time. */
const SHARE_OF_TIME = 0.1;

/**
 * Invariant: `#open` is exact; the count of an address is never below what it has open, and exact while `#unknown` is false. No address can be over the limit
 * while all together are not, so that most of the time nothing needs to be looked at. What is looked at holds connections that were not accepted yet: they
 * are counted again when they are, so that a look makes the counts smaller, but not exact.
 */
export class SocketCounts {
  readonly #options: SocketCountsOptions;
  readonly #exempt: ReadonlySet<string>;
  readonly #counts = new Map<number | string, number>();
  #open = 0;
  /** Since all were closed, a connection has ended, and it is not known whose. */
  #unknown = false;
  /** Whose connection is refused just now. */
  #refused: number | string | undefined;
  /** When all connections may be looked at again. */
  #nextLookMs = 0;

  constructor(options: SocketCountsOptions) {
    this.#options = options;
    this.#exempt = new Set(options.exempt);
  }

  get open(): number {
    return this.#open;
  }

  /** False: over the limit; the caller must close the connection at once, and `closed` is to be called for it too. */
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

  /** `address`: left out when the transport does not know it. */
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

  /** Counts anew, unless that was done just now. False: it cannot be done here. */
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
