// Three servers that share a log in PostgreSQL: a primary with a synchronous standby, which each
// server reaches through proxies of its own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_KEY, type ChildServer, startChild } from '../service/child.ts';
import { startPostgres, type TestPostgres, type TestStandby } from '../support/postgres.ts';
import { newSchema, runIn } from '../support/postgres-log.ts';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/** A primary and its standby. They serve several runs, each in a schema, until one is promoted. */
export interface Pair {
  readonly primary: TestPostgres;
  readonly standby: TestStandby;
  stop(): Promise<void>;
}

/** Resolves with undefined if PostgreSQL is missing; the reason was printed. */
export async function startPair(): Promise<Pair | undefined> {
  const primary = await startPostgres({ settings: ['max_connections=100'] });
  if (primary === undefined) return undefined;
  const standby = await primary.standby();
  return {
    primary,
    standby,
    async stop() {
      await standby.stop();
      await primary.stop();
    },
  };
}

const SERVERS = 3;

export class Cluster {
  readonly pair: Pair;
  readonly servers: ChildServer[] = [];
  /** Address of the schema, past the proxies. */
  readonly #direct: string;
  readonly #folder: string;
  /** By server: to the primary, to the standby. */
  readonly #proxies: [TcpProxy, TcpProxy][];
  #isPromoted = false;

  private constructor(pair: Pair, direct: string, folder: string, proxies: [TcpProxy, TcpProxy][]) {
    this.pair = pair;
    this.#direct = direct;
    this.#folder = folder;
    this.#proxies = proxies;
  }

  static async start(pair: Pair): Promise<Cluster> {
    const direct = await newSchema(pair.primary);
    const folder = await mkdtemp(join(tmpdir(), 'hedgerow-ha-'));
    const proxies: [TcpProxy, TcpProxy][] = [];
    for (let count = 0; count < SERVERS; count++)
      proxies.push([await startProxy(pair.primary.port), await startProxy(pair.standby.port)]);
    const cluster = new Cluster(pair, direct, folder, proxies);
    for (let index = 0; index < SERVERS; index++) cluster.servers.push(await cluster.#launch(index));
    return cluster;
  }

  #launch(index: number): Promise<ChildServer> {
    const [first, second] = this.#proxies[index]!;
    const host = `127.0.0.1:${this.pair.primary.port}`;
    const dsn = this.#direct.replace(host, `127.0.0.1:${first.port},127.0.0.1:${second.port}`);
    return startChild({
      dir: join(this.#folder, String(index)),
      environment: { HEDGEROW_LOG: 'postgres', HEDGEROW_LOG_DSN: dsn, HEDGEROW_API_KEY: ADMIN_KEY },
    });
  }

  /** Runs a statement at the present primary. */
  run(sql: string): ReturnType<typeof runIn> {
    const { primary, standby } = this.pair;
    return runIn(this.#isPromoted ? this.#direct.replace(`:${primary.port}/`, `:${standby.port}/`) : this.#direct, sql);
  }

  /** Resolves with the index of the server that leads. */
  async leader(): Promise<number> {
    for (;;) {
      const rows = await this.run('SELECT url FROM hedgerow_lease WHERE expires_at > clock_timestamp()');
      const index = this.servers.findIndex(({ url }) => url === rows[0]?.[0]);
      if (index >= 0) return index;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  proxiesOf(index: number): readonly TcpProxy[] {
    return this.#proxies[index]!;
  }

  /** Starts a server again, in its directory. */
  async restart(index: number): Promise<void> {
    this.servers[index] = await this.#launch(index);
  }

  /** Kills the primary and promotes the standby. */
  async promote(): Promise<void> {
    await this.pair.primary.kill();
    await this.pair.standby.promote();
    this.#isPromoted = true;
  }

  async stop(): Promise<void> {
    for (const server of this.servers) if (server.ended === undefined) await server.stop();
    for (const proxy of this.#proxies.flat()) proxy.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
