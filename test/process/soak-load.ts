// Puts a mixed load on the service over HTTP. Parallel lanes insert, delete, query, leave cursors
// and transactions open, compact with a TTL, and make backups.

import { rmSync } from 'node:fs';
import { Random } from '../support/random.ts';

/** Seconds after which rows expire, so that the amount of data stays roughly constant. */
const TTL_SECONDS = 15;
const NODES = 5000;
const IDLE_TABLES = 20;
const BULK_ROWS = 400;
/**
 * Error statuses that are correct under a mixed load. They result from limits, from conflicts, and
 * from transactions that were rolled back.
 */
const EXPECTED = new Set([400, 404, 409, 429, 503]);

export interface LoadCounts {
  requests: number;
  failures: string[];
  latencies: number[];
  live: number[];
}

export class SoakLoad {
  readonly #url: string;
  readonly #random: Random;
  #over = false;
  #key = 0;
  #lanes: Promise<void>[] = [];
  /** Counts since the last sample. */
  counts: LoadCounts = newCounts();

  constructor(url: string, seed: number) {
    this.#url = url;
    this.#random = new Random(seed);
  }

  /** Creates the tables, and inserts one row into each table that will stay idle. */
  async prepare(): Promise<void> {
    for (const name of ['busy', 'other']) {
      await this.#ask('POST', '/v1/tables', { name, member_tables: [], bucket_seconds: 5, compact_threshold: 4000 });
    }
    for (let place = 0; place < IDLE_TABLES; place++) {
      await this.#ask('POST', '/v1/tables', { name: `idle${place}`, member_tables: [] });
      await this.#ask('POST', '/v1/hyperedges', { table: `idle${place}`, event_ts: 1, members: [place] });
    }
  }

  start(): void {
    const lanes: [pauseMs: number, work: () => Promise<unknown>][] = [
      [5, () => this.#insert()],
      [5, () => this.#insert()],
      [60, () => this.#bulk()],
      [20, () => this.#remove()],
      [30, () => this.#statement()],
      [30, () => this.#range()],
      [10, () => this.#lookUp()],
      [400, () => this.#idleTransaction()],
      [200, () => this.#keyed()],
      [1000, () => this.#ask('GET', '/health')],
      [4000, () => this.#compact()],
      [9000, () => this.#backUp()],
    ];
    this.#lanes = lanes.map(([pauseMs, work]) => this.#lane(pauseMs, work));
    this.#lanes.push(this.#probe());
  }

  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#lanes);
  }

  /** Returns the counts since the previous call. */
  take(): LoadCounts {
    const counts = this.counts;
    this.counts = newCounts();
    return counts;
  }

  async #lane(pauseMs: number, work: () => Promise<unknown>): Promise<void> {
    while (!this.#over) {
      await work();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #probe(): Promise<void> {
    while (!this.#over) {
      const begunMs = performance.now();
      await this.#ask('GET', '/health/live');
      this.counts.live.push(performance.now() - begunMs);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<string> {
    const begunMs = performance.now();
    this.counts.requests++;
    try {
      const answer = await fetch(`${this.#url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (answer.status >= 400 && !EXPECTED.has(answer.status))
        this.counts.failures.push(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
      return text;
    } catch (error) {
      if (!this.#over) this.counts.failures.push(`${method} ${path}: ${(error as Error).message}`);
      return '';
    } finally {
      this.counts.latencies.push(performance.now() - begunMs);
    }
  }

  #edge(): object {
    const random = this.#random;
    const members = Array.from({ length: 2 + random.below(4) }, () => random.below(NODES));
    return {
      event_ts: Math.floor(Date.now() / 1000),
      members,
      weight: random.below(1000),
      formation: `f${random.below(20)}`,
    };
  }

  #insert(): Promise<string> {
    return this.#ask('POST', '/v1/hyperedges', { table: this.#random.chance(0.7) ? 'busy' : 'other', ...this.#edge() });
  }

  #keyed(): Promise<string> {
    const again = this.#random.chance(0.3) && this.#key > 0;
    if (!again) this.#key++;
    // A retry sends the same body with the same key, and gets the kept answer.
    const body = { table: 'other', event_ts: 2_000_000_000, members: [this.#key % NODES] };
    return this.#ask('POST', '/v1/hyperedges', body, { 'idempotency-key': `soak-${this.#key}` });
  }

  #bulk(): Promise<string> {
    const lines = Array.from({ length: BULK_ROWS }, () => JSON.stringify(this.#edge())).join('\n');
    return this.#ask('POST', '/v1/hyperedges?table=busy', lines, { 'content-type': 'application/x-ndjson' });
  }

  async #remove(): Promise<void> {
    const edge = { table: 'other', event_ts: Math.floor(Date.now() / 1000), members: [this.#random.below(NODES)] };
    await this.#ask('POST', '/v1/hyperedges', edge);
    await this.#ask('DELETE', '/v1/hyperedges', edge);
  }

  #statement(): Promise<string> {
    const node = this.#random.below(NODES);
    const queries = [
      `MATCH (e:busy) WHERE ${node} IN e.members RETURN e.id, e.weight LIMIT 20`,
      'MATCH (e:busy) WHERE e.weight > 900 RETURN COUNT(*), AVG(e.weight)',
      `UPDATE other SET formation = 'u' WHERE ${node} IN members`,
      'MATCH (a:other), (b:other) WHERE shared(a, b) >= 2 AND overlaps(a, b, 1) RETURN a.id, b.id LIMIT 10',
      'SHOW TABLES',
    ];
    return this.#ask('POST', '/v1/query', { query: queries[this.#random.below(queries.length)] });
  }

  /** Asks for rows in a range of time, and leaves the cursor of the answer open. */
  #range(): Promise<string> {
    const end = Math.floor(Date.now() / 1000);
    return this.#ask(
      'GET',
      `/v1/hyperedges?table=busy&start_ts=${end - 5}&end_ts=${end}&limit=${1 + this.#random.below(200)}`,
    );
  }

  #lookUp(): Promise<string> {
    return this.#ask('GET', `/v1/hyperedges/node/${this.#random.below(NODES)}?table=busy&limit=50`);
  }

  /** Begins a transaction and leaves it idle, so that the service rolls it back. */
  async #idleTransaction(): Promise<void> {
    const session = { 'x-session-id': `s${this.#random.below(40)}` };
    await this.#ask('POST', '/v1/query', { query: 'BEGIN' }, session);
    await this.#ask(
      'POST',
      '/v1/query',
      { query: 'INSERT INTO other (event_ts, members) VALUES (1, [1, 2])' },
      session,
    );
  }

  async #compact(): Promise<void> {
    await this.#ask('POST', '/v1/hyperedges/compact', { table: 'busy', ttl_seconds: TTL_SECONDS });
    await this.#ask('POST', '/v1/hyperedges/compact', { table: 'other', ttl_seconds: TTL_SECONDS });
  }

  async #backUp(): Promise<void> {
    const text = await this.#ask('POST', '/v1/backup', {});
    const path = /"path":"([^"]+)"/.exec(text)?.[1];
    if (path !== undefined) rmSync(path, { force: true });
  }
}

function newCounts(): LoadCounts {
  return { requests: 0, failures: [], latencies: [], live: [] };
}
