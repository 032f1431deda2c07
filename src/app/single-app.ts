// The database behind a service whose log is in files: alone, or as the follower of another
// service, which may be the leading process of this one.

import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyStore } from '../access/keys.ts';
import type { Config } from '../config.ts';
import type { Database } from '../engine/index.ts';
import { Follower, type LeaderSource } from '../follow/index.ts';
import type { Logger } from '../observe/log.ts';
import type { ServiceObserver } from '../observe/service-observer.ts';
import type { CursorRegistry, Leader, Rooms, Service } from '../routes/index.ts';
import type { Question, Usage, WorkerPeer } from '../workers/index.ts';
import { type EngineParts, leaderOf, openEngine } from './engine.ts';
import { flushKeys, followKeys, KEY_FLUSH_MS, NO_KEYS, type OpenedKeys, openKeys } from './keys.ts';
import { roomsOf } from './rooms.ts';

/** How long requests that were passed on to the leader may take when the service ends. */
export const FORWARDING_MS = 5000;
/** Time after the start at which the warm-up begins. The first requests come before. */
const WARM_UP_AFTER_MS = 1000;

/** How often workers tell each other what their callers have used. */
const USAGE_MS = 100;
/** How often a worker looks whether it has what the leader had at its start. */
const HEAD_LOOK_MS = 10;

export interface SingleParts extends EngineParts {
  /** Set in a worker. */
  readonly peer: WorkerPeer<Config> | undefined;
  /** Address of the service. */
  readonly url: string;
}

export interface Opened {
  /** The first admin key, if this start created it. Show the key once and never log it. */
  readonly firstKey: string | undefined;
}

/**
 * The database and its parts, which open after the service listens and close in the opposite order.
 */
export class SingleApp {
  readonly ready: Promise<Opened>;
  readonly #parts: SingleParts;
  readonly #source: LeaderSource | undefined;
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
  #rooms: Rooms | undefined;
  #usage: ReturnType<typeof setInterval> | undefined;
  #keyFlush: ReturnType<typeof setInterval> | undefined;
  #warmUp: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: SingleParts, service: Service, cursors: CursorRegistry) {
    this.#parts = parts;
    this.#source = parts.peer?.feed(parts.url) ?? leaderOf(parts.config);
    this.#service = service;
    this.#cursors = cursors;
    this.#observer = parts.observer;
    this.#log = parts.log;
    this.#database = openEngine(parts, this.#source, this.#ending.signal);
    this.ready = this.#open();
  }

  async #open(): Promise<Opened> {
    const { config, peer, crew } = this.#parts;
    const database = await this.#database;
    const leader = this.#follow(database);
    const { keys, firstKey } = await this.#openKeys(config, database);
    this.#keys = keys;
    if (leader === undefined && keys !== undefined)
      this.#keyFlush = setInterval(() => void flushKeys(keys, this.#log), KEY_FLUSH_MS).unref();
    this.#observer.attach(database.statistics, peer === undefined ? leader : undefined);
    const rooms = roomsOf(config, database, {
      onSession: crew?.onSession,
      isAtLeader: peer && ((session) => peer.hasSession(session)),
    });
    this.#rooms = rooms;
    crew?.state.visible(database.lastLsn);
    if (peer !== undefined) await this.#joinService(peer, database);
    this.#service.open({ database, leader, keys, workers: crew, ...rooms });
    if (peer !== undefined) await this.#service.listen();
    // If it fails, the first question fails in the same way and reports it.
    const warmUp = () => void rooms.reasoning?.warmUp().catch(() => undefined);
    this.#warmUp = setTimeout(warmUp, WARM_UP_AFTER_MS).unref();
    if (peer === undefined) this.#follower?.start();
    this.#log.info('database open', { dir: database.dir, last_lsn: database.lastLsn });
    return { firstKey };
  }

  /** In a worker: waits until everything that the leader had is visible here. */
  async #joinService(peer: WorkerPeer<Config>, database: Database): Promise<void> {
    const follower = this.#follower!;
    follower.start();
    while (!Number.isFinite(follower.lag.ms) || database.lastLsn < peer.own.freshLsn()) {
      this.#ending.signal.throwIfAborted();
      await sleep(HEAD_LOOK_MS);
    }
    let told: string | null = null;
    this.#usage = setInterval(() => {
      const { problem } = follower;
      if (problem !== told) void peer.tell({ kind: 'problem', detail: problem });
      told = problem;
      const usage = { ...this.#service.rateLimit.takeSpent(), used: this.#keys?.takeUsed() ?? [] };
      if (usage.keys.length + usage.addresses.length + usage.used.length > 0) void peer.tell({ kind: 'usage', usage });
    }, USAGE_MS).unref();
  }

  /** Notes what the callers of other processes of the service have used. */
  charge(usage: Usage): void {
    this.#service.rateLimit.charge(usage, performance.now());
    this.#keys?.noteUsed(usage.used);
  }

  /** In a worker: answers a question of the leader. */
  async answer(question: Question): Promise<unknown> {
    const rooms = this.#rooms;
    if (question.about === 'metrics') return this.#observer.ofProcess();
    if (question.about === 'clear-cache') return rooms?.virtual?.clearCache(question.graph) ?? 0;
    return rooms?.reasoning?.interaction(question.id, question.keyId).catch(() => undefined);
  }

  async #openKeys(config: Config, database: Database): Promise<OpenedKeys> {
    if (config.authDisabled) return NO_KEYS;
    if (this.#source !== undefined) return { keys: followKeys(database), firstKey: undefined };
    return openKeys(config, database, this.#log);
  }

  /** Returns what the service needs to know of its leader; undefined if it follows none. */
  #follow(database: Database): Leader | undefined {
    const { config, peer } = this.#parts;
    const leader = this.#source;
    if (leader === undefined) return undefined;
    const follower = new Follower({
      database,
      leader,
      now: () => performance.now(),
      cursorSecret: (secret) => this.#cursors.share(secret),
      // A worker that begins need not be told of; one that cannot go on is.
      notice: (message, fields) => {
        if (peer === undefined) this.#log.info(message, fields);
        else if (fields.detail !== undefined) this.#log.warn(message, fields);
      },
      warn: (message, fields) => this.#log.warn(message, fields),
      // The process that leads starts this worker again, with an empty directory.
      onLost: peer && ((detail) => void peer.fail(detail, true)),
    });
    this.#follower = follower;
    return {
      url: leader.url,
      forwards: config.forwardWrites || peer !== undefined,
      own: peer && { ...peer.own, isStuck: () => follower.problem !== null },
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
    clearInterval(this.#usage);
    clearTimeout(this.#warmUp);
    if (this.#keys !== undefined && this.#source === undefined) await flushKeys(this.#keys, this.#log);
    const database = await this.#database.catch(() => undefined);
    this.#observer.detach();
    await database?.close();
    this.#log.info('stopped');
  }
}
