// Assembles the service from its parts (configuration, log, audit log, metrics, HTTP, engine,
// keys), and starts and stops them in order.

import { randomBytes } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyStore } from './access/keys.ts';
import { Analytics } from './analytics/index.ts';
import type { Config, LoadedConfig } from './config.ts';
import { type Database, type DatabaseOptions, openDatabase } from './engine/index.ts';
import { Follower, LeaderLink, type LeaderSource, startDirectory } from './follow/index.ts';
import { chooseTransport, startService, type TlsFiles, type Transport, type TransportFacts } from './http/index.ts';
import { MEGABYTE } from './limits.ts';
import { createChatModel } from './llm/index.ts';
import { AuditLog } from './observe/audit.ts';
import { type Logger, openLog } from './observe/log.ts';
import { createObserver, type ServiceObserver } from './observe/service-observer.ts';
import { bracketed, builtFiles, makeDirectories, redactorFor, tlsOf, wideDirectories } from './prepare.ts';
import { type SessionHooks, Statements } from './query/index.ts';
import { Reasoning } from './rag/index.ts';
import {
  type CursorRegistry,
  type Leader,
  type Rooms,
  routes,
  routesApplication,
  type Service,
} from './routes/index.ts';
import { Scheduler } from './schedule/scheduler.ts';
import { nodeFs } from './storage/index.ts';
import { VERSION } from './version.ts';
import { type RefineProposal, VirtualGraphs } from './virtual/index.ts';
import { Crew, type Question, shareOf, type Usage, WORKERS_DIR, type WorkerPeer } from './workers/index.ts';

export interface App {
  /** The address of the service, such as `http://127.0.0.1:8000` or with https. */
  readonly url: string;
  /** The HTTP implementation that serves requests. */
  readonly transport: TransportFacts;
  /** Resolves when requests are served; rejects when the database or its keys cannot be opened. */
  readonly ready: Promise<Opened>;
  /** Continues in a new audit log file after the old one was moved away. */
  reopenLogs(): void;
  /**
   * Refuses new work, waits for running requests, flushes pending writes and unlocks the data
   * directory. `reason` is logged.
   */
  close(reason: string): Promise<void>;
}

/** What a worker does for the process that leads the service. */
export interface WorkerApp extends App {
  answer(question: Question): Promise<unknown>;
  /** Notes what the callers of other workers have used. */
  charge(usage: Usage): void;
}

export interface Opened {
  /** The first admin key, if this start created it. Show the key once and never log it. */
  readonly firstKey: string | undefined;
}

const KEY_FLUSH_MS = 60_000;
/** How long requests that were passed on to the leader may take when the service ends. */
const FORWARDING_MS = 5000;
/** How often workers tell each other what their callers have used. */
const USAGE_MS = 100;
/** How often a worker looks whether it has what the leader had at its start. */
const HEAD_LOOK_MS = 10;
/** Time after the start at which the warm-up begins. The first requests come before. */
const WARM_UP_AFTER_MS = 1000;

/**
 * Starts the service. It listens first and then opens the database: until the database is open,
 * `/health/ready` and all data routes answer 503. Rejects if the service cannot listen. `peer` is
 * given in a worker of a service.
 */
