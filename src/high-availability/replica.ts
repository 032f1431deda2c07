// One process of a database whose log is in PostgreSQL: opens the database, follows the log, takes
// the lease when it is free and all of the log was applied here, and leads until the lease is lost
// or the log has failed. Then the database is opened again, because its memory may have operations
// that the log has not.
//
// While PostgreSQL cannot be reached, a follower goes on to answer reads, and so does a former
// leader, whose log is poisoned, until PostgreSQL is there again.

import { randomBytes } from 'node:crypto';
import { loadCore, makeChecksum } from '../core/index.ts';
import { type Database, neededLogLsn, type OpenLog } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import type { Fs } from '../storage/index.ts';
import { type Connection, type ConnectionOptions, Postgres } from './connection.ts';
import { claimDirectory, type DirectoryOptions, emptyDirectory, hasDatabase, restoreSnapshot } from './directory.ts';
import { Election } from './election.ts';
import { RENEW_MS, takeLease } from './lease.ts';
import { notLeader } from './log-appender.ts';
import { readEnd, readOldest } from './log-rows.ts';
import { Notifier } from './notifier.ts';
import { openPostgresLog, type PostgresLog } from './postgres-log.ts';
import { leave, removableLsn, tellState } from './processes.ts';
import { checkDurability, type DatabaseIdentity, readIdentity } from './schema.ts';
import { SharedConnection } from './shared-connection.ts';
import { SnapshotMaker } from './snapshot-maker.ts';
import { newestSnapshot, readSnapshot } from './snapshots.ts';
import { type Followed, Tail } from './tail.ts';
import { Tenure } from './tenure.ts';

export interface ReplicaOptions {
  readonly dsn: string;
  readonly fs: Fs;
  /** Absolute path of the data directory. */
  readonly dir: string;
  /** Names of files in the directory that do not belong to a database. */
  readonly besides: readonly string[];
  /** Address of this process for the others and for clients. */
  readonly url: string;
  /** Directory of snapshots that all processes share; by default they are in PostgreSQL. */
  readonly snapshotDir: string | undefined;
  /** Bytes of log after the newest snapshot at which the leader makes another. */
  readonly snapshotBytes: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Opens the database in the directory. */
  readonly open: (openLog: OpenLog, follows: boolean) => Promise<Database>;
  /** Answers requests from a database that was opened and follows. */
  readonly serve: (database: Database) => Promise<void>;
  /** Called when this process begins to lead the database that it serves. */
  readonly led: (database: Database) => Promise<void>;
  /** Called when it ceases to lead. Its reads go on. */
  readonly ceased: () => void;
  /** Stops answering requests from the database, which is then closed. */
  readonly leave: () => Promise<void>;
  /** Called when another process leads than before. */
  readonly leaderChanged: () => void;
  readonly cursorSecret: (secret: Uint8Array) => void;
  readonly notice: (message: string, fields: Record<string, unknown>) => void;
  readonly warn: (message: string, fields?: Record<string, unknown>) => void;
}

/** A database that is open, with its log. */
interface Session {
  readonly database: Database;
  readonly log: PostgresLog;
  /** Resolves with the error of the log when it is poisoned. */
  readonly failed: Promise<HedgerowError>;
}

const RETRY_MS = 300;
/** How often the leader tells its state. */
const STATE_MS = 3000;
/** How long a small statement may take. */
const ASIDE_MS = 3000;
/** How long the first start waits for PostgreSQL. */
const START_ATTEMPTS = 30;
/** How long taking the lease may wait for PostgreSQL, which waits for its standby. */
const TAKE_MS = 10_000;

export class Replica {
  readonly election = new Election();
  readonly #options: ReplicaOptions;
  readonly #postgres: Postgres;
  /** Names this process in the lease and among the processes. */
  readonly #id = randomBytes(12).toString('hex');
  readonly #core = loadCore();
  readonly #crc32c = makeChecksum(this.#core.instantiate());
  readonly #ending = new AbortController();
  /** Resolves when this process is stopped. */
  readonly #ended: Promise<unknown>;
  /** For the state of this process and other small things that may be lost. */
  readonly #aside: SharedConnection;
  #tail: Tail | undefined;
  /** Address of the process that led last, as far as is known. */
  #leaderUrl: string | undefined;
  #hasStarted = false;
  #isWarned = false;
  #running: Promise<void> | undefined;
  #started: (error?: unknown) => void = () => undefined;
  /** Resolves when requests are served for the first time; rejects if that is not possible. */
  readonly ready: Promise<void>;
  /** Why this process cannot follow or lead at present; null if it can. */
  problem: string | null = null;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#postgres = new Postgres({ dsn: options.dsn });
    this.#aside = new SharedConnection(this.#postgres, { commits: 'local', timeoutMs: ASIDE_MS });
    this.ready = new Promise((resolve, reject) => {
      this.#started = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.ready.catch(() => undefined);
    const { signal } = this.#ending;
    this.#ended = new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
  }

  get lag(): Followed {
    if (this.election.isHere) return { lsns: 0, ms: 0 };
    return this.#tail?.lag ?? { lsns: undefined, ms: Number.POSITIVE_INFINITY };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Gives the lease back and closes the database. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('The service was stopped while it was starting.'));
    await this.#running;
    const connection = await this.#aside.get().catch(() => undefined);
    if (connection !== undefined) await leave(connection, this.#id).catch(() => undefined);
    await this.#aside.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.#session();
        attempt = 0;
      } catch (error) {
        if (signal.aborted) break;
        const isFinal = error instanceof HedgerowError || attempt >= START_ATTEMPTS;
        if (!this.#hasStarted && isFinal) {
          this.#started(error);
          return;
        }
        this.#tellProblem(error);
        await this.#rest(attempt > 3 ? RETRY_MS * 3 : RETRY_MS);
      }
    }
    this.#started(signal.reason);
  }

