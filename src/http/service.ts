// Assembles http/: services, router, dispatcher and the listening server.

import { randomBytes } from 'node:crypto';
import { RateLimit } from '../access/rate-limit.ts';
import type { Logger } from '../observe/log.ts';
import type { Observer } from '../observe/observer.ts';
import { Scheduler } from '../schedule/scheduler.ts';
import { AnswerSpace } from './answer/answer-space.ts';
import { chooseTransport } from './choose-transport.ts';
import { mostConnections } from './connection-limit.ts';
import { Cors } from './cors.ts';
import { Dispatcher } from './dispatch.ts';
import { EntityTags } from './entity-tag.ts';
import { ForeignRequests } from './foreign-requests.ts';
import { Guard } from './guard.ts';
import { AnswerHeads } from './head-block.ts';
import { LOOK_MS, Load, type LoadLimits, usualLimits } from './load.ts';
import { OnceOnly } from './once.ts';
import type { Parts } from './parts.ts';
import { RequestIds } from './request-id.ts';
import type { Carried, HttpServices, Route, Services } from './route.ts';
import { Router } from './router.ts';
import { Sample } from './sample.ts';
import { SocketCounts } from './socket-counts.ts';
import { peersOf } from './tcp-table.ts';
import type { HttpServer, ListenOptions, RequestHandler, TlsFiles, Transport } from './transport.ts';

const SWEEP_MS = 30_000;

export interface ServiceOptions<S extends Carried> {
  routes: readonly Route<S>[];
  application: Application<S>;
  host: string;
  port: number;
  /** Serve https with these files, in PEM format. */
  tls?: TlsFiles | undefined;
  /** Default: uWebSockets.js if it loads, otherwise node:http. */
  transport?: Transport;
  /** Set if other processes listen on the same port; see `ListenOptions`. */
  shared?: ListenOptions['shared'];
  /**
   * True if all requests come from workers of this service, which have checked rate limits, hosts
   * and origins. Default: false.
   */
  servesWorkers?: boolean;
  /** Shares the event loop with other long work of the thread; default: a separate scheduler. */
  scheduler?: Scheduler | undefined;
  maxBodyBytes: number;
  version: string;
  authDisabled: boolean;
  /** Requests per minute of one key or address; 0 means no limit. */
  rateLimitQpm: number;
  /** Origins whose pages may read answers; `*` means all. */
  corsOrigins: readonly string[];
  /**
   * Further host names at which requests may be addressed to the service while no key is needed.
   */
  publicHosts?: readonly string[];
  /** Maximum number of open connections per client address; default 0: no limit. */
  socketsPerAddress?: number;
  /** Addresses of proxies, whose connections are not counted. */
  proxyAddresses?: readonly string[];
  /** Time in milliseconds until a read's answer must have begun; 0 means no limit. */
  queryTimeoutMs: number;
  /** Maximum duration of a streamed answer; default 0: no limit. */
  streamMaxSeconds?: number;
  /** Absolute path below which backups are written. */
  backupRoot: string;
  /** Reads a file of the page at /docs. Default: there is none. */
  pageFile?: HttpServices['pageFile'];
  consoleFile?: HttpServices['consoleFile'];
  observer: Observer;
  log: Logger;
  /** Overrides the usual limits (load.ts), for tests. */
  limits?: Partial<LoadLimits>;
}

/**
 * The services that handlers use in addition to those of http/, and functions that maintain these
 * services.
 */
export interface Application<S extends Carried> {
  /** The services at the start; `open` replaces some of them. */
  readonly initial: S;
  /** Called every 30 seconds, to drop everything that has been idle for too long. */
  sweep(services: S): void;
  /** Called once, when no request is running any more or the grace period has passed. */
  close(services: S): Promise<void>;
}

export interface Service<S extends Carried = Carried> {
  readonly host: string;
  readonly port: number;
  /**
   * Replaces the given services. From then on, all routes are answered; without a database, only
   * the routes that need none.
   */
  open(services: Partial<S>): void;
  /** Listens, if other processes serve the same port: then the service does not listen before. */
  listen(): Promise<void>;
  /** The rate limit, whose counts the processes of one service exchange. */
  readonly rateLimit: Pick<RateLimit, 'takeSpent' | 'charge'>;
  /** Resolves when no request is running, or after `ms` milliseconds. */
  idle(ms: number): Promise<void>;
  /**
   * Refuses new work, waits for running requests (at most `graceMs` milliseconds), and then stops
   * listening. The database stays open.
   */
  close(graceMs?: number): Promise<void>;
}

