// Long work as a generator of bounded steps, so that its driver can look at a deadline, a cancel flag or other work between two of them.

/**
 * Each step ends after a bounded count of rows, arcs or bytes (no clock), at most some milliseconds, and yields the fraction of the work that is done, 0 to 1
 * and never falling, where that is known. The result is the generator's return value. To give up: call `return()`; the work's `finally` blocks free what it
 * holds.
 */
export type Steps<T> = Generator<number | undefined, T, void>;

/** Does all steps at once. */
export function finish<T>(steps: Generator<unknown, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same work as a part of a larger one: its 0 to 1 becomes `begin` to `end`. */
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

/** Does `work` on [0, count) in slices of at most `slice`, a step each; nothing at all when count is 0. */
export function* slices(count: number, slice: number, work: (from: number, to: number) => void): Steps<void> {
  for (let from = 0; from < count; from += slice) {
    const to = Math.min(count, from + slice);
    work(from, to);
    yield to / count;
  }
}

/** Calls `next` with a cursor, which gives the cursor to go on from (u32, perhaps signed), until it is at `end`: a step each. */
export function* forward(end: number, next: (from: number) => number): Steps<void> {
  for (let at = 0; at < end; ) {
    at = next(at) >>> 0;
    yield at / end;
  }
}

/** Time that steps take together between two pauses. */
const SLICE_US = 3000;

export interface Pauses {
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  /** Resolves when others have had a turn (Scheduler.pause). */
  readonly pause: () => Promise<void>;
}

/** Does the steps in slices of a few milliseconds, with a pause after each. */
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
