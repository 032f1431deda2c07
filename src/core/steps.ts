// Long work in steps of at most about 5 ms, so that whoever drives it can look at a cancel flag, a deadline or other work in between.

/**
 * Work in steps. Each step ends after a bounded count of incidences or arcs (no clock) and yields the fraction done so far, 0 to 1, never
 * falling. The result is the generator's return value. To give up: call `return()`; the work's `finally` blocks free its scratch memory.
 */
export type Steps<T> = Generator<number, T, void>;

/** Does all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same work as a part of a larger one: its 0 to 1 becomes `begin` to `end`. */
export function* within<T>(steps: Steps<T>, begin: number, end: number): Steps<T> {
  try {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      yield begin + (end - begin) * step.value;
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
