// Runs work that is divided into steps, checking the progress that the steps report.

import { expect } from 'vitest';
import type { Steps } from '../../../src/core/index.ts';

/** Runs all steps. Throws unless the progress they yield is a fraction that never decreases. */
export function watched<T>(steps: Steps<T>): T {
  let before = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const done = step.value;
    if (done === undefined) throw new Error('a step does not say how much is done');
    expect(done).toBeGreaterThanOrEqual(before);
    expect(done).toBeLessThanOrEqual(1);
    before = done;
  }
}
