// The options of a client and of a single call.

import type { Fetch, Signal } from './host-types.ts';
import { LONG_OPERATIONS, type OperationId } from './operations.ts';
import { DEFAULT_RETRY, type RetryOptions } from './retry.ts';

export interface ClientOptions extends RetryOptions {
  /** Address of the service: `https://host:8000`, followed by a path if a proxy adds one. */
  url: string;
  /** Sent as `X-API-Key`. */
  apiKey?: string;
  /**
   * Addresses, like `url`, of servers that get the writes if the server at `url` is a follower that
   * redirects them (307 `not_leader`). They get the key too. The client sends nothing to any other
   * address, whatever a server answers. Default: none, so that such a write fails.
   */
  leaders?: readonly string[];
  /**
   * Milliseconds that one attempt may take until its answer is complete; for a stream, until the
   * next rows arrive. 0 means no limit. Default 40,000: longer than the service lets a statement
   * run, so that the service's error answer arrives before the limit. Operations that may take
   * minutes (measures, backups, queries of virtual graphs, ...) get at least 10 minutes.
   */
  timeoutMs?: number;
  /**
   * If true, reads reflect every write whose answer this client has received, whichever server
   * answers the reads. Default false.
   */
  readYourWrites?: boolean;
  /** Default: the global `fetch`. */
  fetch?: Fetch;
  /**
   * Returns the wall clock in milliseconds. Used to compute the wait until a date in `Retry-After`.
   */
  now?: () => number;
  /** Returns a random number in [0, 1), which spreads the retries of many clients. */
  random?: () => number;
  /** Waits between two attempts; rejects with the signal's reason if the signal aborts. */
  sleep?: (ms: number, signal: Signal | undefined) => Promise<void>;
}

/** Options that every method takes as its last argument. */
export interface CallOptions {
  signal?: Signal;
  /** As in ClientOptions, but for this call only. */
  timeoutMs?: number;
  /**
   * For reads: the server waits until the answer can reflect this log position (`X-Hedgerow-LSN` of
   * an earlier answer).
   */
  minLsn?: number;
  /**
   * For writes: the server does not carry out the same write twice under one key. Default: a random
   * key, which makes retries safe. Choose your own key to make a write safe across restarts of your
   * program.
   */
  idempotencyKey?: string;
}

/** Options of calls that run a statement. */
export interface QueryOptions extends CallOptions {
  /**
   * Statements of one session share its transaction. Default: the API key itself is the session.
   */
  session?: string;
  /**
   * How times are written, also inside edges. `epoch` (the default) means seconds; `iso` means
   * texts such as 2024-05-02T10:00:00Z.
   */
  times?: 'epoch' | 'iso';
  /**
   * How members that are nodes of node tables are written: `numbers`, or `objects` with kind and
   * key. By default as keys, or as objects if the members of the table are of several kinds.
   */
  members?: 'numbers' | 'objects';
}

export type Settings = Required<ClientOptions & RetryOptions>;

const LONG_TIMEOUT_MS = 600_000;
/** While there are no changes, the server sends a sign of life every 15 s. */
const CHANGES_TIMEOUT_MS = 40_000;

/** Returns the milliseconds that one attempt of an operation may take; 0 means no limit. */
export function timeoutOf(settings: Settings, id: OperationId, options: CallOptions): number {
  if (options.timeoutMs !== undefined) return options.timeoutMs;
  const { timeoutMs } = settings;
  const least = id === 'readChanges' ? CHANGES_TIMEOUT_MS : LONG_OPERATIONS.has(id) ? LONG_TIMEOUT_MS : 0;
  return timeoutMs > 0 ? Math.max(timeoutMs, least) : 0;
}

/**
 * Completes the options. Throws a TypeError if `url` or one of `leaders` is not an http or https
 * URL, or if no header can contain the key.
 */
export function settingsOf(options: ClientOptions): Settings {
  // Checked here, because the error of `Headers` would contain the key in its message.
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
    url: addressOf(options.url),
    leaders: (options.leaders ?? []).map(addressOf),
  };
}

/** Returns a URL without slashes at its end, so that paths can be appended. */
function addressOf(url: string): string {
  const { protocol } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(`The url begins with ${protocol}, but it must begin with http: or https:.`);
  }
  return url.replace(/\/+$/, '');
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

/** Removes options that are undefined, so that they get their defaults. */
function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
