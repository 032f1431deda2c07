// A server with its own database and only the route that the statement commands call.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { errorReply } from '../../src/http/error-reply.ts';
import { isoValues } from '../../src/query/executor/values/iso-values.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

export class StatementServer {
  readonly url: string;
  readonly database: Database;
  readonly requests: { session: string; query: string; key: string | undefined; parameters: unknown }[] = [];
  /** Called when a request was aborted before its answer. */
  gone: () => void = () => {};
  /** Awaited before a statement runs. */
  hold: Promise<void> = Promise.resolve();
  readonly #server: Server;
  readonly #statements: Statements;

  private constructor(server: Server, database: Database) {
    this.#server = server;
    this.database = database;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#statements = new Statements({
      database,
      now: () => Date.now(),
      nowUs: () => performance.now() * 1000,
      newId: randomUUID,
      transactionIdleSeconds: 30,
      copyRoot: undefined,
      fs: nodeFs,
    });
    server.on('request', (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<StatementServer> {
    const database = await openDatabase({
      dir: mkdtempSync(join(tmpdir(), 'hedgerow-statements-')),
      memoryBudgetMb: 64,
    });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new StatementServer(server, database);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) this.gone();
    });
    try {
      const { query, parameters, times } = JSON.parse(await text(request));
      const session = String(request.headers['x-session-id']);
      this.requests.push({ session, query, parameters, key: request.headers['idempotency-key'] as string | undefined });
      await this.hold;
      const slices = async (step: () => boolean) => {
        while (step()) await new Promise((resolve) => setImmediate(resolve));
      };
      const result = await this.#statements.execute(this.#statements.prepare(query), { parameters, session, slices });
      const written = times === 'iso' ? isoValues(result.forms) : [];
      const rows: Record<string, unknown>[] = [];
      for (const chunk of result.steps) {
        for (let row = 0; row < (chunk?.count ?? 0); row++)
          rows.push(
            Object.fromEntries(
              result.columns.map((name, place) => [
                name,
                written[place]?.(valueAt(chunk!.items[place]!, row)) ?? valueAt(chunk!.items[place]!, row),
              ]),
            ),
          );
      }
      if (request.headers.accept === 'application/x-ndjson')
        response.end(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      else
        response.end(
          JSON.stringify({ columns: result.columns, rows, num_tuples: rows.length, query_plan: result.plan() }),
        );
    } catch (error) {
      const { status, body } = errorReply(error, 'r');
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    this.#statements.close();
    const { dir } = this.database;
    await this.database.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
