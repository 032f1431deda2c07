// Sends operations over HTTP to the built service, and kills the service. The operations are those
// of the embedded writer. The lanes (loops that send one request at a time) run in this process,
// and an answer counts as the acknowledgement.

import { createHash } from 'node:crypto';
import { type ChildServer, startChild } from '../service/child.ts';
import type { Random } from '../support/random.ts';
import { type AnswerNames, must } from './judge.ts';
import { changedBy, edgeOf, type Ledger, type Operation, type Part } from './ledger.mjs';

const LANES = 4;
/** Maximum number of requests with an Idempotency-Key that the next run of the service repeats. */
const RETRIES = 5;
/** Number of consecutive draws of impossible operations after which a lane ends. */
const MOST_TRIES = 300;

export const HTTP_KINDS: Readonly<Record<string, number>> = {
  insert: 40,
  delete: 8,
  transaction: 12,
  createTable: 3,
  dropTable: 2,
  addColumn: 2,
  dropColumn: 2,
  putDocument: 4,
  removeDocument: 3,
  createIndex: 1,
  dropIndex: 1,
  threshold: 1,
  compact: 5,
  backup: 1,
};

interface Request {
  method: string;
  path: string;
  body: string;
  type?: string;
}

/** Returns the id of a kept answer, which the service derives from caller, request and key. */
function idOf(kept: ReadonlyMap<number, Request>, n: number): string {
  const { method, path } = kept.get(n)!;
  const [route, query = ''] = path.split('?');
  return createHash('sha256').update(`anonymous\n${method}\n${route}?${query}\nkey-${n}`).digest('base64url');
}

export class HttpLives {
  readonly #dir: string;
  readonly #ledger: Ledger;
  /** Requests of operations with an Idempotency-Key, acknowledged or not, by operation number. */
  readonly #kept = new Map<number, Request>();
  retried = 0;

  constructor(dir: string, ledger: Ledger) {
    this.#dir = dir;
    this.#ledger = ledger;
  }

