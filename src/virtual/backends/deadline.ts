// Limits the time of backend queries. One signal covers the deadline and the caller's own signal.

import { type HedgerowError, refusal } from '../../errors.ts';
import { Deadline } from '../../schedule/deadline.ts';
import type { QueryOptions } from '../backend.ts';

export function openDeadline({ deadlineMs, signal }: QueryOptions): Deadline {
  return new Deadline(deadlineMs, timeoutAfter, signal);
}

/** Settles like `promise`, or rejects with the signal's reason if the signal aborts first. */
export function before<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function timeoutAfter(ms: number): HedgerowError {
  return refusal(
    'timeout',
    `The backend did not answer within ${Math.round(ms)} ms: ask for less (WHERE, LIMIT), or allow more time.`,
  );
}
