// Carries out calls: sends requests, waits for answers, retries where that is safe, and turns every
// failure into one of the client's errors.

import { Attempt } from './attempt.ts';
import { apiError, HedgerowApiError, HedgerowConnectionError } from './errors.ts';
import { ndjsonValues } from './ndjson.ts';
import type { OperationId } from './operations.ts';
import { type CallOptions, type ClientOptions, type Settings, settingsOf, timeoutOf } from './options.ts';
import { readAhead } from './read-ahead.ts';
import { type CallInput, NDJSON_TYPE, type PreparedRequest, prepare } from './request.ts';
import { delayAfter, isPassing, retryAfterSeconds } from './retry.ts';

/** Reads the answer: all of it, or only its beginning for a stream. */
type Take<T> = (response: Response, attempt: Attempt) => Promise<T>;

/** A failed attempt. */
export interface Failure {
  readonly error: unknown;
  /** Number of attempts in a row that have failed, including this one. */
  readonly count: number;
  /** Called if there is a further attempt, before the wait for it. */
  readonly retry?: () => void;
}

export class Connection {
  readonly #settings: Settings;
  /** The newest log position in any successful answer to this client. */
  lastLsn = 0;

  constructor(options: ClientOptions) {
    this.#settings = settingsOf(options);
  }