export async function startApp({ config, warnings }: LoadedConfig, peer?: WorkerPeer<Config>): Promise<WorkerApp> {
  const redactor = redactorFor(config);
  const now = () => new Date();
  const opened = openLog({ format: config.logFormat, level: config.logLevel, now, redactor });
  const log = peer === undefined ? opened.log : opened.log.child({ worker: peer.number });
  if (peer === undefined) for (const warning of [...warnings, ...wideDirectories(config)]) log.warn(warning);
  const scheduler = new Scheduler();
  let audit: AuditLog | undefined;
  let observer: ServiceObserver | undefined;
  let crew: Crew | undefined;
  const closeLogs = async () => {
    observer?.close();
    await audit?.close();
    await opened.close();
  };
  try {
    const tls = tlsOf(config);
    const transport = chooseTransport(config.transport);
    makeDirectories(config);
    audit = new AuditLog({ file: resolve(config.auditLog), log, redactor, now, makeDir: nodeFs.makeDir });
    observer = createObserver({
      log,
      audit,
      version: VERSION,
      transport: transport.facts,
      queryLines: opened.queryLines,
      logLinesLost: () => opened.lost,
      schedule: () => scheduler.figures,
    });
    const application = routesApplication();
    if (peer === undefined && config.workers > 0) crew = await Crew.open(config, transport, log);
    const place = {
      tls,
      transport: crew?.link ?? transport,
      port: crew?.port ?? peer?.port ?? config.port,
      peer,
      crew,
    };
    const service = await listen(config, place, application, scheduler, observer, log);
    const { cursors } = application.initial;
    const url = `${tls === undefined ? 'http' : 'https'}://${bracketed(service.host)}:${service.port}`;
    const running = new RunningApp({ config, service, cursors, scheduler, observer, log, peer, crew, url });
    if (peer === undefined) log.info('starting', { url, version: VERSION, transport: transport.facts });
    crew?.start(running);
    const ready =
      crew === undefined ? running.ready : Promise.all([running.ready, crew.ready]).then(([opened]) => opened);
    void ready.then(() => peer ?? log.info('listening', { url })).catch(() => undefined);
    return {
      url,
      transport: transport.facts,
      ready,
      reopenLogs: () => {
        audit?.reopen();
        crew?.reopenLogs();
      },
      answer: (question) => running.answer(question),
      charge: (usage) => running.charge(usage),
      close: async (reason) => {
        await crew?.close(reason);
        await running.close(reason);
        await closeLogs();
      },
    };
  } catch (error) {
    await crew?.close('start failed');
    await closeLogs();
    throw error;
  }
}

interface AppParts {
  readonly config: Config;
  readonly service: Service;
  readonly cursors: CursorRegistry;
  readonly scheduler: Scheduler;
  readonly observer: ServiceObserver;
  readonly log: Logger;
  /** Set in a worker. */
  readonly peer: WorkerPeer<Config> | undefined;
  /** Set if workers answer reads. */
  readonly crew: Crew | undefined;
  readonly url: string;
}

/** The parts that open after the service listens and close in the opposite order. */
class RunningApp {
  readonly ready: Promise<Opened>;
  readonly #parts: AppParts;
  readonly #service: Service;
  readonly #observer: ServiceObserver;
  readonly #log: Logger;
  readonly #source: LeaderSource | undefined;
  readonly #database: Promise<Database>;
  readonly #ending = new AbortController();
  /** Ends requests that were passed on to the leader. */
  readonly #forwarding = new AbortController();
  #follower: Follower | undefined;
  #keys: KeyStore | undefined;
  #rooms: Rooms | undefined;
  #keyFlush: ReturnType<typeof setInterval> | undefined;
  #usage: ReturnType<typeof setInterval> | undefined;
  #warmUp: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: AppParts) {
    const { config, service, observer, log, peer, url } = parts;
    this.#parts = parts;
    this.#service = service;
    this.#observer = observer;
    this.#log = log;
    this.#source = peer?.feed(url) ?? leaderOf(config);
    this.#database = openEngine(parts, this.#source, this.#ending.signal);
    this.ready = this.#open();
  }

  async #open(): Promise<Opened> {
    const { config, peer, crew } = this.#parts;
    const database = await this.#database;
    const leader = this.#follow(database);
    const { keys, firstKey } = config.authDisabled
      ? NO_KEYS
      : await openKeys(config, leader !== undefined, database, this.#log);
    this.#keys = keys;
    if (leader === undefined && keys !== undefined)
      this.#keyFlush = setInterval(() => void this.#flushKeys(keys), KEY_FLUSH_MS).unref();
    this.#observer.attach(database.statistics, leader);
    const rooms = roomsOf(config, database, {
      onSession: crew?.onSession,
      isAtLeader: peer && ((session) => peer.hasSession(session)),
    });
    this.#rooms = rooms;
    crew?.state.visible(database.lastLsn);
    if (peer !== undefined) await this.#joinService(peer, database);
    else this.#follower?.start();
    this.#service.open({ database, leader, keys, workers: crew, ...rooms });
    // If it fails, the first question fails in the same way and reports it.
    const warmUp = () => void rooms.reasoning?.warmUp().catch(() => undefined);
    this.#warmUp = setTimeout(warmUp, WARM_UP_AFTER_MS).unref();
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
    this.#usage = setInterval(() => {
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

  /** Returns what the service needs to know of its leader; undefined if it follows none. */
  #follow(database: Database): Leader | undefined {
    const { config, cursors, peer } = this.#parts;
    const leader = this.#source;
    if (leader === undefined) return undefined;
    const follower = new Follower({
      database,
      leader,
      now: () => performance.now(),
      cursorSecret: (secret) => cursors.share(secret),
      notice: (message, fields) => (peer === undefined ? this.#log.info(message, fields) : undefined),
      warn: (message, fields) => this.#log.warn(message, fields),
      // The process that leads starts this worker again, with an empty directory.
      onLost: peer && ((detail) => void peer.fail(detail, true)),
    });
    this.#follower = follower;
    return {
      url: leader.url,
      forwards: config.forwardWrites || peer !== undefined,
      own: peer?.own,
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
    if (this.#keys !== undefined && this.#source === undefined) await this.#flushKeys(this.#keys);
    const database = await this.#database.catch(() => undefined);
    this.#observer.detach();
    await database?.close();
    this.#log.info('stopped');
  }

  async #flushKeys(keys: KeyStore): Promise<void> {
    try {
      await keys.flush();
    } catch (error) {
      this.#log.warn('the times at which keys were last used could not be written', {
        error: (error as Error).message,
      });
    }
  }
}

