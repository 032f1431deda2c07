// Tells the other processes that the log has a new end, so that they need not wait for their next
// poll. The notification has a connection of its own and comes after the commit: in the transaction
// of the commit it would take a lock that all commits with notifications share. It may be lost.

import type { SharedConnection } from './shared-connection.ts';

export class Notifier {
  readonly #connection: SharedConnection;
  readonly #channel: string;
  #isSending = false;
  #isWanted = false;

  constructor(connection: SharedConnection, channel: string) {
    this.#connection = connection;
    this.#channel = channel;
  }

  /** Notifies the others. While one notification is being sent, all others become one. */
  notify(): void {
    this.#isWanted = true;
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#connection
        .get()
        .then((connection) => connection.run("SELECT pg_notify($1, '')", [this.#channel]))
        // The others poll.
        .catch(() => undefined);
    }
    this.#isSending = false;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
