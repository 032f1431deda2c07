// Reads the feed of changes. After a lost connection it goes on after the last change it yielded,
// so that no change is missing and none comes twice.
//
// Changes that exist already are read as NDJSON, which ends with the newest one. To follow changes,
// server-sent events are read: one request, however many commits there are, in which the server
// shows every 15 s that it is alive. Both are read no faster than the consumer takes the changes,
// apart from a few megabytes (read-ahead.ts). If the consumer is so slow that the server closes the
// connection, it still gets what has arrived, and then the changes after it over a new connection.

import type { Connection } from './connection.ts';
import { HedgerowApiError, HedgerowConnectionError, streamError } from './errors.ts';
import { serverEvents } from './events.ts';
import { ndjsonValues, parsed } from './ndjson.ts';
import type { CallOptions } from './options.ts';
import { NDJSON_TYPE } from './request.ts';
import type { Change } from './types.ts';

export interface ChangesOptions extends Omit<CallOptions, 'idempotencyKey'> {
  /**
   * Yield the changes after this LSN: that of rows that were read, or of the last change. Default:
   * all that are still kept.
   */
  fromLsn?: number;
  /** Only changes of this table. Default: of all tables. */
  table?: string;
  /**
   * If true (the default), wait for further changes without end. If false, end with the newest
   * change.
   */
  follow?: boolean;
  /** Maximum number of changes. Default: no limit. */
  limit?: number;
  /**
   * Called before each wait for another attempt, with the error that ended the last attempt and the
   * number of attempts that have failed in a row.
   */
  onRetry?: (error: unknown, failures: number) => void;
}

const EVENTS_TYPE = 'text/event-stream';

/** How far a feed has been read. */
interface Progress {
  /** All changes up to this LSN were yielded, or are not asked for. */
  lsn: number;
  /** Number of changes that may still be yielded. */
  left: number;
  /** Whether the server has answered with changes after `lsn`; until then they may be gone. */
  isOpen: boolean;
  /** Number of changes and signs of life that have arrived. */
  received: number;
}

/** Throws the errors of `HedgerowClient.changes`. */
export async function* readChanges(
  connection: Connection,
  options: ChangesOptions = {},
): AsyncGenerator<Change, void, undefined> {
  const { fromLsn, follow = true, limit = Number.POSITIVE_INFINITY, signal } = options;
  const { maxAttempts } = connection;
  const progress: Progress = { lsn: fromLsn ?? 0, left: limit, isOpen: false, received: 0 };
  let failures = 0;
  while (progress.left > 0) {
    const { received } = progress;
    let error: unknown;
    try {
      yield* (follow ? comingChanges : knownChanges)(connection, progress, options);
      if (!follow || progress.left === 0) return;
      error = new HedgerowConnectionError('The server ended the stream of changes.');
    } catch (thrown) {
      error = thrown;
    }
    const oldestLsn = fromLsn === undefined && !progress.isOpen ? oldestIn(error) : undefined;
    if (oldestLsn !== undefined && oldestLsn > progress.lsn) {
      progress.lsn = oldestLsn;
      continue;
    }
    failures = progress.received === received ? failures + 1 : 1;
    // Once it was open, a feed is opened again for as long as it takes: a server may need minutes
    // to start.
    const endless = follow && progress.isOpen && maxAttempts > 1;
    const retry = () => options.onRetry?.(error, failures);
    await connection.pause({ error, count: failures, retry }, endless ? Number.POSITIVE_INFINITY : maxAttempts, signal);
  }
}

/** Returns the oldest LSN to read from, if the error says that older changes are gone. */
function oldestIn(error: unknown): number | undefined {
  return error instanceof HedgerowApiError && error.code === 'lsn_gone' ? error.oldestLsn : undefined;
}

/** Yields the changes up to the newest one. */
async function* knownChanges(
  connection: Connection,
  progress: Progress,
  options: ChangesOptions,
): AsyncGenerator<Change, void, undefined> {
  const input = { query: queryOf(progress, options), accept: NDJSON_TYPE };
  for await (const change of ndjsonValues<Change>(connection.chunks('readChanges', input, options, 1))) {
    advance(connection, progress, change);
    yield change;
  }
}

/** Yields changes until the connection is lost or the limit is reached. */
async function* comingChanges(
  connection: Connection,
  progress: Progress,
  options: ChangesOptions,
): AsyncGenerator<Change, void, undefined> {
  const input = { query: queryOf(progress, options), accept: EVENTS_TYPE };
  let blocks = 0;
  for await (const { id, type, data } of serverEvents(connection.chunks('readChanges', input, options, 1))) {
    progress.isOpen = true;
    // The first block comes before anything is read: a server that ends each answer after it makes
    // no progress.
    if (blocks++ > 0) progress.received += 1;
    if (type === 'error') throw streamError(data ?? '');
    if (data !== undefined) {
      const change = parsed<Change>(data);
      advance(connection, progress, change);
      yield change;
    } else if (id !== undefined && Number(id) > progress.lsn) progress.lsn = Number(id);
  }
}

function queryOf({ lsn, left }: Progress, { table }: ChangesOptions) {
  return { from_lsn: lsn, table, limit: left === Number.POSITIVE_INFINITY ? undefined : left };
}

function advance(connection: Connection, progress: Progress, { lsn }: Change): void {
  progress.lsn = lsn;
  progress.left -= 1;
  progress.isOpen = true;
  progress.received += 1;
  // Later reads with `readYourWrites` reflect the changes that the program knows.
  if (lsn > connection.lastLsn) connection.lastLsn = lsn;
}
