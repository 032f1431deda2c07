// Long work of a request beside other requests: in steps, until its deadline, as long as its client is there.

import { refusal } from '../errors.ts';
import type { Call } from '../http/index.ts';
import type { StepRunner } from '../rag/index.ts';
import type { Steps } from '../schedule/steps.ts';
import { clientGone, watchClient } from './client-watch.ts';

/** Calls `work` with a runner whose signal ends with it. */
export async function withRunner<T>(call: Call, work: (runner: StepRunner) => Promise<T>): Promise<T> {
  const { signal, end } = watchClient(call);
  const { scheduler, now } = call.services;
  const look = () => {
    if (call.client.gone) throw clientGone();
    if (now() > call.deadlineMs) throw tooLong(call);
  };
  /** Most work ends with its first step. */
  const run = async <R>(steps: Steps<R>): Promise<R> => {
    const first = steps.next();
    return first.done === true ? first.value : scheduler.drive(steps, { look });
  };
  try {
    return await work({ signal, run });
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