  #tellProblem(error: unknown): void {
    const { message } = error as Error;
    if (this.problem !== message)
      this.#options.warn('this server can neither lead nor follow; trying again', { detail: message });
    this.problem = message;
  }

  /** Opens the database and serves it until it has to be opened again. */
  async #session(): Promise<void> {
    const { serve, leave: leaveService, cursorSecret } = this.#options;
    const identity = await this.#prepare();
    cursorSecret(identity.cursorSecret);
    await this.#begin();
    const aside: ConnectionOptions = { commits: 'local', timeoutMs: ASIDE_MS };
    const notifier = new Notifier(new SharedConnection(this.#postgres, aside), channelOf(identity));
    let session: Session | undefined;
    let tenure: Tenure | undefined;
    try {
      session = await this.#open(undefined, () => notifier.notify());
      await serve(session.database);
      this.#hasStarted = true;
      this.problem = null;
      this.#started();
      tenure = await this.#follow(session, identity);
      if (tenure !== undefined) await this.#lead(session, tenure);
    } finally {
      // Until the database is open again, requests are answered 503.
      if (session !== undefined) await leaveService();
      this.election.set(undefined);
      await session?.database.close().catch(() => undefined);
      await tenure?.release();
      await notifier.close();
    }
  }

  /** Checks PostgreSQL, and fills a directory that has no database from the newest snapshot. */
  async #prepare(): Promise<DatabaseIdentity> {
    const { fs, dir, besides, notice, warn, snapshotDir, url } = this.#options;
    const { signal } = this.#ending;
    const directory: DirectoryOptions = { fs, dir, core: this.#core, crc32c: this.#crc32c, besides, signal };
    const connection = await this.#postgres.connect({ commits: 'wait' });
    try {
      const identity = await readIdentity(connection);
      const warnings = await checkDurability(connection);
      if (!this.#isWarned) for (const warning of warnings) warn(warning);
      this.#isWarned = true;
      await claimDirectory(directory, identity.id);
      // From here on, the log is kept for this process.
      await tellState(connection, { id: this.#id, url, lsn: 0, neededLsn: 0 });
      const oldestLsn = (await readOldest(connection)) ?? 1;
      const neededLsn = hasDatabase(directory) ? (neededLogLsn(fs, dir, this.#crc32c) ?? 0) : undefined;
      if (neededLsn !== undefined && neededLsn + 1 >= oldestLsn) return identity;
      const snapshot = await newestSnapshot(connection);
      if (snapshot === undefined && oldestLsn > 1)
        throw new HedgerowError('corrupt', `The log begins with LSN ${oldestLsn}, but there is no snapshot before it.`);
      await emptyDirectory(directory);
      if (snapshot === undefined) return identity;
      notice('starting from a snapshot', { last_lsn: snapshot.lsn, bytes: snapshot.bytes });
      await restoreSnapshot(directory, readSnapshot({ postgres: this.#postgres, fs, dir: snapshotDir }, snapshot));
      return identity;
    } finally {
      await connection.close();
    }
  }

  /**
   * While the log is empty, there is nothing to follow: one process takes the lease and makes the
   * first frames, which create the primary table. The others wait for them.
   */
  async #begin(): Promise<void> {
    while ((await readEnd(await this.#aside.get())).lsn === 0) {
      this.#ending.signal.throwIfAborted();
      const tenure = await this.#take();
      if (tenure === undefined) {
        await this.#rest(RETRY_MS);
        continue;
      }
      try {
        if ((await readEnd(await this.#aside.get())).lsn > 0) return;
        const { database } = await this.#open(tenure, () => undefined);
        await database.close();
      } finally {
        await tenure.release();
      }
    }
  }

  /** Takes the lease; resolves with undefined if another process has it. */
  async #take(): Promise<Tenure | undefined> {
    const { now, url } = this.#options;
    const connection = await this.#postgres.connect({ commits: 'wait' });
    try {
      const takenMs = now();
      const epoch = await takeLease(connection, this.#id, url, TAKE_MS);
      if (epoch === undefined) return undefined;
      return new Tenure({
        connection: new SharedConnection(this.#postgres, { commits: 'local' }),
        holder: this.#id,
        ...{ epoch, now, takenMs, error: notLeader },
      });
    } finally {
      await connection.close();
    }
  }

  async #open(tenure: Tenure | undefined, appended: () => void): Promise<Session> {
    const { open } = this.#options;
    let log: PostgresLog | undefined;
    let fail: (error: HedgerowError) => void = () => undefined;
    const failed = new Promise<HedgerowError>((resolve) => {
      fail = resolve;
    });
    const openLog: OpenLog = async (opening) => {
      log = await openPostgresLog({
        ...opening,
        onFailed: (error) => {
          opening.onFailed(error);
          fail(error);
        },
        postgres: this.#postgres,
        crc32c: this.#crc32c,
        tenure,
        removableLsn: (connection) => removableLsn(connection, this.#id),
        appended,
      });
      return log;
    };
    const database = await open(openLog, tenure === undefined);
    return { database, log: log!, failed };
  }

  /** Follows until this process may lead; resolves with undefined when it is stopped. */
  async #follow({ database, log }: Session, identity: DatabaseIdentity): Promise<Tenure | undefined> {
    const { now, notice, warn, leaderChanged } = this.#options;
    const tail = new Tail({
      ...{ database, log, now, notice, warn },
      postgres: this.#postgres,
      channel: channelOf(identity),
      signal: this.#ending.signal,
      holder: this.#id,
      leader: (leader) => {
        if (leader !== undefined && leader !== this.#leaderUrl) leaderChanged();
        this.#leaderUrl = leader ?? this.#leaderUrl;
        this.election.set(leader === undefined ? undefined : { url: leader });
      },
      state: (connection) => this.#tellState(connection, database, log),
      problem: (problem) => {
        this.problem = problem;
      },
      take: () => this.#take(),
    });
    this.#tail = tail;
    return tail.run();
  }

  async #tellState(connection: Connection, database: Database, log: PostgresLog): Promise<void> {
    const { url } = this.#options;
    await tellState(connection, { id: this.#id, url, lsn: database.lastLsn, neededLsn: log.obsoleteLsn });
  }

  /** Leads until the lease is lost, the log has failed, or the service is stopped. */
  async #lead({ database, log, failed }: Session, tenure: Tenure): Promise<void> {
    const { led, leaderChanged, ceased, notice, warn, snapshotBytes, snapshotDir, fs } = this.#options;
    const snapshots = new SnapshotMaker({
      ...{ database, log, tenure, notice, warn },
      store: { postgres: this.#postgres, fs, dir: snapshotDir },
      everyBytes: snapshotBytes,
    });
    const timer = setInterval(() => void this.#tellQuietly(database, log), STATE_MS);
    let error: unknown;
    try {
      database.applier!.lead();
      leaderChanged();
      await led(database);
      this.election.set('here');
      notice('this server leads', { epoch: tenure.epoch, last_lsn: database.lastLsn });
      snapshots.start();
      error = await Promise.race([failed, this.#refused(database), this.#ended]);
    } catch (cause) {
      error = cause;
    } finally {
      clearInterval(timer);
    }
    if (this.#ending.signal.aborted) return snapshots.close();
    this.election.set(undefined);
    ceased();
    warn('this server does not lead any more', { detail: (error as Error).message });
    // The log is poisoned, so nothing of this process can be appended any more.
    await tenure.release();
    await snapshots.close();
    await this.#untilReachable();
  }

  /** Resolves when the database refuses writes for a reason other than its log. */
  async #refused({ applier }: Database): Promise<unknown> {
    while (applier!.failed === null && !this.#ending.signal.aborted) await this.#rest(RENEW_MS);
    return applier!.failed;
  }

  async #tellQuietly(database: Database, log: PostgresLog): Promise<void> {
    await this.#aside
      .get()
      .then((connection) => this.#tellState(connection, database, log))
      .catch(() => undefined);
  }

  /** Resolves when PostgreSQL can be reached, or when this process is stopped. */
  async #untilReachable(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        await (await this.#postgres.connect({ commits: 'wait' })).close();
        return;
      } catch (error) {
        this.#tellProblem(error);
        await this.#rest(RETRY_MS);
      }
    }
  }

  /** Waits, but not longer than until this process is stopped. */
  #rest(ms: number): Promise<void> {
    const { signal } = this.#ending;
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }
}

function channelOf({ id }: DatabaseIdentity): string {
  return `hedgerow_${id.replaceAll('-', '')}`;
}
