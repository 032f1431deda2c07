// A connection to the PostgreSQL server that stores the log, and the choice of the server among the
// addresses of a DSN.
//
// A DSN may name several servers (`postgres://user@one:5432,two:5432/db`): a connection goes to the
// first that takes writes. A server that was promoted has a higher timeline than the one before it.
// Once a connection has seen a timeline, later connections to a server with a lower one are
// refused, so that a former primary that still runs is not taken for the present one.

import { HedgerowError } from '../errors.ts';
import pg from '../postgres/driver.ts';

/** A row: the text of each column, null for NULL. */
export type Row = readonly (string | null)[];

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, where `host:port` may be a list. */
  readonly dsn: string;
  /** How long an attempt to connect to one server may take, in milliseconds; default 3000. */
  readonly connectMs?: number;
}

export interface ConnectionOptions {
  /**
   * With `wait`, a commit is confirmed when a synchronous standby has it, as the server's settings
   * say. With `local`, it is confirmed when it is on the disk of the primary: only for what may be
   * lost, such as the renewal of a lease.
   */
  readonly commits: 'wait' | 'local';
  /**
   * The connection is destroyed if a statement has no answer after this time, in milliseconds; by
   * default it waits for ever.
   */
  readonly timeoutMs?: number;
}

const CONNECT_MS = 3000;
/** PostgreSQL 15. */
const LEAST_VERSION = 150_000;

const types = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

