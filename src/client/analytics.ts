// Computes measures of a table, which is treated as a hypergraph.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type { Measure, MeasureAnswer, MeasureParameters } from './types.ts';

export class Analytics {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Lists every measure with its parameters, the form of its result and its source (a paper or
   * book).
   */
  list(options?: CallOptions): Promise<Measure[]> {
    return this.#connection.json('listMeasures', {}, options);
  }

  /** Computes a measure of a table; `list` describes the parameters that go into `params`. */
  run(table: string, measure: string, params: MeasureParameters = {}, options?: CallOptions): Promise<MeasureAnswer> {
    return this.#connection.json(
      'runMeasure',
      { parameters: [table, measure], body: { params }, reads: true },
      options,
    );
  }
}
