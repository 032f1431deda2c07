// The time by which a read's answer must have begun (`HEDGEROW_QUERY_TIMEOUT_MS`).

import { type HedgerowError, refusal } from '../errors.ts';
import type { Call } from './route.ts';

/**
 * Throws `timeout` if the deadline has passed. Reads that work for long before their answer begins
 * call this regularly.
 */
export function checkDeadline({ deadlineMs, services }: Call): void {
  if (services.now() > deadlineMs) throw queryTimeout(services.queryTimeoutMs);
}

export function queryTimeout(timeoutMs: number): HedgerowError {
  return refusal('timeout', `The answer had not begun after ${timeoutMs} ms. Ask for less, or page with limit.`);
}