/** The connection was lost, so it is not known what became of the running statement. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super(`the connection to PostgreSQL was lost (${(cause as Error).message})`, { cause });
    this.name = 'ConnectionLost';
  }
}

export class Postgres {
  readonly #addresses: readonly string[];
  readonly #connectMs: number;
  /** Highest timeline that a server has had. */
  #timeline = 0;
  /** Index of the address that was reached last. */
  #current = 0;

  constructor({ dsn, connectMs = CONNECT_MS }: PostgresOptions) {
    this.#addresses = addressesOf(dsn);
    this.#connectMs = connectMs;
  }

  /**
   * Connects to the first server that takes writes, beginning with the one that was reached last.
   * Rejects with `invalid_input` if a server has settings or a version that cannot be used, and
   * with `ConnectionLost` if none can be reached.
   */
  async connect(options: ConnectionOptions): Promise<Connection> {
    let failure: unknown;
    for (let count = 0; count < this.#addresses.length; count++) {
      const place = (this.#current + count) % this.#addresses.length;
      try {
        const connection = await this.#connectTo(this.#addresses[place]!, options);
        this.#current = place;
        return connection;
      } catch (error) {
        if (error instanceof HedgerowError) throw error;
        failure ??= error;
      }
    }
    throw failure instanceof ConnectionLost ? failure : new ConnectionLost(failure);
  }

  async #connectTo(address: string, { commits, timeoutMs }: ConnectionOptions): Promise<Connection> {
    const connection = await Connection.open(address, this.#connectMs);
    try {
      const [row] = await connection.run(
        `SELECT current_setting('server_version_num'), pg_is_in_recovery(),
          CASE WHEN pg_is_in_recovery() THEN NULL ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`,
        [],
        this.#connectMs,
      );
      const [version, isStandby, timeline] = row!;
      if (Number(version) < LEAST_VERSION)
        throw new HedgerowError(
          'invalid_input',
          `The log needs PostgreSQL 15 or later; the server has version ${version}. Upgrade it.`,
          { fields: { settings: ['logDsn'] } },
        );
      if (isStandby === 't') throw new Error('the server is a standby, which takes no writes');
      const ownTimeline = Number.parseInt(timeline!, 16);
      if (ownTimeline < this.#timeline)
        throw new Error(`the server is a former primary: its timeline is ${ownTimeline}, not ${this.#timeline}`);
      this.#timeline = ownTimeline;
      if (commits === 'local') await connection.run('SET synchronous_commit = local', [], this.#connectMs);
      connection.timeoutMs = timeoutMs;
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }
}

/** Returns an address for each server that the DSN names. */
function addressesOf(dsn: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^(\w+:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/.exec(dsn) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => `${before}${host}${after}`) : [dsn];
}

/** One connection. Statements run one after another, in the order of the calls. */
export class Connection {
  readonly #client: pg.Client;
  #lost: ConnectionLost | undefined;
  #isBusy = false;
  /** Resolves when the statements so far have ended. */
  #last: Promise<unknown> = Promise.resolve();
  /** Rejects the running statement. */
  #interrupt: ((error: ConnectionLost) => void) | undefined;
  /** Called with each notification. */
  onNotification: (channel: string, payload: string) => void = () => undefined;
  /** See `ConnectionOptions`. */
  timeoutMs: number | undefined;
  /** Number of warnings that the server has sent. */
  warnings = 0;

  private constructor(client: pg.Client) {
    this.#client = client;
    client.on('error', (error) => this.#end(error));
    client.on('end', () => this.#end(new Error('it was closed')));
    client.on('notification', ({ channel, payload = '' }) => this.onNotification(channel, payload));
    client.on('notice', ({ code = '' }) => {
      if (!code.startsWith('00')) this.warnings++;
    });
  }

  /** Rejects with the error of the driver. */
  static async open(address: string, connectMs: number): Promise<Connection> {
    const client = new pg.Client({
      connectionString: address,
      connectionTimeoutMillis: connectMs,
      application_name: 'hedgerow log',
      keepAlive: true,
      keepAliveInitialDelayMillis: 5000,
    });
    const connection = new Connection(client);
    await client.connect();
    return connection;
  }

  /** The process of the server that serves this connection. */
  get pid(): number {
    return (this.#client as pg.Client & { processID: number }).processID;
  }

  /** Whether a statement waits for its answer. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  get isOpen(): boolean {
    return this.#lost === undefined;
  }

  /**
   * Runs one statement; resolves with its rows, or rejects with the error of the server
   * (`sqlStateOf`), or with `ConnectionLost`. If there is no answer after `timeoutMs`, the
   * connection is destroyed.
   */
  async run(sql: string, values: readonly unknown[] = [], timeoutMs = this.timeoutMs): Promise<Row[]> {
    const before = this.#last;
    let done: (value?: unknown) => void = () => undefined;
    this.#last = new Promise((resolve) => {
      done = resolve;
    });
    try {
      await before;
      this.#isBusy = true;
      return await this.#runNow(sql, values, timeoutMs);
    } finally {
      this.#isBusy = false;
      done();
    }
  }

  async #runNow(sql: string, values: readonly unknown[], timeoutMs: number | undefined): Promise<Row[]> {
    if (this.#lost !== undefined) throw this.#lost;
    const late = () => this.destroy(new Error(`no answer came within ${timeoutMs} ms`));
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    try {
      const result = await new Promise<pg.QueryArrayResult>((resolve, reject) => {
        this.#interrupt = reject;
        this.#client.query({ text: sql, values: [...values], rowMode: 'array', types }).then(resolve, reject);
      });
      return result.rows as Row[];
    } catch (error) {
      if (!isOfConnection(error)) throw error;
      this.destroy(error);
      throw this.#lost;
    } finally {
      clearTimeout(timer);
      this.#interrupt = undefined;
    }
  }

  /**
   * Makes a commit of its own that waits for the standby. After it, the standby has everything that
   * this session sees: a primary that was restarted also shows commits for which nobody has waited,
   * and which are lost if the standby is promoted. Rejects with `ConnectionLost`, also if the wait
   * was cancelled.
   */
  async confirm(): Promise<void> {
    const { warnings } = this;
    await this.run('BEGIN');
    await this.run('SET LOCAL synchronous_commit = on');
    // A commit waits only if its transaction has written something.
    await this.run("SELECT pg_logical_emit_message(true, 'hedgerow', '')");
    await this.run('COMMIT');
    if (this.warnings === warnings) return;
    this.destroy(new Error('the wait for the standby was cancelled'));
    throw this.#lost!;
  }

  /** Closes the connection after its running statements. Never rejects. */
  async close(): Promise<void> {
    if (this.#lost !== undefined) return;
    const timer = setTimeout(() => this.destroy(), CONNECT_MS);
    await this.#client.end().catch(() => undefined);
    clearTimeout(timer);
    this.#end(new Error('it was closed'));
  }

  /** Ends the connection at once. The outcome of a running statement is then unknown. */
  destroy(reason: unknown = new Error('it was ended')): void {
    this.#end(reason);
    const { stream } = (this.#client as unknown as { connection: { stream: { destroy(): void } } }).connection;
    stream.destroy();
  }

  #end(reason: unknown): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason instanceof ConnectionLost ? reason : new ConnectionLost(reason);
    this.#interrupt?.(this.#lost);
  }
}

/** Returns the SQLSTATE of an error that the server has sent; undefined for other errors. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

/**
 * Whether an error ends the connection, so that the outcome of the statement is unknown. Class 08
 * are connection errors, 57P01 to 57P05 are shutdowns.
 */
function isOfConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || /^(08|57P0[1-5])/.test(state);
}
