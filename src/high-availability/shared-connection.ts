// A connection that is opened when it is first needed, and again after it was lost.

import type { Connection, ConnectionOptions, Postgres } from './connection.ts';

export class SharedConnection {
  readonly #postgres: Postgres;
  readonly #options: ConnectionOptions;
  #opening: Promise<Connection> | undefined;
  #isClosed = false;

  constructor(postgres: Postgres, options: ConnectionOptions) {
    this.#postgres = postgres;
    this.#options = options;
  }

  /** Resolves with an open connection. Rejects like `Postgres.connect`. */
  async get(): Promise<Connection> {
    const opening = this.#opening;
    const present = await opening?.catch(() => undefined);
    if (present?.isOpen === true) return present;
    // Another caller may have begun to connect meanwhile.
    if (this.#opening === opening) this.#opening = this.#postgres.connect(this.#options);
    const connection = await this.#opening!;
    if (this.#isClosed) await connection.close();
    return connection;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = await this.#opening?.catch(() => undefined);
    await connection?.close();
  }
}
