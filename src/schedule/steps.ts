// Long work as a generator of bounded steps, so that its driver can check a deadline, a cancel flag
// or other work between two steps.

/**
 * Each step ends after a bounded number of rows, arcs or bytes (not after a time), a few
 * milliseconds at most. The step yields the fraction of the work done, from 0 to 1 and never
 * decreasing, or undefined if that is not known. The result is the generator's return value. To
 * abandon the work, call `return()`: the generator's `finally` blocks then free its memory and
 * handles.
 */
export type Steps<T> = Generator<number | undefined, T, void>;

/** Runs all steps at once. */
export function finish<T>(steps: Generator<unknown, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Runs the steps until `untilUs` on the clock `nowUs`, at least one. Returns their value, or
 * undefined if they are not at the end.
 */
export function runUntil<T>(
  steps: Generator<unknown, T, void>,
  nowUs: () => number,
  untilUs: number,
): { readonly value: T } | undefined {
  do {
    const step = steps.next();
    if (step.done === true) return { value: step.value };
  } while (nowUs() < untilUs);
  return undefined;
}

/** Does the same as `runUntil`, but abandons steps that are not at the end. */
export function finishBy<T>(
  steps: Generator<unknown, T, void>,
  nowUs: () => number,
  untilUs: number,
): { readonly value: T } | undefined {
  const finished = runUntil(steps, nowUs, untilUs);
  if (finished === undefined) steps.return(undefined as T);
  return finished;
}

/** Runs the work as part of a larger one: maps its progress 0..1 to begin..end. */
export function* within<T>(steps: Steps<T>, begin: number, end: number): Steps<T> {
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      yield step.value === undefined ? undefined : begin + (end - begin) * step.value;
    }
  } finally {
    steps.return(undefined as T);
  }
}

/**
 * Runs `work` on [0, count) in slices of at most `slice` items, one step per slice. If count is 0,
 * there is no step.
 */
export function* slices(count: number, slice: number, work: (from: number, to: number) => void): Steps<void> {
  for (let from = 0; from < count; from += slice) {
    const to = Math.min(count, from + slice);
    work(from, to);
    yield to / count;
  }
}

/**
 * Advances a cursor from 0 to `end`, one call of `next` per step. `next` returns the new cursor (a
 * u32, possibly as a signed number).
 */
export function* forward(end: number, next: (from: number) => number): Steps<void> {
  for (let at = 0; at < end; ) {
    at = next(at) >>> 0;
    yield at / end;
  }
}

/** Time that steps may take between two pauses. */
const SLICE_US = 3000;

export interface Pauses {
  /** Microseconds of a monotonic clock. */
  readonly nowUs: () => number;
  /** Resolves after other work has had a turn (Scheduler.pause). */
  readonly pause: () => Promise<void>;
}

/** Runs the steps in slices of a few milliseconds, with a pause after each slice. */
export async function inSlices<T>(steps: Steps<T>, { nowUs, pause }: Pauses): Promise<T> {
  for (;;) {
    const endUs = nowUs() + SLICE_US;
    do {
      const step = steps.next();
      if (step.done === true) return step.value;
    } while (nowUs() < endUs);
    await pause();
  }
}
