// Long work in bounded steps: a generator that rests between two of them, run at once or with turns of the event loop in between.

/** Each step takes a fraction of a millisecond. */
export type Steps<T> = Generator<void, T, void>;

/** All steps in one go. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Time that steps take together before others have a turn. */
const SLICE_US = 3000;

export interface Pauses {
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  /** Resolves when others have had a turn. */
  readonly pause: () => Promise<void>;
}

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
