// The time limit for backend work of a request: it may run until the answer has begun or its
// deadline has passed, and only while the client is connected.

import { queryTimeout } from '../http/index.ts';
import { Deadline } from '../schedule/deadline.ts';
import type { Call } from './application.ts';
import { watchClient } from './client-watch.ts';

export interface CallDeadline {
  readonly signal: AbortSignal;
  /** The answer has begun: from now on only a client disconnect ends it. */
  begun(): void;
  /** The work is over: stops the timers. */
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

/** Runs `work` with a signal for the call's deadline and client, and ends both afterwards. */
export async function untilDeadline<T>(call: Call, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = deadlineOf(call);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.end();
  }
}
