// How a client is set up, and what a single call may say.

import type { Fetch, Signal } from './host-types.ts';
import { LONG_OPERATIONS, type OperationId } from './operations.ts';
import { DEFAULT_RETRY, type RetryOptions } from './retry.ts';

export interface ClientOptions extends RetryOptions {
  /** Where the service is: `https://host:8000`, or with a path when a proxy puts one in front. */
  url: string;
  /** Sent as `X-API-Key`. */
  apiKey?: string;
  /**
   * Milliseconds one try may take until its answer is whole; on streams, until the next rows come.
   * 0: no limit. Default 40,000: longer than the service lets a statement run, so that its answer
   * comes first. Work over whole tables (measures, backups, queries of virtual graphs, ...) gets 10
   * minutes or more.
   */
  timeoutMs?: number;
  /**
   * Reads reflect every write this client has had an answer to, whichever server answers them.
   * Default false.
   */
  readYourWrites?: boolean;
  /** Default: the global one. */
  fetch?: Fetch;
  /** Milliseconds of the wall clock; tells how far off a date in `Retry-After` is. */
  now?: () => number;
  /** In [0, 1): spreads the retries of many clients. */
  random?: () => number;
  /** Waits between two tries; rejects with the reason of the signal when it is aborted. */
  sleep?: (ms: number, signal: Signal | undefined) => Promise<void>;
}

/** For every method, as its last argument. */
export interface CallOptions {
  signal?: Signal;
  /** As in ClientOptions, for this call. */
  timeoutMs?: number;
  /**
   * Reads: wait until the answer reflects this log position (`X-Hedgerow-LSN` of an earlier
   * answer).
   */
  minLsn?: number;
  /**
   * Writes: default a random one, so that a retry is not carried out twice. Give your own to make a
   * write safe across restarts of your program.
   */
  idempotencyKey?: string;
}

/** For statements. */
export interface QueryOptions extends CallOptions {
  /** Statements of one session share its transaction. Default: the key itself is the session. */
  session?: string;
  /**
   * How times are written, also inside of edges: default `epoch`, seconds; `iso`: texts such as
   * 2024-05-02T10:00:00Z.
   */
  times?: 'epoch' | 'iso';
}

export type Settings = Required<ClientOptions & RetryOptions>;

const LONG_TIMEOUT_MS = 600_000;

/** Milliseconds one try of an operation may take. */
export function timeoutOf(settings: Settings, id: OperationId, options: CallOptions): number {
  if (options.timeoutMs !== undefined) return options.timeoutMs;
  const { timeoutMs } = settings;
  return timeoutMs > 0 && LONG_OPERATIONS.has(id) ? Math.max(timeoutMs, LONG_TIMEOUT_MS) : timeoutMs;
}

/** Throws a TypeError when the URL is none, or no request could carry the key. */
export function settingsOf(options: ClientOptions): Settings {
  const { protocol } = new URL(options.url);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(`The url begins with ${protocol}, but it takes http: or https:.`);
  }
  // Said here: the error of a header would have the key in its sentence.
  if (/[^ -~]/.test(options.apiKey?.trim() ?? ''))
    throw new TypeError('The API key holds characters that no key has; copy it once more.');
  return {
    ...DEFAULT_RETRY,
    apiKey: '',
    timeoutMs: 40_000,
    readYourWrites: false,
    // The global is looked up at each call, as a program that replaces it expects.
    fetch: (...request) => globalThis.fetch(...request),
    now: () => Date.now(),
    random: () => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32,
    sleep,
    ...withoutUndefined(options),
    url: options.url.replace(/\/+$/, ''),
  };
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** An option that is given as undefined takes its default. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
