// Sends the few requests that commands make to a running server, and retries while the server
// starts or is busy.

import type { CreatedKey, KeyItem } from '../../../access/key-record.ts';
import type { IndexItem, NodeTableItem, TableItem, TextIndexItem } from '../../../engine/index.ts';

/** What a new table has beside its name. */
export interface NewTable {
  readonly columns?: readonly { name: string; type: string }[] | undefined;
  readonly memberTables?: readonly string[] | undefined;
  readonly intervals?: boolean | undefined;
  readonly roles?: readonly string[] | undefined;
}

export interface ServerAddress {
  /** Such as `http://127.0.0.1:8000`, without a path. */
  url: string;
  apiKey: string | undefined;
}

/** An answer with status 400 or higher. */
export class ServerRefusal extends Error {
  readonly status: number;
  readonly code: string;
  /** 1-based line of the request body, when the fault is in one line. */
  readonly line: number | undefined;

  constructor(status: number, code: string, detail: string, line: number | undefined) {
    super(detail);
    this.status = status;
    this.code = code;
    this.line = line;
  }
}

/** No answer arrived, so it is unknown whether the request was carried out. */
export class NoAnswer extends Error {}

/** Codes of temporary refusals; the same request is sent again. */
const PASSING_CODES: ReadonlySet<string> = new Set(['starting', 'overloaded', 'rate_limited', 'too_far_behind']);
/** How long temporary refusals are retried. */
const PATIENCE_MS = 60_000;
/** Error codes which mean that the server's certificate is not trusted on this machine. */
const UNTRUSTED = /_CERT|_LEAF_SIGNATURE/;
const NDJSON = 'application/x-ndjson';

export class ServerClient {
  readonly #address: ServerAddress;
  readonly #now: () => number;

  constructor(address: ServerAddress, now: () => number) {
    this.#address = address;
    this.#now = now;
  }

  get url(): string {
    return this.#address.url;
  }

