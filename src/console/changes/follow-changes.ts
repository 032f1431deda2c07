// Follows the changes of the service: one streaming request, sent again from the last LSN after the
// connection is lost, until the signal aborts or the service refuses to go on.

import { Attempt } from '../../client/attempt.ts';
import { apiError, HedgerowApiError } from '../../client/errors.ts';
import { type Change, type ChangeFeed, changeOf } from './change-feed.ts';
import { EventData } from './event-data.ts';
import { UnexpectedAnswer } from './unexpected-answer.ts';

type Body = ReadableStream<Uint8Array>;

/**
 * `connecting`, `live` and `lost` (another attempt follows) are passing states; the others are
 * final. `gone`: changes after the last LSN are no longer kept. `other`: the last LSN is of another
 * history.
 */
export interface FollowState {
  readonly kind: 'connecting' | 'live' | 'lost' | 'gone' | 'other' | 'refused';
  readonly error?: unknown;
}

export interface FollowOptions {
  readonly feed: ChangeFeed;
  /** URL of the service. */
  readonly url: string;
  /** Empty if the service needs no key. */
  readonly key: string;
  /** Empty: all tables. */
  readonly table: string;
  /** Number of LSNs before the newest one to begin with, if the feed has no LSN yet. */
  readonly recent: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
  /** Returns the newest LSN of the service. */
  readonly newest: () => Promise<number>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onState: (state: FollowState) => void;
  /** Called after a change was added to the feed. */
  readonly onChange: (change: Change) => void;
}

/** The service sends a comment every 15 seconds; a longer silence means a lost connection. */
const SILENCE_MS = 40_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 5000;
/** After this much work without a pause, the page gets its turn to draw. */
const TURN_MS = 12;

/** Resolves when the signal has aborted, or after a final state was reported. */
export async function followChanges(options: FollowOptions): Promise<void> {
  const { feed, signal, onState, sleep } = options;
  const report = (state: FollowState) => {
    if (!signal.aborted) onState(state);
  };
  let pauseMs = FIRST_PAUSE_MS;
  report({ kind: 'connecting' });
  while (!signal.aborted) {
    const { seen } = feed;
    try {
      await readStream(options, () => report({ kind: 'live' }));
    } catch (error) {
      const kind = finalKind(error);
      if (kind !== undefined) return report({ kind, error });
    }
    report({ kind: 'lost' });
    if (feed.seen > seen) pauseMs = FIRST_PAUSE_MS;
    if (!signal.aborted) await sleep(pauseMs);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

/** Returns undefined if another attempt may succeed. */
function finalKind(error: unknown): FollowState['kind'] | undefined {
  if (error instanceof UnexpectedAnswer) return 'refused';
  if (!(error instanceof HedgerowApiError)) return undefined;
  const { statusCode } = error;
  if (statusCode === 410) return 'gone';
  if (statusCode === 409) return 'other';
  return statusCode < 500 && statusCode !== 408 && statusCode !== 429 ? 'refused' : undefined;
}

/**
 * Reads one answer to its end, and calls `onLive` when it has begun. An error event ends the answer
 * too; the next request then gets the reason as its status.
 */
async function readStream(options: FollowOptions, onLive: () => void): Promise<void> {
  const { feed, signal, sleep, onChange } = options;
  const attempt = new Attempt(signal, SILENCE_MS);
  try {
    const body = await (feed.lastLsn === undefined ? begin(options, attempt) : open(options, attempt));
    onLive();
    const events = new EventData();
    const reader = body.getReader();
    const take = (data: string) => {
      const change = changeOf(data);
      feed.push(change);
      onChange(change);
    };
    let sinceMs = Date.now();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      attempt.restart();
      if (!events.push(value, take)) return;
      // Chunks that have already arrived would otherwise be read without a pause.
      if (Date.now() - sinceMs > TURN_MS) {
        await sleep(0);
        sinceMs = Date.now();
      }
    }
  } finally {
    attempt.end();
  }
}

/** Opens the first stream: from some LSNs before the newest one, if those are still kept. */
async function begin(options: FollowOptions, attempt: Attempt): Promise<Body> {
  const { feed, recent, signal } = options;
  const newest = await options.newest();
  // The feed may have another reader by now.
  signal.throwIfAborted();
  if (!Number.isSafeInteger(newest)) throw new UnexpectedAnswer();
  feed.lastLsn = Math.max(0, newest - recent);
  try {
    return await open(options, attempt);
  } catch (error) {
    if (!(error instanceof HedgerowApiError) || error.statusCode !== 410) throw error;
    feed.lastLsn = newest;
    return open(options, attempt);
  }
}

async function open({ feed, url, key, table, fetch }: FollowOptions, attempt: Attempt): Promise<Body> {
  const query = new URLSearchParams({ from_lsn: String(feed.lastLsn), ...(table === '' ? {} : { table }) });
  const response = await fetch(`${url}/v1/changes?${query}`, {
    headers: { Accept: 'text/event-stream', ...(key === '' ? {} : { 'X-API-Key': key }) },
    redirect: 'error',
    credentials: 'omit',
    cache: 'no-store',
    signal: attempt.signal,
  });
  if (!response.ok) throw apiError(response, await response.text(), undefined);
  if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw new UnexpectedAnswer();
  return response.body;
}
