// Assembles the service from its parts (configuration, log, audit log, metrics, HTTP, engine,
// keys), and starts and stops them in order.

import { resolve } from 'node:path';
import { bracketed, builtFiles, makeDirectories, redactorFor, tlsOf, wideDirectories } from './app/prepare.ts';
import { ReplicaApp } from './app/replica-app.ts';
import { type Opened, SingleApp } from './app/single-app.ts';
import type { Config, LoadedConfig } from './config.ts';
import { chooseTransport, startService, type TlsFiles, type Transport, type TransportFacts } from './http/index.ts';
import { MEGABYTE } from './limits.ts';
import { AuditLog } from './observe/audit.ts';
import { type Logger, openLog } from './observe/log.ts';
import { createObserver, type ServiceObserver } from './observe/service-observer.ts';
import { routes, routesApplication, type Service } from './routes/index.ts';
import { Scheduler } from './schedule/scheduler.ts';
import { nodeFs } from './storage/index.ts';
import { VERSION } from './version.ts';
import { Crew, type Question, type Usage, type WorkerPeer } from './workers/index.ts';

export { refinerOf, roomsOf } from './app/rooms.ts';
export type { Opened };

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
    const service = await listen({ config, tls, transport, peer, crew }, application, scheduler, observer, log);
    const { cursors } = application.initial;
    const url = `${tls === undefined ? 'http' : 'https'}://${bracketed(service.host)}:${service.port}`;
    const parts = { config, scheduler, observer, log, peer, crew, url };
    const running =
      config.log === 'files'
        ? new SingleApp(parts, service, cursors)
        : new ReplicaApp(parts, service, cursors, config.advertiseUrl ?? url);
    if (peer === undefined) log.info('starting', { url, version: VERSION, transport: transport.facts });
    if (running instanceof SingleApp) crew?.start(running);
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
      answer: async (question) => (running instanceof SingleApp ? running.answer(question) : undefined),
      charge: (usage) => (running instanceof SingleApp ? running.charge(usage) : undefined),
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

interface Place {
  readonly config: Config;
  readonly tls: TlsFiles | undefined;
  readonly transport: Transport;
  readonly peer: WorkerPeer<Config> | undefined;
  readonly crew: Crew | undefined;
}

function listen(
  { config, tls, transport, peer, crew }: Place,
  application: ReturnType<typeof routesApplication>,
  scheduler: Scheduler,
  observer: ServiceObserver,
  log: Logger,
): Promise<Service> {
  return startService({
    routes,
    application,
    host: config.host,
    port: crew?.port ?? peer?.port ?? config.port,
    tls,
    transport: crew?.link ?? transport,
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
