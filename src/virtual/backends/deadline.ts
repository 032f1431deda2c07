// How long a question to a backend may take: one signal for its time and for the caller's own.

import { type HedgerowError, refusal } from '../../errors.ts';
import type { QueryOptions } from '../backend.ts';

/** Timers take no longer times. */
const LONGEST_MS = 2 ** 31 - 1;

export interface Deadline {
  readonly signal: AbortSignal;
  /** Milliseconds that are left; undefined: no limit. */
  left(): number | undefined;
  /** Nothing is to be ended any more. */
  end(): void;
}

export function openDeadline({ deadlineMs, signal }: QueryOptions): Deadline {
  const controller = new AbortController();
  const leave = () => controller.abort(signal!.reason);
  const late = () => controller.abort(timeoutAfter(deadlineMs!));
  const until = deadlineMs === undefined ? undefined : performance.now() + deadlineMs;
  const timer =
    deadlineMs === undefined || deadlineMs > LONGEST_MS ? undefined : setTimeout(late, Math.max(0, deadlineMs));
  if (signal?.aborted === true) leave();
  else signal?.addEventListener('abort', leave, { once: true });
  return {
    signal: controller.signal,
    left: () => (until === undefined ? undefined : Math.max(0, until - performance.now())),
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    },
  };
}

/** Settles as `promise` does, or rejects when the signal comes first. */
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
