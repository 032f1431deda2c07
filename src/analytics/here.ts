// Computes measures of small tables in the calling thread, in small steps. A computation that takes
// too long is abandoned, so that a worker thread can run it instead.

import type { CoreModule } from '../core/index.ts';
import type { EdgeRead } from '../engine/index.ts';
import type { Scheduler, Watch } from '../schedule/scheduler.ts';
import { Instances } from './cache.ts';
import { ShapeChunks } from './chunks.ts';
import type { Direction } from './directed.ts';
import { measureError } from './failure.ts';
import type { Measure } from './measure.ts';
import type { ParameterValues } from './parameters.ts';
import { WindowProjections } from './projections.ts';
import { marksOf } from './result-text.ts';
import type { ThreadResult } from './thread.ts';

export interface HereOptions {
  scheduler: Scheduler;
  module: CoreModule;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  moveAfterMs: number;
}

/** Thrown to abandon a computation that a worker thread will repeat. */
const TOO_LONG = Symbol('too long');

export class Here {
  readonly #options: HereOptions;
  readonly #instances: Instances;

  constructor(options: HereOptions) {
    this.#options = options;
    this.#instances = new Instances(options.module);
  }

  /**
   * Computes the measure and releases the read. If the work is too large for this thread, resolves
   * to undefined and leaves the read usable. Rejects with the error of the measure or the signal's
   * reason, and then also releases the read.
   */
  async run(
    measure: Measure,
    params: ParameterValues,
    direction: Direction | undefined,
    read: EdgeRead,
    isNamed: boolean,
    mostMembers: number,
    signal: AbortSignal,
  ): Promise<ThreadResult | undefined> {
    if (read.mostRows > mostMembers) return undefined;
    const { scheduler, now, moveAfterMs } = this.#options;
    const moveAtMs = now() + moveAfterMs;
    const watch: Watch = {
      look: () => {
        signal.throwIfAborted();
        if (now() > moveAtMs) throw TOO_LONG;
      },
    };
    const core = this.#instances.take();
    try {
      const columns = await scheduler.drive('measure', read.here(mostMembers), watch);
      if (columns === undefined) return undefined;
      const projections = new WindowProjections(core, columns, read.bucketSeconds);
      const result = await scheduler.drive(
        'measure',
        measure.run({ projections, direction, nowMs: now }, params),
        watch,
      );
      const { shape, definition, basis } = result;
      read.release();
      // Triples are generated on demand, so their instance is still in use after this function
      // returns.
      if (shape.kind !== 'triples') this.#instances.give(core);
      return { definition, basis, marks: marksOf(shape, isNamed), chunks: new ShapeChunks(shape, isNamed, now) };
    } catch (error) {
      if (error === TOO_LONG) return undefined;
      read.release();
      throw measureError(error);
    }
  }
}
