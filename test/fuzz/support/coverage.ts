// Measures which code in src an input reached, from V8's block coverage. An input that makes a
// function take a new set of branches is worth keeping.

import { type Profiler, Session } from 'node:inspector';

/** Coverage since the previous call. A process can have only one instance. */
export class Coverage {
  readonly #session = new Session();
  /**
   * Sets of branches seen for single inputs and for whole batches. They are kept apart, because the
   * branches taken by a batch are not those of any single input.
   */
  readonly #seen = { one: new Set<string>(), many: new Set<string>() };

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    this.take('many');
  }

  /**
   * Returns the number of functions that took, since the last call, a set of branches never seen
   * before. `by` is `one` if a single input ran since then, and `many` if several did.
   */
  take(by: 'one' | 'many'): number {
    const seen = this.#seen[by];
    let scripts: Profiler.ScriptCoverage[] = [];
    this.#session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error;
      scripts = answer.result;
    });
    let fresh = 0;
    for (const { url, functions } of scripts) {
      if (!url.includes('/src/')) continue;
      for (const { ranges } of functions) {
        const [whole, ...blocks] = ranges;
        if (whole === undefined || whole.count === 0) continue;
        // The blocks that did not run show which branches were taken. How often they were taken is
        // ignored.
        const unused = blocks.filter((block) => block.count === 0).map((block) => block.startOffset);
        const key = `${url}:${whole.startOffset}:${unused.join()}`;
        if (seen.has(key)) continue;
        seen.add(key);
        fresh++;
      }
    }
    return fresh;
  }

  end(): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }
}
