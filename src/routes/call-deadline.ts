// Limits the time that a backend may work for a request. The work is stopped if the deadline passes
// before the answer has begun, or if the client disconnects.

import { queryTimeout } from '../http/index.ts';
import { Deadline } from '../schedule/deadline.ts';
import type { Call } from './application.ts';
import { watchClient } from './client-watch.ts';

export interface CallDeadline {
  readonly signal: AbortSignal;
  /**
   * Call this when the answer has begun: from then on only a disconnect of the client stops the
   * work.
   */
  begun(): void;
  /** Call this when the work is complete: stops the timers. */
  end(): void;
}

export function deadlineOf(call: Call): CallDeadline {
  const { services, deadlineMs } = call;
  const watch = watchClient(call);
  const late = () => queryTimeout(services.queryTimeoutMs);
  const deadline = new Deadline(deadlineMs - services.now(), late, watch.signal);
  return {
    signal: deadline.signal,
    begun: () => deadline.begun(),
    end() {
      deadline.end();
      watch.end();
    },
  };
}

/**
 * Runs `work` with a signal that aborts at the call's deadline or when its client disconnects; then
 * stops the timers.
 */
export async function untilDeadline<T>(call: Call, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = deadlineOf(call);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.end();
  }
}
