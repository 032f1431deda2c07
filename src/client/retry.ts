// Decides, without side effects, whether a call is retried and after how long.

import { HedgerowApiError, HedgerowConnectionError } from './errors.ts';

export interface RetryOptions {
  /**
   * Maximum number of attempts of one call, including the first; 1 turns retries off. Default 4.
   */
  maxAttempts?: number;
  /**
   * Maximum wait before the second attempt; the maximum doubles with every further attempt. Default
   * 200.
   */
  baseDelayMs?: number;
  /**
   * Maximum wait between any two attempts. If the server asks for a longer wait, the call is not
   * retried and the server's error is thrown. Default 30,000.
   */
  maxDelayMs?: number;
}

export const DEFAULT_RETRY: Required<RetryOptions> = { maxAttempts: 4, baseDelayMs: 200, maxDelayMs: 30_000 };

const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns true for errors that may not occur again a moment later. `attempt` counts from 1. */
export function isPassing(error: unknown, attempt: number): boolean {
  if (error instanceof HedgerowConnectionError) return true;
  if (!(error instanceof HedgerowApiError)) return false;
  // The service stopped the work at the service's own time limit. A retry would take as long.
  if (error.code === 'timeout') return false;
  if (PASSING_STATUSES.has(error.statusCode)) return true;
  // An earlier attempt of this call, whose answer was lost, is still running under the same key.
  return error.code === 'idempotency_conflict' && attempt > 1;
}

/**
 * Returns the milliseconds to wait after attempt number `attempt` failed, or undefined if the call
 * must not be retried. The wait is a random time below a limit that doubles with each attempt
 * ("full jitter"), plus the wait for which the server asked, together at most `maxDelayMs`.
 * `random` is in [0, 1).
 */
export function delayAfter(
  attempt: number,
  retryAfter: number | undefined,
  random: number,
  options: Required<RetryOptions>,
): number | undefined {
  const { maxAttempts, baseDelayMs, maxDelayMs } = options;
  if (attempt >= maxAttempts) return undefined;
  const jitter = random * Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1));
  if (retryAfter === undefined) return jitter;
  const asked = retryAfter * 1000;
  return asked > maxDelayMs ? undefined : Math.min(maxDelayMs, asked + jitter);
}

/**
 * Returns the seconds to wait according to a `Retry-After` header, which contains seconds or a
 * date. Returns undefined if it contains neither.
 */
export function retryAfterSeconds(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}
