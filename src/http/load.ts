// How much the service has to do, and when that is too much: new work is then refused before anything of it is kept.

import { getHeapStatistics } from 'node:v8';
import { type HedgerowError, refusal } from '../errors.ts';
import { MEGABYTE } from '../limits.ts';

/** How often `beat` is to be called. */
export const BEAT_MS = 20;

export interface LoadLimits {
  /** Requests that wait for the disk, for a compaction, for their body: each may hold some 10 KB. */
  requests: number;
  /** Answers that go out in chunks, together: each pins a version of its table and holds one chunk (64 KB, and what the sockets buffer). */
  streams: number;
  /** Bytes of all bodies that are being read or worked on, and of all answers that wait for their clients to read. */
  heldBytes: number;
  /** Time for requests in one turn of the event loop, before other sockets and timers are looked at again. */
  turnMs: number;
  /** Part of the JavaScript heap in use from which on nothing new is begun. */
  heapShare: number;
}

/** `maxBodyBytes`: of one request. */
export function usualLimits(maxBodyBytes: number): LoadLimits {
  return {
    // At 10,000 durable writes a second the last of so many waits a tenth of a second.
    requests: 1024,
    streams: 256,
    heldBytes: Math.max(256 * MEGABYTE, 2 * maxBodyBytes),
    // With what refusing the rest costs, a probe waits under 100 ms.
    turnMs: 50,
    heapShare: 0.9,
  };
}

/** One request counts for so much of a turn at most: a single large one is no overload. */
const LONGEST_SHARE_MS = 5;
/** So many are served in every turn, however slow the machine is just then. */
const LEAST_SERVED = 200;
/** From so many answers to HEAD a second on, some end their connection. */
const HEAD_FLOOD = 200;
const BEATS_A_SECOND = 1000 / BEAT_MS;

export class Load {
  /** Requests whose answer is not out yet. */
  running = 0;
  /** Of these: answers that go out in chunks. */
  streams = 0;
  /** Of these: whole answers that wait for their clients to read. */
  stalled = 0;
  heldBytes = 0;
  readonly #limits: LoadLimits;
  /** Time spent on requests since the last beat, which comes between two turns of the loop, and how many they were. */
  #spentMs = 0;
  #served = 0;
  #heads = 0;
  #beats = 0;
  #heapIsFull = false;
  #idle: (() => void) | undefined;

  constructor(limits: LoadLimits) {
    this.#limits = limits;
  }

  /** Called by a timer. */
  beat(): void {
    this.#spentMs = 0;
    this.#served = 0;
    if (this.#beats++ % BEATS_A_SECOND === 0) {
      this.#heads = 0;
      const { used_heap_size, heap_size_limit } = getHeapStatistics();
      this.#heapIsFull = used_heap_size > heap_size_limit * this.#limits.heapShare;
    }
  }

  /** A request kept the event loop busy for so long. */
  spend(ms: number): void {
    this.#spentMs += Math.min(ms, LONGEST_SHARE_MS);
    this.#served += 1;
  }

  /** To be called for each answer to HEAD; true when there are suspiciously many. */
  isHeadFlood(): boolean {
    this.#heads += 1;
    return this.#heads > HEAD_FLOOD;
  }

  /** True when a request that begins now must be refused. */
  get isFull(): boolean {
    const { requests, turnMs, heldBytes } = this.#limits;
    return (
      (this.#spentMs >= turnMs && this.#served >= LEAST_SERVED) ||
      this.running - this.streams - this.stalled >= requests ||
      this.heldBytes >= heldBytes ||
      this.#heapIsFull
    );
  }

  /** True when the refusals of this turn have taken as long as its work: connections are cut then, with whatever else they have sent. */
  get isFlooded(): boolean {
    return this.#spentMs >= 2 * this.#limits.turnMs && this.#served >= 2 * LEAST_SERVED;
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
