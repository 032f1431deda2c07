// Runs statements on a server, all in one session.

import { type CheckAnswer, type CheckInput, HedgerowClient, type QueryOptions } from '../../client/index.ts';
import type { Times } from '../query/formats.ts';
import type { Parameters, Place, Ran, Row } from './runner.ts';

export interface ServerOptions {
  url: string;
  apiKey: string | undefined;
  session: string;
}

/** Number of rows that are passed on together. */
const BATCH_ROWS = 500;

export class ServerRunner implements Place {
  readonly #client: HedgerowClient;
  readonly #session: string;

  /** Does not contact the server. */
  constructor({ url, apiKey, session }: ServerOptions) {
    // No time limit here: the server has its own, and the user can interrupt the wait.
    this.#client = new HedgerowClient({
      url,
      timeoutMs: 0,
      readYourWrites: true,
      ...(apiKey === undefined ? {} : { apiKey }),
    });
    this.#session = session;
  }

  async run(statement: string, parameters: Parameters, signal: AbortSignal, times?: Times): Promise<Ran> {
    const options = this.#options(signal, times);
    const { columns, rows, query_plan } = await this.#client.query.run(statement, parameters, options);
    return { columns, batches: oneBatch(rows), plan: () => query_plan };
  }

  async *rows(
    statement: string,
    parameters: Parameters,
    signal: AbortSignal,
    times?: Times,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    let batch: Row[] = [];
    for await (const row of this.#client.query.rows(statement, parameters, this.#options(signal, times))) {
      batch.push(row);
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  check(input: CheckInput, signal: AbortSignal): Promise<CheckAnswer> {
    return this.#client.reasoning.check(input, { signal });
  }

  async close(): Promise<void> {}

  #options(signal: AbortSignal, times: Times | undefined): QueryOptions {
    return { signal, session: this.#session, ...(times === undefined ? {} : { times }) };
  }
}

async function* oneBatch(rows: readonly Row[]): AsyncGenerator<readonly Row[], void, undefined> {
  if (rows.length > 0) yield rows;
}
