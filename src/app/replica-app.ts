// The database behind a service whose log is in PostgreSQL: it follows the log or leads, and is
// opened again when it has lost the lease.

import { resolve } from 'node:path';
import type { KeyStore } from '../access/keys.ts';
import type { Database } from '../engine/index.ts';
import { type Election, Replica } from '../high-availability/index.ts';
import { MEGABYTE } from '../limits.ts';
import type { CursorRegistry, Leader, Rooms, Service } from '../routes/index.ts';
import { nodeFs } from '../storage/index.ts';
import { type EngineParts, openWith, ownFiles } from './engine.ts';
import { flushKeys, followKeys, KEY_FLUSH_MS, openKeys } from './keys.ts';
import { roomsOf } from './rooms.ts';
import { FORWARDING_MS, type Opened } from './single-app.ts';

/** How long running requests may take before the database is opened again. */
const LEAVE_MS = 1000;
/** How long the start waits until it is known who leads. */
const ELECTED_MS = 5000;

const NOTHING = {
  database: undefined,
  keys: undefined,
  statements: undefined,
  analytics: undefined,
  reasoning: undefined,
  memory: undefined,
  virtual: undefined,
};

/** What is open while requests are answered. */
interface Serving {
  readonly database: Database;
  readonly rooms: Rooms;
}

export class ReplicaApp {
  readonly ready: Promise<Opened>;
  readonly #parts: EngineParts;
  readonly #service: Service;
  readonly #cursors: CursorRegistry;
  readonly #replica: Replica;
  readonly #leader: Leader;
  /** Ends requests that were passed on to the leader. */
  readonly #forwarding = new AbortController();
  #serving: Serving | undefined;
  /** The statements of the database before this one, whose sessions have ended. */
  #before: Rooms['statements'];
  /** The keys while this process leads. */
  #keys: KeyStore | undefined;
  #keyFlush: ReturnType<typeof setInterval> | undefined;
  #firstKey: string | undefined;
  #isClosing = false;

  constructor(parts: EngineParts, service: Service, cursors: CursorRegistry, url: string) {
    const { config, log } = parts;
    this.#parts = parts;
    this.#service = service;
    this.#cursors = cursors;
    this.#replica = new Replica({
      dsn: config.logDsn!,
      fs: nodeFs,
      dir: resolve(config.dataDir),
      besides: ownFiles(config),
      url,
      snapshotDir: config.snapshotDir === undefined ? undefined : resolve(config.snapshotDir),
      snapshotBytes: config.snapshotLogMb * MEGABYTE,
      now: () => performance.now(),
      open: (openLog, follows) => openWith(parts, { openLog, follows }),
      serve: async (database) => this.#serve(database),
      led: (database) => this.#lead(database),
      ceased: () => this.#cease(),
      leave: () => this.#leave(),
      cursorSecret: (secret) => cursors.share(secret),
      leaderChanged: () => this.#serving?.rooms.statements?.sessions.leaderChanged(),
      notice: (message, fields) => log.info(message, fields),
      warn: (message, fields) => log.warn(message, fields),
    });
    this.#leader = leaderPort(this.#replica, this.#replica.election, this.#forwarding.signal);
    this.#replica.start();
    this.ready = this.#open();
  }

  /** If this process leads from the start, it has made the first key of a new database by then. */
  async #open(): Promise<Opened> {
    const { election, ready } = this.#replica;
    await ready;
    const until = performance.now() + ELECTED_MS;
    while (!election.isHere && election.url === undefined && performance.now() < until)
      await election.change(ELECTED_MS);
    return { firstKey: this.#firstKey };
  }

  #serve(database: Database): void {
    const { config, observer, log } = this.#parts;
    const rooms = roomsOf(config, database);
    if (this.#before !== undefined) rooms.statements?.sessions.succeed(this.#before.sessions);
    this.#serving = { database, rooms };
    const keys = config.authDisabled ? undefined : followKeys(database);
    observer.attach(database.statistics, this.#leader);
    this.#service.open({ database, leader: this.#leader, keys, ...rooms });
    log.info('database open', { dir: database.dir, last_lsn: database.lastLsn });
  }

  async #lead(database: Database): Promise<void> {
    const { config, observer, log } = this.#parts;
    if (!config.authDisabled) {
      const { keys, firstKey } = await openKeys(config, database, log);
      this.#firstKey ??= firstKey;
      this.#keys = keys;
      if (keys !== undefined) this.#keyFlush = setInterval(() => void flushKeys(keys, log), KEY_FLUSH_MS).unref();
    }
    observer.attach(database.statistics, undefined);
    this.#service.open({ leader: undefined, keys: this.#keys });
  }

  /** Writes are passed on from now on, and reads go on. */
  #cease(): void {
    clearInterval(this.#keyFlush);
    this.#keys = undefined;
    if (this.#serving !== undefined) this.#parts.observer.attach(this.#serving.database.statistics, this.#leader);
    this.#service.open({ leader: this.#leader });
  }

  async #leave(): Promise<void> {
    const serving = this.#serving;
    if (serving === undefined) return;
    this.#serving = undefined;
    const { statements, analytics, virtual } = serving.rooms;
    this.#before = statements;
    clearInterval(this.#keyFlush);
    if (this.#keys !== undefined) await flushKeys(this.#keys, this.#parts.log);
    this.#keys = undefined;
    this.#parts.observer.detach();
    // The service has closed the rooms when it ends.
    if (this.#isClosing) return;
    this.#service.open({ leader: this.#leader, ...NOTHING });
    await this.#service.idle(LEAVE_MS);
    this.#cursors.close();
    statements?.close();
    await Promise.all([analytics?.close(), virtual?.close()]);
  }

  async close(reason: string): Promise<void> {
    this.#parts.log.info('stopping', { reason });
    // Requests at a leader that does not answer get an error before the service stops to wait.
    const forwarding = setTimeout(() => this.#forwarding.abort(), FORWARDING_MS);
    await this.#service.close();
    this.#isClosing = true;
    clearTimeout(forwarding);
    this.#forwarding.abort();
    await this.#replica.close();
    this.#parts.log.info('stopped');
  }
}

function leaderPort(replica: Replica, election: Election, ending: AbortSignal): Leader {
  return {
    get url() {
      return election.url;
    },
    election,
    forwards: true,
    ending,
    get lagMs() {
      return replica.lag.ms;
    },
    get lagLsns() {
      return replica.lag.lsns;
    },
    get problem() {
      return replica.problem;
    },
  };
}