interface Place {
  readonly tls: TlsFiles | undefined;
  readonly transport: Transport;
  readonly port: number;
  readonly peer: WorkerPeer<Config> | undefined;
  readonly crew: Crew | undefined;
}

function listen(
  config: Config,
  { tls, transport, port, peer, crew }: Place,
  application: ReturnType<typeof routesApplication>,
  scheduler: Scheduler,
  observer: ServiceObserver,
  log: Logger,
): Promise<Service> {
  return startService({
    routes,
    application,
    host: config.host,
    port,
    tls,
    transport,
    shared: peer,
    servesWorkers: crew !== undefined,
    scheduler,
    maxBodyBytes: Math.floor(config.maxBodyMb * MEGABYTE),
    version: VERSION,
    authDisabled: config.authDisabled,
    rateLimitQpm: config.rateLimitQpm,
    corsOrigins: config.corsOrigins,
    publicHosts: config.publicHosts,
    socketsPerAddress: config.socketsPerAddress,
    proxyAddresses: config.proxyAddresses,
    queryTimeoutMs: config.queryTimeoutMs,
    streamMaxSeconds: config.streamMaxSeconds,
    backupRoot: resolve(config.backupRoot),
    pageFile: builtFiles('docs-page'),
    consoleFile: builtFiles('console'),
    // The workers count the requests of clients.
    observer: crew === undefined ? observer : { ...observer, requestDone: () => undefined },
    log,
  });
}

/** Returns the connection to the leader; undefined if the service follows none. */
function leaderOf({ follow: url, followKey: key }: Config): LeaderLink | undefined {
  return url === undefined ? undefined : new LeaderLink({ url, key });
}

async function openEngine(
  { config, scheduler, observer, log, crew }: AppParts,
  leader: LeaderSource | undefined,
  signal: AbortSignal,
): Promise<Database> {
  const dir = resolve(config.dataDir);
  const notice = (message: string, fields: Record<string, unknown>) => log.info(message, fields);
  const auditLog = resolve(config.auditLog);
  const besides = dirname(auditLog) === dir ? [basename(auditLog)] : [];
  if (crew !== undefined) besides.push(WORKERS_DIR);
  if (leader !== undefined) await startDirectory({ fs: nodeFs, dir, leader, signal, besides, notice });
  return openDatabase({
    dir,
    follows: leader !== undefined,
    primaryTable: config.primaryTable,
    maxMembers: config.maxMembers,
    durability: config.durability,
    memoryBudgetMb: crew === undefined ? config.memoryBudgetMb : shareOf(config),
    history: historyOf(config),
    scheduler,
    notice,
    observeLog: observer.logGroup,
    ...(crew === undefined ? {} : { onVisible: (lsn) => crew.state.visible(lsn) }),
  });
}

