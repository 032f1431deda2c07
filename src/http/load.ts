// Measures the load of the service and decides when it is too high. New work is then refused before
// any memory is used for it.
//
// A request is refused (503 `overloaded`) on arrival if
// - the requests of this turn of the event loop have used up the time for a turn, and more than a
//   minimum number were served: otherwise a flood of requests would keep timers and other sockets
//   waiting;
// - too many requests are waiting (for the disk, a compaction, their body), not counting streams
//   and answers that wait for slow clients;
// - bodies and pending answers hold too many bytes;
// - the JavaScript heap is nearly full.
//
// Streams and long JSON bodies have limits of their own, checked when they begin. When the handlers
// of a turn have used up their time, further handlers are not refused but run in later turns.

import { getHeapStatistics } from 'node:v8';
import { type HedgerowError, refusal } from '../errors.ts';
import { MEGABYTE } from '../limits.ts';

/** Interval at which `look` is to be called. */
export const LOOK_MS = 1000;

export interface LoadLimits {
  /**
   * Maximum number of requests waiting for the disk, a compaction or their body: each may hold
   * about 10 KB.
   */
  requests: number;
  /**
   * Maximum number of streamed answers: each pins a version of its table and holds one chunk (64
   * KB, plus what the sockets buffer).
   */
  streams: number;
  /** Maximum number of answers that wait for what comes next (`ChunkSource.follows`). */
  followers: number;
  /**
   * Maximum number of streamed answers compressed at once; the others are sent plain. Compressed
   * streams use the same four threads of Node.js as the log, which would have to wait for them, and
   * each holds 200 KB more.
   */
  gzipStreams: number;
  /**
   * Maximum bytes of all bodies being read or processed, and of all answers waiting for their
   * clients to read.
   */
  heldBytes: number;
  /**
   * Maximum total bytes of the long JSON bodies being parsed: their values are in the JavaScript
   * heap. A single body is always accepted.
   */
  parsedBytes: number;
  /**
   * Time for requests in one turn of the event loop, before other sockets and timers are served
   * again.
   */
  turnMs: number;
  /** Time for handlers in one turn of the event loop; handlers after that share later turns. */
  handlersMs: number;
  /** Share of the JavaScript heap in use above which no new work is accepted. */
  heapShare: number;
  /** Time within which a client must read a part of an answer that is waiting. */
  stallMs: number;
}

/** Returns the limits used in production; `maxBodyBytes` is the size limit of one request. */
export function usualLimits(maxBodyBytes: number): LoadLimits {
  return {
    // At 10,000 durable writes a second, the last of these waits a tenth of a second.
    requests: 1024,
    streams: 256,
    followers: 256,
    gzipStreams: 16,
    heldBytes: Math.max(256 * MEGABYTE, 2 * maxBodyBytes),
    // After that time, refusing 2,000 more requests takes 20 ms, so a probe waits well under 100
    // ms.
    turnMs: 30,
    handlersMs: 30,
    parsedBytes: getHeapStatistics().heap_size_limit / 5,
    heapShare: 0.9,
    stallMs: 60_000,
  };
}

/**
 * Minimum number of requests served per turn, however long they take and however slow the machine
 * is.
 */
const LEAST_SERVED = 100;
/** Number of answers to HEAD between two calls of `look` above which some are delayed. */
const HEAD_FLOOD = 200;

export class Load {
  /** Requests that have not been answered yet. */
  running = 0;
  /** Of these: streamed answers. */
  streams = 0;
  /** Of these: answers that wait for what comes next. */
  followers = 0;
  /** Of these: streamed answers that are compressed. */
  gzipStreams = 0;
  /** Of these: whole answers waiting for their clients to read. */
  stalled = 0;
  /** Of these: requests to be refused whose answer is still pending. */
  refused = 0;
  heldBytes = 0;
  /** Bytes of long bodies being parsed. */
  parsedBytes = 0;
  readonly #limits: LoadLimits;
  /**
   * Number of requests that arrived in this turn of the event loop, and when the first and the last
   * arrived.
   */
  #arrived = 0;
  #turnStartMs = 0;
  #nowMs = 0;
  #heads = 0;
  #heapIsFull = false;
  #idle: (() => void) | undefined;

  constructor(limits: LoadLimits) {
    this.#limits = limits;
  }

  /** Checks the heap, and restarts the count of answers to HEAD. Called by a timer. */
  look(): void {
    this.#heads = 0;
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    this.#heapIsFull = used_heap_size > heap_size_limit * this.#limits.heapShare;
  }

  /**
   * Counts an arrived request. To be called first for each request except probes; `nowMs` is
   * monotonic.
   */
  arrive(nowMs: number): void {
    if (this.#arrived === 0) this.#beginTurn(nowMs);
    this.#arrived += 1;
    this.#nowMs = nowMs;
  }

  #beginTurn(nowMs: number): void {
    this.#turnStartMs = nowMs;
    setImmediate(this.#endTurn);
  }

  /**
   * Returns true if handlers have used up their time in this turn, so that the next handler should
   * wait for a later turn.
   */
  isLongTurn(nowMs: number): boolean {
    // In this case the request's body arrived in a later turn than its headers.
    if (this.#arrived === 0) {
      this.#arrived = 1;
      this.#beginTurn(nowMs);
    }
    return nowMs - this.#turnStartMs >= this.#limits.handlersMs;
  }

  /**
   * Reserves memory for the value of a long body; lower `parsedBytes` to release it. Returns false
   * if other bodies use the memory.
   */
  takeParsed(bytes: number): boolean {
    if (this.parsedBytes > 0 && this.parsedBytes + bytes > this.#limits.parsedBytes) return false;
    this.parsedBytes += bytes;
    return true;
  }

  /** Immediates run after all sockets that were ready have been served. */
  readonly #endTurn = (): void => {
    this.#arrived = 0;
  };

  /** Counts an answer to HEAD. Returns true if there are suspiciously many. */
  isHeadFlood(): boolean {
    this.#heads += 1;
    return this.#heads > HEAD_FLOOD;
  }

  /** True if the request that has just arrived must be refused. */
  get isFull(): boolean {
    const { requests, turnMs, heldBytes } = this.#limits;
    return (
      (this.#arrived > LEAST_SERVED && this.#nowMs - this.#turnStartMs >= turnMs) ||
      this.running - this.streams - this.followers - this.stalled - this.refused >= requests ||
      this.heldBytes >= heldBytes ||
      this.#heapIsFull
    );
  }

  /** Returns true if a further body of `bodyBytes` bytes is too much. */
  isFullFor(bodyBytes: number): boolean {
    return this.heldBytes + bodyBytes > this.#limits.heldBytes;
  }

  get isFullOfStreams(): boolean {
    return this.streams >= this.#limits.streams;
  }

  get isFullOfFollowers(): boolean {
    return this.followers >= this.#limits.followers;
  }

  get isFullOfGzip(): boolean {
    return this.gzipStreams >= this.#limits.gzipStreams;
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