  get answers(): AnswerNames {
    return {
      idOf: (n) => idOf(this.#kept, n),
      check: (n, firstId, body) => {
        if (firstId !== null && !this.#isBatch(n))
          must(
            firstIdOf(body) === firstId,
            `the kept answer of operation ${n} is ${body}, the first id was ${firstId}`,
          );
      },
      store: 'rules',
      documentOf: (name) => `rule:${name}`,
      now: () => Date.now(),
    };
  }

  #isBatch(n: number): boolean {
    return this.#kept.get(n)?.path === '/v1/batch';
  }

  /**
   * Starts the service, repeats kept requests, works for `delayMs`, then kills it. Throws if an
   * answer is wrong.
   */
  async run(random: Random, delayMs: number): Promise<void> {
    const server = await startChild({
      dir: this.#dir,
      environment: { HEDGEROW_AUTH_DISABLED: '1', HEDGEROW_API_KEY: '', HEDGEROW_MEMORY_BUDGET_MB: '16' },
    });
    const wrong: Error[] = [];
    let killed = false;
    const guard = async (work: Promise<void>) =>
      work.catch((error: Error) => {
        if (!killed) wrong.push(error);
      });
    const lanes = (async () => {
      await guard(this.#retry(server));
      await Promise.all(Array.from({ length: LANES }, () => guard(this.#lane(server, random, () => killed))));
    })();
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    killed = true;
    await server.stop('SIGKILL');
    await lanes;
    if (wrong[0] !== undefined) throw wrong[0];
  }

  async #retry(server: ChildServer): Promise<void> {
    for (const n of [...this.#ledger.answers.keys()].slice(-RETRIES)) {
      const answer = await ask(server, this.#kept.get(n)!, `key-${n}`);
      must(
        answer.status < 300 && answer.replayed,
        `operation ${n} was sent again and ${answer.replayed ? 'refused' : 'ran again'} (${answer.status})`,
      );
      this.retried++;
    }
  }

  async #lane(server: ChildServer, random: Random, over: () => boolean): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES && !over(); tries++) {
      const operation = this.#ledger.plan(random, HTTP_KINDS);
      if (operation === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        continue;
      }
      tries = 0;
      this.#ledger.begin(operation);
      const request = requestOf(operation);
      if (operation.keyed === true) this.#kept.set(operation.n, request);
      const answer = await ask(server, request, operation.keyed === true ? `key-${operation.n}` : undefined);
      const refused = answer.status >= 300 || answer.body.startsWith('{"committed":false');
      // A second backup at the same LSN in the same second has the same name as the first.
      if (refused && !answer.body.includes('backup_exists'))
        throw new Error(`without a fault operation ${JSON.stringify(operation)} was refused: ${answer.body}`);
      this.#ledger.apply(operation.n, [firstIdOf(answer.body)]);
    }
  }
}

function firstIdOf(body: string): number | undefined {
  const found = /"(?:first_)?id":(\d+)/.exec(body);
  return found === null ? undefined : Number(found[1]);
}

async function ask(
  { url }: ChildServer,
  { method, path, body, type = 'application/json' }: Request,
  key: string | undefined,
): Promise<{ status: number; body: string; replayed: boolean }> {
  const headers = { 'content-type': type, ...(key === undefined ? {} : { 'idempotency-key': key }) };
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body === '' ? {} : { body }) });
  return {
    status: answer.status,
    body: await answer.text(),
    replayed: answer.headers.get('idempotent-replayed') === 'true',
  };
}

function json(method: string, path: string, value?: unknown): Request {
  return { method, path, body: value === undefined ? '' : JSON.stringify(value) };
}

function flat(table: string, tag: number, old: boolean): object {
  const { properties, ...edge } = edgeOf(tag, old);
  return { table, ...edge, ...properties };
}

function rowsOf(n: number, { table, start, rows, old }: Part): object[] {
  return Array.from({ length: rows }, (_, index) => flat(table, n * 1000 + start + index, old));
}

function requestOf(operation: Operation): Request {
  const { n, kind, table = '', column = '', document = '', threshold = 0 } = operation;
  const statement = (query: string) => json('POST', '/v1/query', { query });
  switch (kind) {
    case 'insert':
      return insertOf(operation);
    case 'delete': {
      const { event_ts, members } = edgeOf(operation.tag!, operation.old!);
      return json('DELETE', '/v1/hyperedges', { table, event_ts, members });
    }
    case 'transaction':
      return batchOf(operation);
    case 'createTable':
      return json('POST', '/v1/tables', { name: table, member_tables: [] });
    case 'dropTable':
      return json('DELETE', `/v1/tables/${table}`);
    case 'addColumn':
      return statement(`ALTER TABLE ${table} ADD COLUMN ${column} INTEGER DEFAULT ${n}`);
    case 'dropColumn':
      return statement(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    case 'putDocument': {
      const rule = { if: [{ pred: 'member', args: ['?E', '?A'] }], then: { pred: 'seen', args: ['?A'] } };
      return json('POST', '/v1/rules', { id: `rule:${document}`, ...rule });
    }
    case 'removeDocument':
      return json('DELETE', `/v1/rules/rule:${document}`);
    case 'createIndex':
      return json('POST', '/v1/indexes', { table, column: 'weight' });
    case 'dropIndex':
      return statement(`DROP INDEX ON ${table} (weight)`);
    case 'threshold':
      return json('POST', '/v1/autocompact', { table, threshold });
    case 'compact':
      return json('POST', '/v1/hyperedges/compact', table === '' ? {} : { table });
    case 'backup':
      return json('POST', '/v1/backup', { compact_first: n % 3 === 0 });
    default:
      throw new Error(`${kind} has no request`);
  }
}

function insertOf({ n, bulk, parts }: Operation): Request {
  const [part] = parts!;
  const rows = rowsOf(n, part!);
  if (bulk !== true) return json('POST', '/v1/hyperedges', rows[0]);
  const body = rows.map((row) => JSON.stringify(row)).join('\n');
  return { method: 'POST', path: `/v1/hyperedges?table=${part!.table}`, body, type: 'application/x-ndjson' };
}

function batchOf({ n, parts, deletes, updates }: Operation): Request {
  const inserts = parts!.flatMap((part) => rowsOf(n, part)).map((row) => ({ type: 'insert', ...row }));
  const removals = deletes!.map(({ table, tag, old }) => {
    const { event_ts, members } = edgeOf(tag, old);
    return { type: 'delete', table, event_ts, members };
  });
  const changes = updates!.map(({ table, tag }) => ({
    type: 'query',
    cypher: `UPDATE ${table} SET formation = '${changedBy(n)}' WHERE weight = ${tag}`,
  }));
  return json('POST', '/v1/batch', { operations: [...inserts, ...removals, ...changes] });
}
