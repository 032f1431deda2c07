// `hedgerow serve-virtual`: serves only virtual graphs, without keys and without a database, to
// this machine.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { bracketed, builtFiles, redactorFor } from '../app/prepare.ts';
import { refinerOf } from '../app.ts';
import { type Config, isLoopback } from '../config.ts';
import { chooseTransport, startService, type Transport, transportLine } from '../http/index.ts';
import { MEGABYTE } from '../limits.ts';
import { type Logger, openLog } from '../observe/log.ts';
import type { Observer } from '../observe/observer.ts';
import { createObserver } from '../observe/service-observer.ts';
import { routesApplication, type Service } from '../routes/index.ts';
import { VERSION } from '../version.ts';
import { VirtualGraphs } from '../virtual/index.ts';
import { loadSettings } from './config/load.ts';
import { standaloneRoutes } from './serve-virtual-routes.ts';
import { openSpecFolder } from './serve-virtual-specs.ts';
import { reportFailure, UsageError, type World } from './world.ts';

export interface ServeVirtualFlags {
  specDir?: string | undefined;
  root?: string | undefined;
  host?: string | undefined;
  port?: string | undefined;
  config?: string | undefined;
}

/**
 * Resolves with the exit code after the service has stopped: 0 on success, 1 when a spec is wrong
 * or the port cannot be opened, 2 for a wrong call.
 */
export async function serveVirtual(flags: ServeVirtualFlags, world: World): Promise<number> {
  try {
    const { specDir, root } = foldersOf(flags, world);
    const { config, warnings } = loadSettings({ config: flags.config, settings: settingsOf(flags, root) }, world);
    const documents = openSpecFolder(specDir, root);
    const opened = openLog({
      format: config.logFormat,
      level: config.logLevel,
      now: () => new Date(),
      redactor: redactorFor(config),
    });
    const { log } = opened;
    const transport = chooseTransport(config.transport);
    const observer = createObserver({
      log,
      audit: undefined,
      version: VERSION,
      transport: transport.facts,
      queryLines: opened.queryLines,
      logLinesLost: () => opened.lost,
    });
    try {
      for (const warning of warnings) log.warn(warning);
      const virtual = graphsOf(config, root, documents);
      // Fails early without the library, because nothing else is served here.
      virtual.assertInstalled();
      const service = await listen(config, root, transport, observer, log);
      const stopped = new Promise<string>((done) => {
        world.onInterrupt(done);
      });
      service.open({ virtual });
      const count = documents.entries('').length;
      world.stdout.write(`hedgerow: listening on http://${bracketed(service.host)}:${service.port}\n`);
      world.stdout.write(`hedgerow: ${transportLine(transport.facts)}\n`);
      world.stdout.write(`hedgerow: ${count} ${count === 1 ? 'graph' : 'graphs'} in ${specDir}, files below ${root}\n`);
      log.info('stopping', { reason: await stopped });
      await service.close();
    } finally {
      observer.close();
      await opened.close();
    }
    return 0;
  } catch (error) {
    return reportFailure(world, error);
  }
}

function foldersOf({ specDir: given, root }: ServeVirtualFlags, { cwd }: World): { specDir: string; root: string } {
  if (given === undefined) throw new UsageError('serve-virtual needs --spec-dir DIR, the folder of the specs.');
  for (const dir of [given, root ?? given]) {
    const found = statSync(resolve(cwd, dir), { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (!found) throw new Error(`There is no directory ${dir}. Make it first.`);
  }
  const specDir = resolve(cwd, given);
  return { specDir, root: root === undefined ? specDir : resolve(cwd, root) };
}

/** Throws UsageError for an address that other machines can reach, whatever the other settings. */
function settingsOf({ host = '127.0.0.1', port }: ServeVirtualFlags, root: string) {
  if (!isLoopback(host)) {
    const given = JSON.stringify(host);
    throw new UsageError(
      `--host is ${given}, which other machines can reach, but serve-virtual asks for no key. Take 127.0.0.1, or hedgerow serve.`,
    );
  }
  return { host, port, authDisabled: '1', virtualRoot: root };
}

function listen(config: Config, root: string, transport: Transport, observer: Observer, log: Logger): Promise<Service> {
  return startService({
    routes: standaloneRoutes,
    application: routesApplication(),
    host: config.host,
    port: config.port,
    transport,
    maxBodyBytes: Math.floor(config.maxBodyMb * MEGABYTE),
    version: VERSION,
    authDisabled: true,
    rateLimitQpm: 0,
    corsOrigins: config.corsOrigins,
    publicHosts: config.publicHosts,
    queryTimeoutMs: config.queryTimeoutMs,
    streamMaxSeconds: config.streamMaxSeconds,
    backupRoot: root,
    pageFile: builtFiles('docs-page'),
    observer,
    log,
  });
}

function graphsOf(config: Config, root: string, documents: ReturnType<typeof openSpecFolder>): VirtualGraphs {
  return new VirtualGraphs({
    database: undefined,
    documents,
    root,
    dsns: config.virtualDsn,
    cache: config.virtualCache,
    monotonicMs: () => performance.now(),
    refine: refinerOf(config),
  });
}