/** Returns how long changes are kept for readers; null if they are not. */
function historyOf({ changesKeepSeconds, changesKeepMb }: Config): DatabaseOptions['history'] {
  return changesKeepSeconds === 0 ? null : { seconds: changesKeepSeconds, bytes: changesKeepMb * MEGABYTE };
}

/**
 * Creates the parts that answer requests about a database. Their work is run by the database's
 * scheduler.
 */
export function roomsOf(config: Config, database: Database, sessions: SessionHooks = {}): Rooms {
  const analytics = new Analytics({ database });
  return {
    statements: statementsOf(config, database, sessions),
    analytics,
    reasoning: reasoningOf(config, database, analytics),
    virtual: virtualOf(config, database),
  };
}

function statementsOf(config: Config, database: Database, sessions: SessionHooks): Statements {
  return new Statements({
    ...sessions,
    database,
    now: () => Date.now(),
    nowUs: () => performance.now() * 1000,
    newId: () => randomBytes(12).toString('base64url'),
    transactionIdleSeconds: config.transactionIdleSeconds,
    copyRoot: config.copyRoot === undefined ? undefined : resolve(config.copyRoot),
    fs: nodeFs,
  });
}

function reasoningOf(config: Config, database: Database, analytics: Analytics): Reasoning {
  const { llmBaseUrl, llmModel, openaiApiKey, llmAllowedHosts } = config;
  return new Reasoning({
    database,
    model: { baseUrl: llmBaseUrl, model: llmModel, apiKey: openaiApiKey, allowedHosts: llmAllowedHosts },
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    newId: () => randomBytes(12).toString('base64url'),
    measure: (table, measure, params, options) => analytics.run(table, measure, params, options),
  });
}

function virtualOf(config: Config, database: Database): VirtualGraphs {
  return new VirtualGraphs({
    database,
    documents: database.documents,
    root: resolve(config.virtualRoot),
    dsns: config.virtualDsn,
    cache: config.virtualCache,
    monotonicMs: () => performance.now(),
    refine: refinerOf(config),
  });
}

/**
 * Returns the function that has the configured language model refine a proposal. A key in the
 * request takes precedence over the server's key.
 */
export function refinerOf(config: Config): RefineProposal {
  const { llmBaseUrl: baseUrl, llmModel: model, openaiApiKey, llmAllowedHosts: allowedHosts } = config;
  return async (prompt, apiKey, signal) => {
    const chat = createChatModel({ baseUrl, model, apiKey: apiKey ?? openaiApiKey, allowedHosts });
    return (await chat.complete(prompt, signal)).text;
  };
}

interface OpenedKeys {
  keys: KeyStore | undefined;
  firstKey: string | undefined;
}

const NO_KEYS: OpenedKeys = { keys: undefined, firstKey: undefined };

async function openKeys(
  { apiKey }: Config,
  isFollower: boolean,
  { documents }: Database,
  log: Logger,
): Promise<OpenedKeys> {
  if (isFollower) {
    return { keys: KeyStore.follow({ documents, now: () => Date.now(), randomBytes }), firstKey: undefined };
  }
  const opened = await KeyStore.open({ documents, now: () => Date.now(), randomBytes, bootstrapKey: apiKey });
  const { keys } = opened;
  if (apiKey !== undefined && !keys.knows(apiKey)) {
    log.warn('HEDGEROW_API_KEY is not among the stored keys: it becomes a key only in a data directory that has none.');
  }
  if (keys.validAdmins === 0) {
    log.warn('No admin key is valid. Stop the server and make one: hedgerow keys create --role admin --data DIR.');
  }
  return opened;
}
