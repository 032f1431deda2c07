// Runs statements and returns the answer as one value or row by row.

import type { Connection } from './connection.ts';
import type { QueryOptions } from './options.ts';
import type { CallInput } from './request.ts';
import type { QueryAnswer, QueryParameters, QueryRow } from './types.ts';

export class Query {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Runs a statement. Pass values in `parameters`, never in the text of the statement. */
  run(statement: string, parameters: QueryParameters = {}, options: QueryOptions = {}): Promise<QueryAnswer> {
    return this.#connection.json('runQuery', inputOf(statement, parameters, options), options);
  }

  /**
   * Runs a statement and yields its rows one by one, however many there are. Throws a
   * HedgerowConnectionError if the stream breaks off.
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
 * Matches the start of statements that change nothing. They can be sent again without an
 * Idempotency-Key.
 */
const READS = /^\s*(MATCH|SHOW|EXPLAIN|ANALYZE)\b/i;

function inputOf(query: string, parameters: QueryParameters, { session, times, members }: QueryOptions): CallInput {
  const shown = { ...(times === undefined ? {} : { times }), ...(members === undefined ? {} : { members }) };
  return { body: { query, parameters, ...shown }, reads: READS.test(query), session };
}
