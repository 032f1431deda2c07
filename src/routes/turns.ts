// Long work of a request beside other requests: in slices, until its deadline, as long as its client is there.

import { refusal } from '../errors.ts';
import type { Call } from '../http/index.ts';
import type { Turns } from '../rag/index.ts';
import { clientGone, watchClient } from './client-watch.ts';

/** Calls `work` with turns that end with it. */
export async function inTurns<T>(call: Call, work: (turns: Turns) => Promise<T>): Promise<T> {
  const { signal, end } = watchClient(call);
  const turns: Turns = { signal, run: (steps) => inSlices(steps, call) };
  try {
    return await work(turns);
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

async function inSlices<T>(steps: Generator<void, T, void>, call: Call): Promise<T> {
  const first = steps.next();
  if (first.done === true) return first.value;
  let ended: { value: T } | undefined;
  try {
    await call.services.slices.run(() => {
      if (call.client.gone) throw clientGone();
      if (call.services.now() > call.deadlineMs) throw tooLong(call);
      const step = steps.next();
      if (step.done === true) ended = step;
      return step.done !== true;
    });
  } finally {
    // Frees what the work holds, when it did not come to its end.
    steps.return(undefined as never);
  }
  if (ended === undefined) throw refusal('internal', 'Work ended before its result.');
  return ended.value;
}
