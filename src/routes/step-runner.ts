// Runs long work of a request in steps, between which other requests are served. The work ends with
// an error if its deadline passes or its client disconnects.

import { refusal } from '../errors.ts';
import type { StepRunner } from '../rag/index.ts';
import type { Steps } from '../schedule/steps.ts';
import type { Call } from './application.ts';
import { clientGone, watchClient } from './client-watch.ts';

export interface CallRunner extends StepRunner {
  /** Throws once the deadline has passed or the client has disconnected. */
  look(): void;
}

/** Calls `work` with a runner whose signal is valid until `work` ends. */
export async function withRunner<T>(call: Call, work: (runner: CallRunner) => Promise<T>): Promise<T> {
  const { signal, end } = watchClient(call);
  const { scheduler, now } = call.services;
  const look = () => {
    if (call.client.gone) throw clientGone();
    if (now() > call.deadlineMs) throw tooLong(call);
  };
  /** The first step runs without the scheduler, since most work is complete after it. */
  const run = async <R>(steps: Steps<R>): Promise<R> => {
    const first = steps.next();
    return first.done === true ? first.value : scheduler.drive('reasoning', steps, { look });
  };
  try {
    return await work({ signal, run, look });
  } finally {
    end();
  }
}

function tooLong({ services }: Call): Error {
  return refusal(
    'timeout',
    `The answer had not begun after ${services.queryTimeoutMs} ms. Narrow the rules, or the edges they see (top_k, a window, nodes).`,
  );
}
