// Measures how late the event loop runs timers. Every request to this process experiences this
// delay.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
/** A read empties the histogram if it was last emptied at least this long ago. */
const WINDOW_MS = 10_000;

export interface EventLoopDelay {
  /** All three delays are in seconds and are measured since the histogram was last emptied. */
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
 * Converts nanoseconds from the histogram to seconds of delay. The histogram measures the time
 * between two ticks of its timer, so the timer's interval is subtracted. An empty histogram returns
 * NaN or -1, which become 0.
 */
function seconds(nanoseconds: number): number {
  const delay = nanoseconds / 1e9 - RESOLUTION_MS / 1e3;
  return delay > 0 && Number.isFinite(delay) ? delay : 0;
}
