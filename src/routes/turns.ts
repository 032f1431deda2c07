// Long work of a request beside other requests: in slices, until its deadline, as long as its client is there.

import { refusal } from '../errors.ts';
import type { Call } from '../http/route.ts';
import type { Turns } from '../rag/index.ts';

/** Whether the client is still there is looked at so often while others work. */
const LOOK_MS = 100;

/** Calls `work` with turns that end with it. */
export async function inTurns<T>(call: Call, work: (turns: Turns) => Promise<T>): Promise<T> {
  const leaving = new AbortController();
  const gone = () => refusal('timeout', 'The client has gone.');
  const look = setInterval(() => {
    if (call.client.gone) leaving.abort(gone());
  }, LOOK_MS);
  const turns: Turns = {
    signal: leaving.signal,
    run: (steps) => inSlices(steps, call, gone),
  };
  try {
    return await work(turns);
  } finally {
    clearInterval(look);
  }
}

function tooLong({ services }: Call): Error {
  return refusal(
    'timeout',
    `The answer had not begun after ${services.queryTimeoutMs} ms. Narrow the rules, or the edges they see (top_k, a window, nodes).`,
  );
}

async function inSlices<T>(steps: Generator<void, T, void>, call: Call, gone: () => Error): Promise<T> {
  const first = steps.next();
  if (first.done === true) return first.value;
  let ended: { value: T } | undefined;
  try {
    await call.services.slices.run(() => {
      if (call.client.gone) throw gone();
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
