// How long others may be asked for a request: until its answer has begun, or its deadline passed, and as long as its client is there.

import { type Call, queryTimeout } from '../http/index.ts';
import { Deadline } from '../schedule/deadline.ts';
import { watchClient } from './client-watch.ts';

export interface CallDeadline {
  readonly signal: AbortSignal;
  /** The answer has begun: from now on only its client ends it. */
  begun(): void;
  /** Nothing is asked any more. */
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

/** Asks with a deadline that ends with what was asked. */
export async function untilDeadline<T>(call: Call, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = deadlineOf(call);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.end();
  }
}
