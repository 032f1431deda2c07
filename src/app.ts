// Assembles the service from its parts (configuration, log, audit log, metrics, HTTP, engine,
// keys), and starts and stops them in order.

import { randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { KeyStore } from './access/keys.ts';
import { Analytics } from './analytics/index.ts';
import { type Config, ConfigError, type LoadedConfig, variableOf } from './config.ts';
import { type Database, type DatabaseOptions, openDatabase } from './engine/index.ts';
import { Follower, LeaderLink, startDirectory } from './follow/index.ts';
import { chooseTransport, startService } from './http/index.ts';
import type { TlsFiles, Transport, TransportFacts } from './http/transport.ts';
import { MEGABYTE } from './limits.ts';
import { createChatModel } from './llm/index.ts';
import { AuditLog } from './observe/audit.ts';
import { type Logger, openLog } from './observe/log.ts';
import { Redactor } from './observe/redact.ts';
import { createObserver, type ServiceObserver } from './observe/service-observer.ts';
import { Statements } from './query/index.ts';
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
import { nodeFs, widerThanOwner } from './storage/index.ts';
import { VERSION } from './version.ts';
import { type RefineProposal, VirtualGraphs } from './virtual/index.ts';

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

export interface Opened {
  /** The first admin key, if this start created it. Show the key once and never log it. */
  readonly firstKey: string | undefined;
}

const KEY_FLUSH_MS = 60_000;
/** How long requests that were passed on to the leader may take when the service ends. */
const FORWARDING_MS = 5000;
/** Time after the start at which the warm-up begins. The first requests come before. */
const WARM_UP_AFTER_MS = 1000;

/**
 * Starts the service. It listens first and then opens the database: until the database is open,
 * `/health/ready` and all data routes answer 503. Rejects if the service cannot listen.
 */
export async function startApp({ config, warnings }: LoadedConfig): Promise<App> {
  const redactor = redactorFor(config);
  const now = () => new Date();
  const opened = openLog({ format: config.logFormat, level: config.logLevel, now, redactor });
  const { log } = opened;
  for (const warning of [...warnings, ...wideDirectories(config)]) log.warn(warning);
  const scheduler = new Scheduler();
  let audit: AuditLog | undefined;
  let observer: ServiceObserver | undefined;
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
    const service = await listen(config, tls, transport, application, scheduler, observer, log);
    const { cursors } = application.initial;
    const running = new RunningApp(config, service, cursors, scheduler, observer, log);
    const url = `${tls === undefined ? 'http' : 'https'}://${bracketed(service.host)}:${service.port}`;
    log.info('starting', { url, version: VERSION, transport: transport.facts });
    void running.ready.then(() => log.info('listening', { url })).catch(() => undefined);
    return {
      url,
      transport: transport.facts,
      ready: running.ready,
      reopenLogs: () => audit?.reopen(),
      close: async (reason) => {
        await running.close(reason);
        await closeLogs();
      },
    };
  } catch (error) {
    await closeLogs();
    throw error;
  }
}

/** The parts that open after the service listens and close in the opposite order. */
class RunningApp {
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

  constructor(
    config: Config,
    service: Service,
    cursors: CursorRegistry,
    scheduler: Scheduler,
    observer: ServiceObserver,
    log: Logger,
  ) {
    this.#service = service;
    this.#cursors = cursors;
    this.#observer = observer;
    this.#log = log;
    this.#database = openEngine(config, scheduler, observer, log, this.#ending.signal);
    this.ready = this.#open(config);
  }

