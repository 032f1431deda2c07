// The connection of a follower to its leader, over HTTP.

import { HedgerowError } from '../errors.ts';

/** What a follower needs of its leader. */
export interface LeaderSource {
  /** Base address of the leader, without a slash at its end. */
  readonly url: string;
  /** Yields the bytes of a snapshot. Throws `LeaderRefusal`, or the error of the connection. */
  snapshot(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Yields the bytes of the log after an LSN, without end. `sum` is the checksum of the frame that
   * ends there. Throws like `snapshot`.
   */
  log(fromLsn: number, sum: number | undefined, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined>;
}

export interface LeaderLinkOptions {
  /** Base address of the leader, without a slash at its end. */
  readonly url: string;
  /** An admin key of the leader; undefined if the leader needs none. */
  readonly key: string | undefined;
}

/** Path of a snapshot at the leader. */
export const SNAPSHOT_TARGET = '/v1/snapshot';

/** Returns the path and query of the log after an LSN; `sum` as in `LeaderSource.log`. */
export function logTarget(fromLsn: number, sum: number | undefined): string {
  return `/v1/log?from_lsn=${fromLsn}${sum === undefined ? '' : `&sum=${sum}`}`;
}

/** If nothing arrives for this long, not even a heartbeat, the connection counts as lost. */
const SILENCE_MS = 10_000;

/** An answer of the leader other than 2xx. */
export class LeaderRefusal extends Error {
  readonly status: number;
  /** The code in the leader's answer, if it has one. */
  readonly code: string | undefined;

  constructor(status: number, code: string | undefined, detail: string) {
    super(detail);
    this.name = 'LeaderRefusal';
    this.status = status;
    this.code = code;
  }
}

export class LeaderLink implements LeaderSource {
  readonly #options: LeaderLinkOptions;

  constructor(options: LeaderLinkOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#options.url;
  }

  snapshot(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#bytes(SNAPSHOT_TARGET, signal);
  }

  log(fromLsn: number, sum: number | undefined, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#bytes(logTarget(fromLsn, sum), signal);
  }

  async *#bytes(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    // The signal ends the request, and the reader its answer: `fetch` forgets the signal once the
    // garbage collector has run (client/attempt.ts).
    const own = new AbortController();
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    own.signal.addEventListener('abort', () => void reader?.cancel().catch(() => undefined));
    const stop = () => own.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const silent = () => own.abort(new Error(`Nothing came from the leader for ${SILENCE_MS / 1000} s.`));
    let timer = setTimeout(silent, SILENCE_MS);
    try {
      const { key, url } = this.#options;
      const headers = key === undefined ? {} : { 'X-API-Key': key };
      const answer = await fetch(`${url}${path}`, { headers, redirect: 'error', signal: own.signal });
      if (!answer.ok) throw refusalOf(answer.status, await answer.text().catch(() => ''));
      reader = (answer.body as ReadableStream<Uint8Array>).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (own.signal.aborted) throw own.signal.reason;
        if (done) return;
        clearTimeout(timer);
        yield value;
        timer = setTimeout(silent, SILENCE_MS);
      }
    } catch (error) {
      throw own.signal.aborted ? own.signal.reason : connectionError(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      own.abort();
    }
  }
}

/** Returns the error for an answer other than 2xx; `text` is its body. */
export function refusalOf(status: number, text: string): LeaderRefusal {
  let body: { code?: unknown; detail?: unknown } = {};
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    // Something between the leader and this process has answered.
  }
  const code = typeof body.code === 'string' ? body.code : undefined;
  const detail = typeof body.detail === 'string' ? body.detail : `It answered with status ${status}.`;
  return new LeaderRefusal(status, code, detail);
}

/** `fetch` hides the reason of a failure in the cause. */
function connectionError(error: unknown): unknown {
  if (error instanceof LeaderRefusal || error instanceof HedgerowError) return error;
  const { message, cause } = error as Error;
  const reason = cause instanceof Error ? cause.message || (cause as { code?: string }).code : undefined;
  return reason === undefined ? error : new Error(`${message} (${reason})`, { cause: error });
}
