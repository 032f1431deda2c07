// How much the service has to do, and when that is too much: new work is then refused before anything of it is kept.

import { getHeapStatistics } from 'node:v8';
import { type HedgerowError, refusal } from '../errors.ts';
import { MEGABYTE } from '../limits.ts';

/** How often `look` is to be called. */
export const LOOK_MS = 1000;

export interface LoadLimits {
  /** Requests that wait for the disk, for a compaction, for their body: each may hold some 10 KB. */
  requests: number;
  /** Answers that go out in chunks, together: each pins a version of its table and holds one chunk (64 KB, and what the sockets buffer). */
  streams: number;
  /** Bytes of all bodies that are being read or worked on, and of all answers that wait for their clients to read. */
  heldBytes: number;
  /** Bytes of long JSON bodies that are parsed, together: what they come to lies in the JavaScript heap. One body is always taken. */
  parsedBytes: number;
  /** Time for requests in one turn of the event loop, before other sockets and timers are looked at again. */
  turnMs: number;
  /** Time for handlers in one turn of the event loop; what comes after it shares later turns. */
  handlersMs: number;
  /** Part of the JavaScript heap in use from which on nothing new is begun. */
  heapShare: number;
  /** Time in which a client must take some of an answer that waits for it. */
  stallMs: number;
}

/** `maxBodyBytes`: of one request. */
export function usualLimits(maxBodyBytes: number): LoadLimits {
  return {
    // At 10,000 durable writes a second the last of so many waits a tenth of a second.
    requests: 1024,
    streams: 256,
    heldBytes: Math.max(256 * MEGABYTE, 2 * maxBodyBytes),
    // Putting 2,000 more off takes 20 ms then, so a probe waits well under 100 ms.
    turnMs: 30,
    handlersMs: 30,
    parsedBytes: getHeapStatistics().heap_size_limit / 5,
    heapShare: 0.9,
    stallMs: 60_000,
  };
}

/** So many are served in every turn, however long one of them takes and however slow the machine is just then. */
const LEAST_SERVED = 100;
/** Of more answers to HEAD than this between two looks, some wait. */
const HEAD_FLOOD = 200;

export class Load {
  /** Requests whose answer is not out yet. */
  running = 0;
  /** Of these: answers that go out in chunks. */
  streams = 0;
  /** Of these: whole answers that wait for their clients to read. */
  stalled = 0;
  /** Of these: requests that are refused, but not yet told so. */
  refused = 0;
  heldBytes = 0;
  /** Of long bodies that are parsed. */
  parsedBytes = 0;
  readonly #limits: LoadLimits;
  /** Requests that came in this turn of the event loop, when the first came and when the last. */
  #arrived = 0;
  #turnStartMs = 0;
  #nowMs = 0;
  #heads = 0;
  #heapIsFull = false;
  #idle: (() => void) | undefined;

  constructor(limits: LoadLimits) {
    this.#limits = limits;
  }

  /** Called by a timer. */
  look(): void {
    this.#heads = 0;
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    this.#heapIsFull = used_heap_size > heap_size_limit * this.#limits.heapShare;
  }

  /** To be called for each request but the probes, first of all; `nowMs` is monotonic. */
  arrive(nowMs: number): void {
    if (this.#arrived === 0) this.#beginTurn(nowMs);
    this.#arrived += 1;
    this.#nowMs = nowMs;
  }

  #beginTurn(nowMs: number): void {
    this.#turnStartMs = nowMs;
    setImmediate(this.#endTurn);
  }

  /** True when handlers have taken their time of this turn, and another one should wait for a later turn. */
  isLongTurn(nowMs: number): boolean {
    // A request whose body came in a later turn than its head.
    if (this.#arrived === 0) {
      this.#arrived = 1;
      this.#beginTurn(nowMs);
    }
    return nowMs - this.#turnStartMs >= this.#limits.handlersMs;
  }

  /** Takes room for what a long body is parsed to, which `parsedBytes` gives back; false when others take it. */
  takeParsed(bytes: number): boolean {
    if (this.parsedBytes > 0 && this.parsedBytes + bytes > this.#limits.parsedBytes) return false;
    this.parsedBytes += bytes;
    return true;
  }

  /** Immediates run when all sockets that were ready have been looked at. */
  readonly #endTurn = (): void => {
    this.#arrived = 0;
  };

  /** To be called for each answer to HEAD; true when there are suspiciously many. */
  isHeadFlood(): boolean {
    this.#heads += 1;
    return this.#heads > HEAD_FLOOD;
  }

  /** True when the request that has just arrived must be refused. */
  get isFull(): boolean {
    const { requests, turnMs, heldBytes } = this.#limits;
    return (
      (this.#arrived > LEAST_SERVED && this.#nowMs - this.#turnStartMs >= turnMs) ||
      this.running - this.streams - this.stalled - this.refused >= requests ||
      this.heldBytes >= heldBytes ||
      this.#heapIsFull
    );
  }

  /** True when a body of so many more bytes is too much. */
  isFullFor(bodyBytes: number): boolean {
    return this.heldBytes + bodyBytes > this.#limits.heldBytes;
  }

  get isFullOfStreams(): boolean {
    return this.streams >= this.#limits.streams;
  }

  begin(): void {
    this.running += 1;
  }

  end(): void {
    this.running -= 1;
    this.#checkIdle();
  }

  /** Resolves when no request is running. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle = resolve;
      this.#checkIdle();
    });
  }

  #checkIdle(): void {
    if (this.running > 0 || this.#idle === undefined) return;
    this.#idle();
    this.#idle = undefined;
  }
}

export function overloaded(): HedgerowError {
  return refusal('overloaded', 'The server has more to do than it can. Try again shortly.');
}
