// Limits the requests per minute of each caller by the generic cell rate algorithm (GCRA, ITU-T
// I.371), which stores one number per caller.
//
// A caller may use the whole minute's allowance at once; the allowance comes back evenly, one
// request every 60/limit seconds. All that is stored is `backAt`, the time at which the whole
// allowance will be back (the "theoretical arrival time" of GCRA). An accepted request sets
// `backAt` to the cost of one request after its old value, or after the present if that is later. A
// request is refused if this would put `backAt` more than a minute into the future. Invariant:
// `backAt` is at most one minute after the last accepted request.
//
// Times are integers in units of 1/limit ms, so that a request costs exactly 60,000 units whatever
// the limit is, and no rounding errors add up.
//
// Example, limit 2: a unit is 1/2 ms, the minute is 120,000 units. Requests at time 0 move `backAt`
// to 60,000 and to 120,000; a third would move it to 180,000, more than a minute away, and is
// refused with `retryMs` = (180,000 - 120,000) / 2 = 30,000.

const MINUTE_MS = 60_000;
/** Cost of one request in units: the part of the allowance that comes back in 60/limit seconds. */
const REQUEST = MINUTE_MS;

/** Maximum number of keys, and of addresses, tracked individually (about 100 bytes each). */
const MAX_TRACKED = 100_000;
/** Number of allowances that all keys, or all addresses, beyond that maximum share. */
const SHARED = 1024;

/** A key's identifier, or an address in the form that `addressId` returns. */
export type CallerId = string | number;

export interface RateLimitOptions {
  /** Requests per minute; 0 means no limit. */
  perMinute: number;
  /** A random number that decides which callers share an allowance once too many are tracked. */
  seed: number;
  maxTracked?: number;
  /** True if the requests are noted for `takeSpent`. Default: false. */
  notes?: boolean;
}

/** Numbers of requests by caller. */
export interface Spent {
  readonly keys: readonly (readonly [id: string, requests: number])[];
  readonly addresses: readonly (readonly [id: CallerId, requests: number])[];
}

export class RateLimit {
  readonly perMinute: number;
  /** Number of requests that the key or address checked last may still make immediately. */
  remaining = 0;
  /** Milliseconds until the whole allowance of that key or address is back. */
  resetMs = 0;
  /** If its request was refused: milliseconds until a request would be accepted. */
  retryMs = 0;
  /**
   * Keys are tracked separately, so that a flood of addresses cannot affect the allowance of a key.
   */
  readonly #keys: Allowances;
  readonly #addresses: Allowances;
  /** Accepted requests since the last `takeSpent`; undefined if they are not noted. */
  #spentKeys: Map<string, number> | undefined;
  #spentAddresses: Map<CallerId, number> | undefined;

  constructor({ perMinute, seed, maxTracked = MAX_TRACKED, notes = false }: RateLimitOptions) {
    if (notes) {
      this.#spentKeys = new Map();
      this.#spentAddresses = new Map();
    }
    this.perMinute = perMinute;
    this.#keys = new Allowances(maxTracked, seed);
    this.#addresses = new Allowances(maxTracked, seed);
  }

  takeByKey(keyId: string, nowMs: number): boolean {
    const isTaken = this.#take(this.#keys, keyId, nowMs);
    if (isTaken && this.#spentKeys !== undefined) this.#spentKeys.set(keyId, (this.#spentKeys.get(keyId) ?? 0) + 1);
    return isTaken;
  }

  takeByAddress(id: CallerId, nowMs: number): boolean {
    const isTaken = this.#take(this.#addresses, id, nowMs);
    if (isTaken) this.#spentAddresses?.set(id, (this.#spentAddresses.get(id) ?? 0) + 1);
    return isTaken;
  }

  /** Returns the requests that were accepted here since the last call. */
  takeSpent(): Spent {
    const spent = { keys: [...(this.#spentKeys ?? [])], addresses: [...(this.#spentAddresses ?? [])] };
    this.#spentKeys?.clear();
    this.#spentAddresses?.clear();
    return spent;
  }

  /** Counts requests that another process of the service has accepted. */
  charge({ keys, addresses }: Spent, nowMs: number): void {
    if (this.perMinute === 0) return;
    for (const [id, requests] of keys) this.#charge(this.#keys, id, requests, nowMs);
    for (const [id, requests] of addresses) this.#charge(this.#addresses, id, requests, nowMs);
  }

  #charge(allowances: Allowances, id: CallerId, requests: number, nowMs: number): void {
    const wholeMs = Math.floor(nowMs);
    const allowance = allowances.of(id, wholeMs);
    const now = wholeMs * this.perMinute;
    const most = now + MINUTE_MS * this.perMinute;
    allowance.backAt = Math.min(most, Math.max(now, allowance.backAt) + requests * REQUEST);
  }

  /** Number of callers tracked individually. */
  get tracked(): number {
    return this.#keys.size + this.#addresses.size;
  }

  /**
   * Returns true if the request is within the limit, and counts it. Otherwise returns false and
   * does not count the request. `nowMs` must never decrease.
   */
  #take(allowances: Allowances, id: CallerId, nowMs: number): boolean {
    const { perMinute } = this;
    if (perMinute === 0) return true;
    const wholeMs = Math.floor(nowMs);
    const allowance = allowances.of(id, wholeMs);
    const now = wholeMs * perMinute;
    const most = MINUTE_MS * perMinute;
    const used = Math.max(0, allowance.backAt - now);
    if (used + REQUEST > most) {
      this.remaining = 0;
      this.resetMs = used / perMinute;
      this.retryMs = (used + REQUEST - most) / perMinute;
      return false;
    }
    allowance.backAt = now + used + REQUEST;
    this.remaining = Math.floor((most - used - REQUEST) / REQUEST);
    this.resetMs = (used + REQUEST) / perMinute;
    return true;
  }
}

interface Allowance {
  /** The time at which the whole allowance is back, in units. */
  backAt: number;
}

/**
 * The allowances of recent callers. An allowance that was not used for a minute is whole again and
 * can be forgotten: there are two generations, and the older one is dropped every minute. When
 * `cap` callers are tracked, new callers share allowances instead of replacing tracked callers, so
 * that a flood of invented callers resets nobody's allowance.
 */
class Allowances {
  readonly #cap: number;
  readonly #seed: number;
  readonly #shared: Allowance[] = Array.from({ length: SHARED }, () => ({ backAt: 0 }));
  #young = new Map<CallerId, Allowance>();
  #old = new Map<CallerId, Allowance>();
  #turnedMs = 0;

  constructor(cap: number, seed: number) {
    this.#cap = cap;
    this.#seed = seed;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  of(id: CallerId, nowMs: number): Allowance {
    if (nowMs - this.#turnedMs >= MINUTE_MS) this.#turn(nowMs);
    const known = this.#young.get(id);
    if (known !== undefined) return known;
    const older = this.#old.get(id);
    if (older !== undefined) {
      this.#old.delete(id);
      this.#young.set(id, older);
      return older;
    }
    if (this.size >= this.#cap) return this.#shared[hash(id, this.#seed) % SHARED]!;
    const fresh: Allowance = { backAt: 0 };
    this.#young.set(id, fresh);
    return fresh;
  }

  #turn(nowMs: number): void {
    this.#old = nowMs - this.#turnedMs >= 2 * MINUTE_MS ? new Map() : this.#young;
    this.#young = new Map();
    this.#turnedMs = nowMs;
  }
}

/** Returns the FNV-1a hash of the characters, computed from a secret start value. */
function hash(id: CallerId, seed: number): number {
  const text = String(id);
  let value = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}
