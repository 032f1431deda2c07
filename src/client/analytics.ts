// Measures of a table as a hypergraph.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type { Measure, MeasureAnswer, MeasureParameters } from './types.ts';

export class Analytics {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Every measure with its parameters, the form of its result and its source. */
  list(options?: CallOptions): Promise<Measure[]> {
    return this.#connection.json('listMeasures', {}, options);
  }

  /** Computes one; `params` as `list` describes them. */
  run(table: string, measure: string, params: MeasureParameters = {}, options?: CallOptions): Promise<MeasureAnswer> {
    return this.#connection.json(
      'runMeasure',
      { parameters: [table, measure], body: { params }, reads: true },
      options,
    );
  }
}
