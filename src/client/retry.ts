// When a call is tried again, and after how long: pure decisions.

import { HedgerowApiError, HedgerowConnectionError } from './errors.ts';

export interface RetryOptions {
  /** Tries of one call, the first one included; 1 turns retries off. Default 4. */
  maxAttempts?: number;
  /** Longest wait before the second try; it doubles with every further one. Default 200. */
  baseDelayMs?: number;
  /**
   * No wait is longer. A server that asks for more is not asked again: its error is thrown. Default
   * 30,000.
   */
  maxDelayMs?: number;
}

export const DEFAULT_RETRY: Required<RetryOptions> = { maxAttempts: 4, baseDelayMs: 200, maxDelayMs: 30_000 };

const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** True for what may be gone a moment later. `attempt` counts from 1. */
export function isPassing(error: unknown, attempt: number): boolean {
  if (error instanceof HedgerowConnectionError) return true;
  if (!(error instanceof HedgerowApiError)) return false;
  // The service has stopped the work at its own time limit: once more it would take as long.
  if (error.code === 'timeout') return false;
  if (PASSING_STATUSES.has(error.statusCode)) return true;
  // An earlier try of ours whose answer was lost is still at work under the same key.
  return error.code === 'idempotency_conflict' && attempt > 1;
}

/**
 * Milliseconds to wait after try `attempt` failed; undefined: give up. Full jitter under a doubling
 * limit, on top of what the server asked for. `random` is in [0, 1).
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
 * Seconds of a `Retry-After` header, which holds seconds or a date; undefined when it holds
 * neither.
 */
export function retryAfterSeconds(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}
