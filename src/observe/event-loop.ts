// Measures how late the event loop runs timers: the delay that every request of this process
// experiences.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
/** The figures cover at least this long, however often they are read. */
const WINDOW_MS = 10_000;

export interface EventLoopDelay {
  /** Seconds, over the last ten seconds or since the previous scrape, whichever is longer. */
  p50: number;
  p99: number;
  max: number;
}

export class EventLoopMonitor {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #nowMs: () => number;
  #since: number;

  /** `nowMs` is monotonic. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#since = nowMs();
    this.#histogram.enable();
  }

  read(): EventLoopDelay {
    const delay = {
      p50: seconds(this.#histogram.percentile(50)),
      p99: seconds(this.#histogram.percentile(99)),
      max: seconds(this.#histogram.max),
    };
    if (this.#nowMs() - this.#since >= WINDOW_MS) {
      this.#since = this.#nowMs();
      this.#histogram.reset();
    }
    return delay;
  }

  close(): void {
    this.#histogram.disable();
  }
}

/**
 * The histogram measures the time between two ticks of its timer, so the interval itself is
 * subtracted. When it is empty, its NaN or -1 counts as no delay.
 */
function seconds(nanoseconds: number): number {
  const delay = nanoseconds / 1e9 - RESOLUTION_MS / 1e3;
  return delay > 0 && Number.isFinite(delay) ? delay : 0;
}