  /**
   * Lists the tables. This is usually the first request of a command, so if no server answers, its
   * error explains how to start one.
   */
  async tables(withDefaults = false): Promise<TableItem[]> {
    try {
      return (await this.#request('GET', `/v1/tables${withDefaults ? '?defaults=true' : ''}`)) as TableItem[];
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw new NoAnswer(`${error.message} Start it with hedgerow serve, or name a directory with --data DIR.`);
    }
  }

  createTable(
    name: string,
    bucketSeconds: number | undefined,
    { columns, memberTables = [], intervals = false, roles = [] }: NewTable = {},
  ): Promise<TableItem> {
    const body = {
      name,
      ...(memberTables.length === 0 ? {} : { member_tables: memberTables }),
      ...(bucketSeconds === undefined ? {} : { bucket_seconds: bucketSeconds }),
      ...(columns === undefined ? {} : { columns }),
      ...(intervals ? { intervals } : {}),
      ...(roles.length === 0 ? {} : { roles }),
    };
    return this.#request('POST', '/v1/tables', JSON.stringify(body)) as Promise<TableItem>;
  }

  /** Returns the node tables; none from a server of a version that has no such route. */
  async nodeTables(): Promise<NodeTableItem[]> {
    try {
      return (await this.#request('GET', '/v1/node-tables')) as NodeTableItem[];
    } catch (error) {
      if (error instanceof ServerRefusal && error.status === 404) return [];
      throw error;
    }
  }

  createNodeTable(input: Pick<NodeTableItem, 'name' | 'key'>): Promise<NodeTableItem> {
    return this.#request('POST', '/v1/node-tables', JSON.stringify(input)) as Promise<NodeTableItem>;
  }

  /** Inserts or replaces the nodes of all lines of the body or of none; see `insertLines`. */
  putNodes(table: string, body: Uint8Array, key?: string): Promise<{ inserted: number; replaced: number }> {
    const path = `/v1/nodes/${encodeURIComponent(table)}`;
    return this.#request('POST', path, body, NDJSON, key) as Promise<{ inserted: number; replaced: number }>;
  }

  /**
   * Inserts all lines of the body or none, and resolves with their number. With a key the lines are
   * inserted only once, however often the request is sent.
   */
  async insertLines(table: string, body: Uint8Array, key?: string): Promise<number> {
    const path = `/v1/hyperedges?table=${encodeURIComponent(table)}`;
    const answer = await this.#request('POST', path, body, NDJSON, key);
    return (answer as { inserted: number }).inserted;
  }

  async addColumn(
    table: string,
    { name, type }: { name: string; type: string },
    what: 'TABLE' | 'NODE TABLE' = 'TABLE',
  ): Promise<void> {
    const query = `ALTER ${what} ${table} ADD COLUMN ${name} ${type}`;
    await this.#request('POST', '/v1/query', JSON.stringify({ query }));
  }

  indexes(): Promise<(IndexItem | TextIndexItem)[]> {
    return this.#request('GET', '/v1/indexes') as Promise<(IndexItem | TextIndexItem)[]>;
  }

  /** Returns the complete rules, fetched one after another. */
  async rules(): Promise<Record<string, unknown>[]> {
    const { rules } = (await this.#request('GET', '/v1/rules')) as { rules: { id: string }[] };
    return this.#each('/v1/rules', rules);
  }

  async graphs(): Promise<Record<string, unknown>[]> {
    const { graphs } = (await this.#request('GET', '/v1/virtual/graphs')) as { graphs: { id: string }[] };
    return this.#each('/v1/virtual/graphs', graphs);
  }

  async #each(path: string, items: readonly { id: string }[]): Promise<Record<string, unknown>[]> {
    const all: Record<string, unknown>[] = [];
    for (const { id } of items)
      all.push((await this.#request('GET', `${path}/${encodeURIComponent(id)}`)) as Record<string, unknown>);
    return all;
  }

  /** Sends a POST request and ignores the body of the answer. */
  async post(path: string, body: object): Promise<void> {
    await this.#request('POST', path, JSON.stringify(body));
  }

  /** Returns the JSON answer to a GET request. */
  get(path: string): Promise<unknown> {
    return this.#request('GET', path);
  }

  /** Sends lines of JSON and ignores the body of the answer. */
  async postLines(path: string, lines: string): Promise<void> {
    await this.#request('POST', path, lines, NDJSON);
  }

  async patch(path: string, body: object): Promise<void> {
    await this.#request('PATCH', path, JSON.stringify(body));
  }

  async compact(table: string): Promise<void> {
    await this.#request('POST', '/v1/hyperedges/compact', JSON.stringify({ table }));
  }

  listKeys(): Promise<KeyItem[]> {
    return this.#request('GET', '/v1/keys') as Promise<KeyItem[]>;
  }

  createKey(input: {
    role: string;
    description?: string | undefined;
    expires_days?: number | undefined;
  }): Promise<CreatedKey> {
    return this.#request('POST', '/v1/keys', JSON.stringify(input)) as Promise<CreatedKey>;
  }

  async revokeKey(keyId: string): Promise<void> {
    await this.#request('DELETE', `/v1/keys/${encodeURIComponent(keyId)}`);
  }

  /**
   * Returns the JSON of a successful answer. Throws ServerRefusal, NoAnswer, or an Error if the
   * answer is not JSON.
   */
  async #request(
    method: string,
    path: string,
    body?: string | Uint8Array,
    type: string = 'application/json',
    key?: string,
  ): Promise<unknown> {
    const giveUpMs = this.#now() + PATIENCE_MS;
    for (;;) {
      const response = await this.#send(method, path, body, type, key);
      const text = await this.#answered(() => response.text());
      if (response.ok) return this.#parsed(text);
      const refusal = refusalOf(response.status, text);
      const waitMs = Math.max(0.1, Number(response.headers.get('retry-after')) || 1) * 1000;
      const isSafe = method === 'GET' || key !== undefined;
      if (!(passes(refusal) || (isSafe && isUncertain(refusal))) || this.#now() + waitMs > giveUpMs) throw refusal;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  #send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    type: string,
    key: string | undefined,
  ): Promise<Response> {
    const { url, apiKey } = this.#address;
    return this.#answered(() =>
      fetch(url + path, {
        method,
        // The answer of a follower says where its leader is; the key is not sent there.
        redirect: 'manual',
        headers: {
          ...(body === undefined ? {} : { 'content-type': type }),
          ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> | string }),
      }),
    );
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`The server at ${this.url} is not a Hedgerow server.`);
    }
  }

  async #answered<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      const cause = (error as { cause?: { message?: string; code?: string } }).cause;
      const why = cause?.code ?? cause?.message ?? (error as Error).message;
      const advice = UNTRUSTED.test(why) ? ' Name the file of its authority in NODE_EXTRA_CA_CERTS.' : '';
      throw new NoAnswer(`No answer from ${this.url} (${why}).${advice}`, { cause: error });
    }
  }
}

/**
 * Returns whether a refusal is temporary. That includes a conflict with a request that a killed
 * import sent and that is still running.
 */
function passes({ code, message }: ServerRefusal): boolean {
  return PASSING_CODES.has(code) || (code === 'idempotency_conflict' && message.includes('still running'));
}

/**
 * Returns whether the answer comes from a proxy, or a follower, that cannot pass the request on at
 * the moment: it may have been carried out.
 */
function isUncertain({ status, code }: ServerRefusal): boolean {
  return code === 'leader_unavailable' || (code === '' && [429, 502, 503, 504].includes(status));
}

export function refusalOf(status: number, text: string): ServerRefusal {
  let body: { detail?: unknown; code?: unknown; line?: unknown } = {};
  try {
    body = JSON.parse(text);
  } catch {
    // Not an answer of this service; its text is shown unchanged.
  }
  const detail =
    typeof body?.detail === 'string' ? body.detail : `status ${status}: ${text.slice(0, 200) || 'no text'}`;
  const code = typeof body?.code === 'string' ? body.code : '';
  const advice = status === 401 ? ' Give a valid key with --api-key, or in HEDGEROW_API_KEY.' : '';
  return new ServerRefusal(status, code, detail + advice, typeof body?.line === 'number' ? body.line : undefined);
}
