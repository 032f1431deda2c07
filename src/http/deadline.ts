// The time by which a read's answer must have begun (`HEDGEROW_QUERY_TIMEOUT_MS`).

import { type HedgerowError, refusal } from '../errors.ts';
import type { Call } from './route.ts';

/**
 * To be called regularly by reads that work for long before their answer begins. Throws `timeout`.
 */
export function checkDeadline({ deadlineMs, services }: Call): void {
  if (services.now() > deadlineMs) throw queryTimeout(services.queryTimeoutMs);
}

export function queryTimeout(timeoutMs: number): HedgerowError {
  return refusal('timeout', `The answer had not begun after ${timeoutMs} ms. Ask for less, or page with limit.`);
}