  /** Sends a call and returns the JSON value of the answer. */
  async json<T>(id: OperationId, input: CallInput = {}, options: CallOptions = {}): Promise<T> {
    const text = await this.text(id, input, options);
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new HedgerowConnectionError('The answer is not JSON; is this the address of Hedgerow?', { cause });
    }
  }

  text(id: OperationId, input: CallInput = {}, options: CallOptions = {}): Promise<string> {
    return this.#call(id, input, options, async (response, attempt) => {
      const text = await attempt.untilEnd(response.text());
      attempt.end();
      return text;
    });
  }

  /**
   * Sends a call and yields the rows of the NDJSON answer as they arrive. Leaving the loop early
   * ends the request.
   */
  rows<T>(id: OperationId, input: CallInput, options: CallOptions = {}): AsyncGenerator<T, void, undefined> {
    return ndjsonValues<T>(this.chunks(id, { ...input, accept: NDJSON_TYPE }, options));
  }

  /**
   * Sends a call and yields the chunks of the answer as they arrive, in at most `maxAttempts`
   * attempts until it begins. Leaving the loop early ends the request. Throws a
   * HedgerowConnectionError if the answer is not of the accepted type.
   */
  async *chunks(
    id: OperationId,
    input: CallInput & { accept: string },
    options: CallOptions,
    maxAttempts = this.maxAttempts,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { chunks, attempt, type } = await this.#call(id, input, options, openStream, maxAttempts);
    try {
      if (type !== null && !type.startsWith(input.accept))
        throw new HedgerowConnectionError(
          `The answer is ${type}, not ${input.accept}; is this the address of Hedgerow?`,
        );
      yield* this.#guarded(chunks, attempt, options.signal);
    } finally {
      attempt.end();
    }
  }

  /** Maximum number of attempts of one call. */
  get maxAttempts(): number {
    return this.#settings.maxAttempts;
  }

  /**
   * Waits until the next attempt of a read after a failed one. Throws the error of the failed
   * attempt if there must be no further one.
   */
  async pause({ error, count, retry }: Failure, maxAttempts: number, signal: CallOptions['signal']): Promise<void> {
    const settings = this.#settings;
    if (!isPassing(error, count)) throw error;
    const retryAfter = error instanceof HedgerowApiError ? error.retryAfter : undefined;
    const delayMs = delayAfter(count, retryAfter, settings.random(), { ...settings, maxAttempts });
    if (delayMs === undefined) throw error;
    retry?.();
    await settings.sleep(delayMs, signal);
  }

  async #call<T>(
    id: OperationId,
    input: CallInput,
    options: CallOptions,
    take: Take<T>,
    maxAttempts = this.maxAttempts,
  ): Promise<T> {
    const settings = this.#settings;
    const request = prepare(settings, id, input, options, settings.readYourWrites ? this.lastLsn : 0);
    for (let count = 1; ; count++) {
      options.signal?.throwIfAborted();
      const attempt = new Attempt(options.signal, timeoutOf(settings, id, options));
      try {
        return await this.#try(request, attempt, take);
      } catch (thrown) {
        attempt.end();
        const error = this.#errorOf(thrown, attempt, options.signal);
        if (!request.repeatable) throw error;
        await this.pause({ error, count }, maxAttempts, options.signal);
      }
    }
  }

  async #try<T>(request: PreparedRequest, attempt: Attempt, take: Take<T>): Promise<T> {
    const response = await this.#answerTo(request, attempt);
    const lsn = Number(response.headers.get('x-hedgerow-lsn') ?? 0);
    const taken = await take(response, attempt);
    if (lsn > this.lastLsn) this.lastLsn = lsn;
    return taken;
  }

  /**
   * Sends a request, and once more to its leader if the server is a follower that redirects it.
   * Returns the answer. Throws the HedgerowApiError of the last answer if the request was refused.
   */
  async #answerTo(request: PreparedRequest, attempt: Attempt): Promise<Response> {
    const { url, leaders } = this.#settings;
    const first = await this.#send(url, request, attempt);
    if (first.ok) return first;
    // Browsers show the status 0 for a redirect.
    if ((first.status || 307) !== 307) throw await this.#refusalOf(first, attempt);
    // Pages of which the server redirects nothing do not load this.
    const redirect = await import('./redirect.ts');
    const send = (leader: string) => this.#send(leader, request, attempt);
    return redirect.askLeader(request, first, leaders, send, (answer) => this.#refusalOf(answer, attempt));
  }

  #send(url: string, { path, init }: PreparedRequest, attempt: Attempt): Promise<Response> {
    // `fetch` is called as a plain function: browsers refuse to run it as a method of another
    // object.
    const { fetch } = this.#settings;
    attempt.url = url;
    return attempt.untilEnd(fetch(url + path, { ...init, signal: attempt.signal }));
  }

  async #refusalOf(response: Response, attempt: Attempt): Promise<HedgerowApiError> {
    const retryAfter = retryAfterSeconds(response.headers.get('retry-after'), this.#settings.now());
    return apiError(response, await attempt.untilEnd(response.text()), retryAfter);
  }

  /**
   * Yields the chunks of a stream while the attempt's clock limits the wait for each chunk. The
   * clock is paused while the caller works on the rows.
   */
  async *#guarded(
    chunks: AsyncIterable<Uint8Array>,
    attempt: Attempt,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of chunks) {
        attempt.pause();
        yield chunk;
        attempt.restart();
      }
    } catch (thrown) {
      throw this.#errorOf(thrown, attempt, signal);
    }
  }

  /**
   * Returns the error to throw. If the caller's signal has aborted, returns the signal's reason,
   * unchanged.
   */
  #errorOf(thrown: unknown, attempt: Attempt, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted === true) return signal.reason;
    if (thrown instanceof HedgerowApiError) return thrown;
    const { url } = attempt;
    if (attempt.timedOut) {
      return new HedgerowConnectionError(`${url} did not answer in time.`, { cause: thrown, timedOut: true });
    }
    const reason = (thrown as { cause?: { message?: string } }).cause?.message ?? (thrown as Error).message;
    return new HedgerowConnectionError(`No whole answer from ${url}: ${reason}.`, { cause: thrown });
  }
}

async function openStream({ body, headers }: Response, attempt: Attempt) {
  return {
    chunks: body === null ? nothing() : readAhead(body, attempt.signal),
    attempt,
    type: headers.get('content-type'),
  };
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}
