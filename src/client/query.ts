// Statements: run one and take its answer as one value, or row by row.

import type { Connection } from './connection.ts';
import type { QueryOptions } from './options.ts';
import type { CallInput } from './request.ts';
import type { QueryAnswer, QueryParameters, QueryRow } from './types.ts';

export class Query {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Values belong into `parameters`, never into the text of the statement. */
  run(statement: string, parameters: QueryParameters = {}, options: QueryOptions = {}): Promise<QueryAnswer> {
    return this.#connection.json('runQuery', inputOf(statement, parameters, options), options);
  }

  /**
   * The rows one by one, however many there are; throws a HedgerowConnectionError when the stream
   * breaks off.
   */
  rows(
    statement: string,
    parameters: QueryParameters = {},
    options: QueryOptions = {},
  ): AsyncGenerator<QueryRow, void, undefined> {
    return this.#connection.rows('runQuery', inputOf(statement, parameters, options), options);
  }
}

/**
 * What begins so changes nothing: it can be sent again without a mark, and its answer need not be
 * kept for that.
 */
const READS = /^\s*(MATCH|SHOW|EXPLAIN|ANALYZE)\b/i;

function inputOf(query: string, parameters: QueryParameters, { session, times }: QueryOptions): CallInput {
  return { body: { query, parameters, ...(times === undefined ? {} : { times }) }, reads: READS.test(query), session };
}
