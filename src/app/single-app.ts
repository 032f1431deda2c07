// The database behind a service whose log is in files: alone, or as the follower of another
// service.

import type { KeyStore } from '../access/keys.ts';
import type { Config } from '../config.ts';
import type { Database } from '../engine/index.ts';
import { Follower } from '../follow/index.ts';
import type { Logger } from '../observe/log.ts';
import type { ServiceObserver } from '../observe/service-observer.ts';
import type { CursorRegistry, Leader, Service } from '../routes/index.ts';
import { type EngineParts, leaderOf, openEngine } from './engine.ts';
import { flushKeys, followKeys, KEY_FLUSH_MS, NO_KEYS, type OpenedKeys, openKeys } from './keys.ts';
import { roomsOf } from './rooms.ts';

/** How long requests that were passed on to the leader may take when the service ends. */
export const FORWARDING_MS = 5000;
/** Time after the start at which the warm-up begins. The first requests come before. */
const WARM_UP_AFTER_MS = 1000;

export interface Opened {
  /** The first admin key, if this start created it. Show the key once and never log it. */
  readonly firstKey: string | undefined;
}

/**
 * The database and its parts, which open after the service listens and close in the opposite order.
 */
export class SingleApp {
  readonly ready: Promise<Opened>;
  readonly #service: Service;
  readonly #cursors: CursorRegistry;
  readonly #observer: ServiceObserver;
  readonly #log: Logger;
  readonly #database: Promise<Database>;
  readonly #ending = new AbortController();
  /** Ends requests that were passed on to the leader. */
  readonly #forwarding = new AbortController();
  #follower: Follower | undefined;
  #keys: KeyStore | undefined;
  #keyFlush: ReturnType<typeof setInterval> | undefined;
  #warmUp: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: EngineParts, service: Service, cursors: CursorRegistry) {
    this.#service = service;
    this.#cursors = cursors;
    this.#observer = parts.observer;
    this.#log = parts.log;
    this.#database = openEngine(parts, this.#ending.signal);
    this.ready = this.#open(parts.config);
  }

  async #open(config: Config): Promise<Opened> {
    const database = await this.#database;
    const leader = this.#follow(config, database);
    const { keys, firstKey } = await this.#openKeys(config, database);
    if (leader === undefined && keys !== undefined) {
      this.#keys = keys;
      this.#keyFlush = setInterval(() => void flushKeys(keys, this.#log), KEY_FLUSH_MS).unref();
    }
    this.#observer.attach(database.statistics, leader);
    const rooms = roomsOf(config, database);
    this.#service.open({ database, leader, keys, ...rooms });
    // If it fails, the first question fails in the same way and reports it.
    const warmUp = () => void rooms.reasoning?.warmUp().catch(() => undefined);
    this.#warmUp = setTimeout(warmUp, WARM_UP_AFTER_MS).unref();
    this.#follower?.start();
    this.#log.info('database open', { dir: database.dir, last_lsn: database.lastLsn });
    return { firstKey };
  }

  async #openKeys(config: Config, database: Database): Promise<OpenedKeys> {
    if (config.authDisabled) return NO_KEYS;
    if (config.follow !== undefined) return { keys: followKeys(database), firstKey: undefined };
    return openKeys(config, database, this.#log);
  }

  /** Returns what the service needs to know of its leader; undefined if it follows none. */
  #follow(config: Config, database: Database): Leader | undefined {
    const link = leaderOf(config);
    if (link === undefined) return undefined;
    const follower = new Follower({
      database,
      leader: link,
      now: () => performance.now(),
      cursorSecret: (secret) => this.#cursors.share(secret),
      notice: (message, fields) => this.#log.info(message, fields),
      warn: (message, fields) => this.#log.warn(message, fields),
    });
    this.#follower = follower;
    return {
      url: link.url,
      forwards: config.forwardWrites,
      ending: this.#forwarding.signal,
      get lagMs() {
        return follower.lag.ms;
      },
      get lagLsns() {
        return follower.lag.lsns;
      },
      get problem() {
        return follower.problem;
      },
    };
  }

  async close(reason: string): Promise<void> {
    this.#log.info('stopping', { reason });
    this.#ending.abort(new Error('The service was stopped while it was starting.'));
    await this.#follower?.close();
    // Requests at a leader that does not answer get an error before the service stops to wait.
    const forwarding = setTimeout(() => this.#forwarding.abort(), FORWARDING_MS);
    await this.#service.close();
    clearTimeout(forwarding);
    this.#forwarding.abort();
    // If opening failed, `ready` has already reported it.
    await this.ready.catch(() => undefined);
    clearInterval(this.#keyFlush);
    clearTimeout(this.#warmUp);
    if (this.#keys !== undefined) await flushKeys(this.#keys, this.#log);
    const database = await this.#database.catch(() => undefined);
    this.#observer.detach();
    await database?.close();
    this.#log.info('stopped');
  }
}
