// How many requests a minute one caller may make: the generic cell rate algorithm (GCRA, ITU-T I.371), one number a caller.
//
// A caller may use the whole minute's allowance at once; it comes back evenly, one request every 60/limit seconds. Times are integers in units
// of 1/limit ms, so that a request is worth exactly 60,000 units whatever the limit.

const MINUTE_MS = 60_000;
/** Worth of one request in units: what comes back in 60/limit seconds. */
const REQUEST = MINUTE_MS;

/** Callers remembered one by one; some 100 bytes each. */
const MAX_TRACKED = 100_000;
/** Number of allowances that further callers share. */
const SHARED = 1024;

/** A key's identifier, or an address as `addressId` gives it. */
export type CallerId = string | number;

export interface RateLimitOptions {
  /** Requests a minute; 0: no limit. */
  perMinute: number;
  /** Random: decides who shares with whom once too many callers are known. */
  seed: number;
  maxTracked?: number;
}

export class RateLimit {
  readonly perMinute: number;
  /** Requests the caller of the last `take` may still make at once. */
  remaining = 0;
  /** Until that caller's whole allowance is back. */
  resetMs = 0;
  /** When that `take` was refused: until one would not be. */
  retryMs = 0;
  /** Apart, so that no flood of addresses touches the allowance of a key. */
  readonly #keys: Allowances;
  readonly #addresses: Allowances;

  constructor({ perMinute, seed, maxTracked = MAX_TRACKED }: RateLimitOptions) {
    this.perMinute = perMinute;
    this.#keys = new Allowances(maxTracked, seed);
    this.#addresses = new Allowances(maxTracked, seed);
  }

  takeByKey(keyId: string, nowMs: number): boolean {
    return this.#take(this.#keys, keyId, nowMs);
  }

  takeByAddress(id: CallerId, nowMs: number): boolean {
    return this.#take(this.#addresses, id, nowMs);
  }

  /** Callers remembered one by one. */
  get tracked(): number {
    return this.#keys.size + this.#addresses.size;
  }

  /** True: the request is counted. False: it is over the limit and not counted. `nowMs` never goes back. */
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
  /** When all of it is back, in units. */
  backAt: number;
}

/**
 * The allowances of the callers seen lately. What was not touched for a minute is whole again, so it is forgotten: two generations, the older one dropped
 * every minute. Over the cap new callers share allowances instead of pushing known ones out, so that a flood of made-up callers resets nobody.
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

/** FNV-1a over the characters, from a start nobody outside knows. */
function hash(id: CallerId, seed: number): number {
  const text = String(id);
  let value = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}
