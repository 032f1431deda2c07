// Puts the parts of http/ together: services, router, dispatcher and the listening server.

import { randomBytes } from 'node:crypto';
import { RateLimit } from '../access/rate-limit.ts';
import type { Analytics } from '../analytics/index.ts';
import type { Database } from '../engine/index.ts';
import type { Logger } from '../observe/log.ts';
import type { Observer } from '../observe/observer.ts';
import type { Statements } from '../query/statements.ts';
import type { Reasoning } from '../rag/index.ts';
import type { VirtualGraphs } from '../virtual/index.ts';
import { AnswerSpace } from './answer-space.ts';
import { Cors } from './cors.ts';
import { CursorRegistry } from './cursors.ts';
import { Dispatcher } from './dispatch.ts';
import { EntityTags } from './entity-tag.ts';
import { Guard } from './guard.ts';
import { AnswerHeads } from './head-block.ts';
import { LOOK_MS, Load, type LoadLimits, usualLimits } from './load.ts';
import { OnceOnly } from './once.ts';
import type { Parts } from './parts.ts';
import { RequestIds } from './request-id.ts';
import type { Keys, Route, Services } from './route.ts';
import { Router } from './router.ts';
import { Sample } from './sample.ts';
import { type HttpServer, listen, type TlsFiles } from './server.ts';
import { SliceQueue } from './slices.ts';

const SWEEP_MS = 30_000;

export interface ServiceOptions {
  routes: readonly Route[];
  host: string;
  port: number;
  /** Serve https with these files, in PEM form. */
  tls?: TlsFiles | undefined;
  maxBodyBytes: number;
  version: string;
  authDisabled: boolean;
  /** Requests a minute of one key or address; 0: no limit. */
  rateLimitQpm: number;
  /** Origins whose pages may read answers; `*`: all. */
  corsOrigins: readonly string[];
  /** Time until a read's answer must have begun; 0: no limit. */
  queryTimeoutMs: number;
  /** Absolute path below which backups are written. */
  backupRoot: string;
  /** Reads a file of the page at /docs. Default: there is none. */
  pageFile?: Services['pageFile'];
  consoleFile?: Services['consoleFile'];
  observer: Observer;
  log: Logger;
  /** For tests: others than the usual ones (load.ts). */
  limits?: Partial<LoadLimits>;
}

/** What answers the questions that the database itself does not. */
export interface Rooms {
  statements?: Statements;
  analytics?: Analytics;
  reasoning?: Reasoning;
  virtual?: VirtualGraphs;
}

export interface Service {
  readonly host: string;
  readonly port: number;
  /**
   * From now on all routes are answered; without a database those that need none. `keys`: undefined when nobody needs one.
   */
  open(database: Database | undefined, keys: Keys | undefined, rooms?: Rooms): void;
  /** Refuses new work, lets running requests end; the database stays open. */
  close(graceMs?: number): Promise<void>;
}

/** Listens at once; routes that need the database answer 503 until `open`. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const parts = makeParts(options);
  const { load } = parts;
  const limit = new RateLimit({ perMinute: options.rateLimitQpm, seed: randomBytes(4).readUInt32LE() });
  const dispatcher = new Dispatcher({
    parts,
    router: new Router(options.routes, (route) => parts.observer.addRoute(route.method, route.path)),
    guard: new Guard(parts, limit),
    once: new OnceOnly(),
    maxBodyBytes: options.maxBodyBytes,
  });
  const server: HttpServer = await listen(dispatcher, options);
  const sweep = setInterval(() => {
    parts.cursors.sweep();
    if (parts.database !== undefined) parts.cursors.relieve(parts.database);
    parts.statements?.sessions.sweep();
  }, SWEEP_MS).unref();
  const look = setInterval(() => load.look(), LOOK_MS).unref();
  return {
    host: server.host,
    port: server.port,
    open: (database, keys, rooms = {}) => {
      parts.database = database;
      parts.keys = keys;
      parts.statements = rooms.statements;
      parts.analytics = rooms.analytics;
      parts.reasoning = rooms.reasoning;
      parts.virtual = rooms.virtual;
    },
    close: async (graceMs = 10_000) => {
      parts.draining = true;
      clearInterval(sweep);
      await Promise.race([load.idle(), wait(graceMs)]);
      clearInterval(look);
      server.close();
      parts.cursors.close();
      parts.statements?.close();
      await Promise.all([parts.analytics?.close(), parts.virtual?.close()]);
    },
  };
}

function makeParts(options: ServiceOptions): Parts {
  const { routes, observer, log, version, authDisabled, backupRoot, queryTimeoutMs } = options;
  const ids = new RequestIds(randomBytes(6).toString('base64url'));
  const tags = new EntityTags(randomBytes(6).toString('base64url'));
  const cors = new Cors(options.corsOrigins);
  const now = () => performance.now();
  return {
    database: undefined,
    keys: undefined,
    statements: undefined,
    analytics: undefined,
    reasoning: undefined,
    virtual: undefined,
    draining: false,
    routes,
    observer,
    log,
    version,
    authDisabled,
    backupRoot,
    queryTimeoutMs,
    pageFile: options.pageFile ?? (() => undefined),
    consoleFile: options.consoleFile ?? (() => undefined),
    cursors: new CursorRegistry({ now, secret: randomBytes(32) }),
    slices: new SliceQueue(now),
    space: new AnswerSpace(),
    tags,
    now,
    startedAt: now(),
    ids,
    heads: new AnswerHeads({ limit: options.rateLimitQpm, vary: cors.vary, tags, idPrefix: ids.prefix }),
    cors,
    load: new Load({ ...usualLimits(options.maxBodyBytes), ...options.limits }),
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
