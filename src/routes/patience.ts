// How long others may be asked for a request: until its answer has begun, or its deadline passed, and as long as its client is there.

import { type Call, queryTimeout } from '../http/index.ts';
import { watchClient } from './client-watch.ts';

/** Timers take no longer times. */
const LONGEST_MS = 2 ** 31 - 1;

export interface Patience {
  readonly signal: AbortSignal;
  /** The answer has begun: from now on only its client ends it. */
  begun(): void;
  /** Nothing is asked any more. */
  end(): void;
}

export function openPatience(call: Call): Patience {
  const { services, deadlineMs } = call;
  const controller = new AbortController();
  const watch = watchClient(call, controller);
  const leftMs = deadlineMs - services.now();
  const late = () => controller.abort(queryTimeout(services.queryTimeoutMs));
  const timer = leftMs <= LONGEST_MS ? setTimeout(late, Math.max(0, leftMs)) : undefined;
  return {
    signal: controller.signal,
    begun: () => clearTimeout(timer),
    end() {
      clearTimeout(timer);
      watch.end();
    },
  };
}

/** Asks with patience that ends with what was asked. */
export async function patiently<T>(call: Call, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const patience = openPatience(call);
  try {
    return await work(patience.signal);
  } finally {
    patience.end();
  }
}