/** Listens immediately; routes that need the database answer 503 until `open`. */
export async function startService<S extends Carried>(options: ServiceOptions<S>): Promise<Service<S>> {
  const { application, transport = chooseTransport('auto') } = options;
  const parts = makeParts(options, transport);
  const { load } = parts;
  const perMinute = options.servesWorkers === true ? 0 : options.rateLimitQpm;
  const notes = perMinute > 0 && options.shared !== undefined;
  const limit = new RateLimit({ perMinute, seed: randomBytes(4).readUInt32LE(), notes });
  const dispatcher = new Dispatcher({
    parts,
    router: new Router(options.routes, (route) => parts.observer.addRoute(route.method, route.path)),
    guard: new Guard(parts, limit, foreignRequests(options, parts)),
    once: new OnceOnly(),
    maxBodyBytes: options.maxBodyBytes,
    checksChunks: transport.checksChunks,
  });
  let port: number | undefined;
  const mostInAll = mostConnections();
  const sockets = new SocketCounts({
    most: options.socketsPerAddress ?? 0,
    ...(mostInAll === undefined ? {} : { mostInAll }),
    exempt: options.proxyAddresses ?? [],
    peers: () => (port === undefined ? undefined : peersOf(port)),
    now: () => performance.now(),
  });
  let server: HttpServer | undefined;
  const listen = async () => {
    const handle: RequestHandler = (response, request, method) => dispatcher.handle(response, request, method);
    server = await transport.listen(handle, { ...options, sockets });
    port = server.port;
  };
  if (options.shared === undefined) await listen();
  const sweep = setInterval(() => application.sweep(parts), SWEEP_MS).unref();
  const look = setInterval(() => load.look(), LOOK_MS).unref();
  return {
    host: options.host,
    port: port ?? options.port,
    listen,
    open: (services) => {
      Object.assign(parts, services);
    },
    rateLimit: limit,
    idle: (ms) => Promise.race([load.idle(), wait(ms)]),
    close: async (graceMs = 10_000) => {
      parts.draining = true;
      clearInterval(sweep);
      await Promise.race([load.idle(), wait(graceMs)]);
      clearInterval(look);
      server?.close();
      await application.close(parts);
    },
  };
}

/** Returns undefined if keys are needed. */
function foreignRequests(
  { authDisabled, host, publicHosts = [], tls }: ServiceOptions<Carried>,
  { cors, servesWorkers }: Parts,
): ForeignRequests | undefined {
  return authDisabled && !servesWorkers
    ? new ForeignRequests({ host, publicHosts, isSecure: tls !== undefined, cors })
    : undefined;
}

function makeParts<S extends Carried>(options: ServiceOptions<S>, transport: Transport): Parts & Services<S> {
  const { routes, observer, log, version, authDisabled, backupRoot, queryTimeoutMs } = options;
  const ids = new RequestIds(randomBytes(6).toString('base64url'));
  const tags = new EntityTags(randomBytes(6).toString('base64url'));
  const cors = new Cors(options.corsOrigins);
  const now = () => performance.now();
  const limits = { ...usualLimits(options.maxBodyBytes), ...options.limits };
  return {
    ...options.application.initial,
    draining: false,
    routes,
    observer,
    log,
    version,
    transport: transport.facts,
    authDisabled,
    backupRoot,
    queryTimeoutMs,
    pageFile: options.pageFile ?? (() => undefined),
    consoleFile: options.consoleFile ?? (() => undefined),
    scheduler: options.scheduler ?? new Scheduler(),
    space: new AnswerSpace(),
    tags,
    now,
    startedAt: now(),
    ids,
    heads: new AnswerHeads({ limit: options.rateLimitQpm, vary: cors.vary, tags, idPrefix: ids.prefix }),
    cors,
    isTls: options.tls !== undefined,
    servesWorkers: options.servesWorkers === true,
    load: new Load(limits),
    readerLimits: { stallMs: limits.stallMs, streamMs: (options.streamMaxSeconds ?? 0) * 1000 },
    epochMs: () => Date.now(),
    sample: new Sample(randomBytes(4).readInt32LE()),
    unmatchedRoute: observer.addRoute('*', 'unmatched'),
    optionsRoute: observer.addRoute('OPTIONS', '*'),
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
