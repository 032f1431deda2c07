// Assembles the service from its parts (configuration, log, audit log, metrics, HTTP, engine,
// keys), and starts and stops them in order.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { ReplicaApp } from './app/replica-app.ts';
import { type Opened, SingleApp } from './app/single-app.ts';
import { type Config, ConfigError, type LoadedConfig, variableOf } from './config.ts';
import { chooseTransport, startService } from './http/index.ts';
import type { TlsFiles, Transport, TransportFacts } from './http/transport.ts';
import { MEGABYTE } from './limits.ts';
import { AuditLog } from './observe/audit.ts';
import { type Logger, openLog } from './observe/log.ts';
import { Redactor } from './observe/redact.ts';
import { createObserver, type ServiceObserver } from './observe/service-observer.ts';
import { routes, routesApplication, type Service } from './routes/index.ts';
import { Scheduler } from './schedule/scheduler.ts';
import { nodeFs, widerThanOwner } from './storage/index.ts';
import { VERSION } from './version.ts';

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
    const url = `${tls === undefined ? 'http' : 'https'}://${bracketed(service.host)}:${service.port}`;
    const parts = { config, scheduler, observer, log };
    const running =
      config.log === 'files'
        ? new SingleApp(parts, service, cursors)
        : new ReplicaApp(parts, service, cursors, config.advertiseUrl ?? url);
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
export function redactorFor({ apiKey, followKey, openaiApiKey, logDsn, virtualDsn }: Config): Redactor {
  const redactor = new Redactor();
  for (const secret of [apiKey, followKey, openaiApiKey]) if (secret !== undefined) redactor.registerSecret(secret);
  for (const dsn of [...Object.values(virtualDsn), ...(logDsn === undefined ? [] : [logDsn])]) {
    for (const secret of [dsn, ...passwordsOf(dsn)]) redactor.registerSecret(secret);
  }
  return redactor;
}

/** Returns the password in an address, as written (percent-encoded) and decoded. */
function passwordsOf(dsn: string): string[] {
  // An address with several hosts is no URL.
  const [, password = ''] = /^\w+:\/\/[^:/@]*:([^/@]*)@/.exec(dsn) ?? [];
  if (password === '') return [];
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