  async #open(config: Config): Promise<Opened> {
    const database = await this.#database;
    const leader = this.#follow(config, database);
    const { keys, firstKey } = config.authDisabled ? NO_KEYS : await openKeys(config, database, this.#log);
    if (leader === undefined && keys !== undefined) {
      this.#keys = keys;
      this.#keyFlush = setInterval(() => void this.#flushKeys(keys), KEY_FLUSH_MS).unref();
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
    if (this.#keys !== undefined) await this.#flushKeys(this.#keys);
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

function listen(
  config: Config,
  tls: TlsFiles | undefined,
  transport: Transport,
  application: ReturnType<typeof routesApplication>,
  scheduler: Scheduler,
  observer: ServiceObserver,
  log: Logger,
): Promise<Service> {
  return startService({
    routes,
    application,
    host: config.host,
    port: config.port,
    tls,
    transport,
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
    observer,
    log,
  });
}

/**
 * Returns a function that reads a file of a page by name, each file only once. The build puts these
 * files beside dist. The routes ensure that no name leads outside the folder.
 */
export function builtFiles(folder: 'docs-page' | 'console'): (name: string) => Uint8Array | undefined {
  const files = new Map<string, Uint8Array>();
  return (name) => {
    let bytes = files.get(name);
    if (bytes !== undefined) return bytes;
    try {
      bytes = readFileSync(new URL(`../build/${folder}/${name}`, import.meta.url));
    } catch {
      return undefined;
    }
    files.set(name, bytes);
    return bytes;
  };
}

/** Returns the connection to the leader; undefined if the service follows none. */
function leaderOf({ follow: url, followKey: key }: Config): LeaderLink | undefined {
  return url === undefined ? undefined : new LeaderLink({ url, key });
}

async function openEngine(
  config: Config,
  scheduler: Scheduler,
  observer: ServiceObserver,
  log: Logger,
  signal: AbortSignal,
): Promise<Database> {
  const dir = resolve(config.dataDir);
  const leader = leaderOf(config);
  const notice = (message: string, fields: Record<string, unknown>) => log.info(message, fields);
  const auditLog = resolve(config.auditLog);
  const besides = dirname(auditLog) === dir ? [basename(auditLog)] : [];
  if (leader !== undefined) await startDirectory({ fs: nodeFs, dir, leader, signal, besides, notice });
  return openDatabase({
    dir,
    follows: leader !== undefined,
    primaryTable: config.primaryTable,
    maxMembers: config.maxMembers,
    durability: config.durability,
    memoryBudgetMb: config.memoryBudgetMb,
    history: historyOf(config),
    scheduler,
    notice,
    observeLog: observer.logGroup,
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
export function roomsOf(config: Config, database: Database): Rooms {
  const analytics = new Analytics({ database });
  return {
    statements: statementsOf(config, database),
    analytics,
    reasoning: reasoningOf(config, database, analytics),
    virtual: virtualOf(config, database),
  };
}

function statementsOf(config: Config, database: Database): Statements {
  return new Statements({
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

async function openKeys({ apiKey, follow }: Config, { documents }: Database, log: Logger): Promise<OpenedKeys> {
  if (follow !== undefined) {
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

/**
 * Creates the directories that receive files at startup. Throws a ConfigError that names the
 * setting.
 */
function makeDirectories({ dataDir, auditLog }: Config): void {
  for (const [name, dir] of [
    ['dataDir', resolve(dataDir)],
    ['auditLog', dirname(resolve(auditLog))],
  ] as const) {
    try {
      nodeFs.makeDir(dir);
    } catch (error) {
      const detail = `${variableOf(name)}: the directory ${dir} cannot be made (${(error as Error).message}). Choose one that this user may write.`;
      throw new ConfigError(detail);
    }
  }
}

/**
 * Returns warnings about directories that users other than the owner can access. The modes are not
 * changed, since they may be intentional.
 */
function wideDirectories({ dataDir, backupRoot }: Config): string[] {
  return [...new Set([resolve(dataDir), resolve(backupRoot)])].flatMap((dir) => {
    const mode = widerThanOwner(dir);
    if (mode === undefined) return [];
    return `${dir} can be used by others than its owner (mode ${mode}). New files in it are accessible to the owner only; chmod -R go-rwx ${dir} restricts existing files too.`;
  });
}

/** Creates a redactor that masks the secrets of the configuration in all log lines. */
export function redactorFor({ apiKey, followKey, openaiApiKey, virtualDsn }: Config): Redactor {
  const redactor = new Redactor();
  for (const secret of [apiKey, followKey, openaiApiKey]) if (secret !== undefined) redactor.registerSecret(secret);
  for (const dsn of Object.values(virtualDsn)) {
    for (const secret of [dsn, ...passwordsOf(dsn)]) redactor.registerSecret(secret);
  }
  return redactor;
}

/** Returns the password in an address, as written (percent-encoded) and decoded. */
function passwordsOf(dsn: string): string[] {
  if (!URL.canParse(dsn)) return [];
  const { password } = new URL(dsn);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** Shorter RSA keys provide less than 112 bits of security (NIST SP 800-57 part 1, table 2). */
const LEAST_RSA_BITS = 2048;

/**
 * Checks and returns the TLS files. They are checked here because the transport would only report
 * that it cannot listen. Throws ConfigError.
 */
function tlsOf({ tlsCert, tlsKey }: Config): TlsFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const files: TlsFiles = { certFile: resolve(tlsCert), keyFile: resolve(tlsKey) };
  const [cert, key] = [pem('tlsCert', files.certFile), pem('tlsKey', files.keyFile)];
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const pair = `${variableOf('tlsCert')} and ${variableOf('tlsKey')}`;
    throw new ConfigError(`${pair} are not a certificate and its key (${(error as Error).message}).`);
  }
  const { modulusLength: bits = LEAST_RSA_BITS } = new X509Certificate(cert).publicKey.asymmetricKeyDetails ?? {};
  if (bits < LEAST_RSA_BITS)
    throw new ConfigError(
      `${variableOf('tlsCert')} has an RSA key of ${bits} bits, which others can break. Take one of ${LEAST_RSA_BITS} bits or more, or an elliptic curve.`,
    );
  return files;
}

function pem(name: 'tlsCert' | 'tlsKey', file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(`${variableOf(name)} names ${file}, which cannot be read (${(error as Error).message}).`);
  }
}

/** Returns the host as a URL contains it: IPv6 addresses in brackets. */
export function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
