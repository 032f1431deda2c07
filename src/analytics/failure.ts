// Converts the errors of measures for callers: when memory runs out, the error advises them to
// request less.

import { HedgerowError } from '../errors.ts';

const SMALLER =
  'Use a smaller window (start_ts, end_ts) or, if the measure has such parameters, a larger s, basis distinct or one source.';

/** Returns the error of a measure as its caller sees it. */
export function measureError(error: unknown): unknown {
  const isMemory =
    error instanceof HedgerowError
      ? error.code === 'overloaded'
      : error instanceof RangeError && MEMORY.test(error.message);
  if (!isMemory) return error;
  return new HedgerowError('query_too_large', `This measure needs more memory than there is. ${SMALLER}`, {
    cause: error,
  });
}

/** Messages of V8 and WebAssembly about failed allocations. */
const MEMORY =
  /allocation failed|invalid (typed )?array( buffer)? length|invalid string length|could not allocate|set maximum size/i;

/**
 * Returns the error for a caller whose thread has died. If `alone` is true, no other call was
 * running in the thread, so only this call can be the cause.
 */
export function deathError(reason: Error & { code?: unknown }, alone: boolean): HedgerowError {
  if (reason.code === 'ERR_WORKER_OUT_OF_MEMORY' && alone)
    return new HedgerowError('query_too_large', `This measure needs more memory than there is. ${SMALLER}`, {
      cause: reason,
    });
  return new HedgerowError(
    'overloaded',
    'The thread that computed this measure has ended. Try again; a new thread starts by itself.',
    {
      cause: reason,
    },
  );
}

export function timeoutError(ms: number): HedgerowError {
  return new HedgerowError('timeout', `The measure was not done after ${Math.round(ms)} ms. ${SMALLER}`);
}
