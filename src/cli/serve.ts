// `hedgerow serve`: runs the service until it is told to stop.

import { startApp } from '../app.ts';
import { type Config, ConfigError, loadConfig } from '../config.ts';
import { createLogger } from '../observe/log.ts';

/** Flags by setting, as the command line gave them. */
export type ServeFlags = Readonly<Partial<Record<keyof Config, string | undefined>>>;

/** Resolves with the exit code once the service has stopped. */
export async function serve(flags: ServeFlags): Promise<number> {
  let loaded: ReturnType<typeof loadConfig>;
  try {
    loaded = loadConfig({ environment: process.env, flags, isTerminal: process.stderr.isTTY === true });
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
  const { config, warnings } = loaded;
  const log = createLogger({
    format: config.logFormat,
    level: config.logLevel,
    write: (line) => process.stderr.write(line),
    now: () => new Date(),
  });
  for (const warning of warnings) log.warn(warning);
  let app: Awaited<ReturnType<typeof startApp>>;
  try {
    app = await startApp(config, log);
  } catch (error) {
    return fail((error as Error).message);
  }
  const stopped = new Promise<string>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  process.stdout.write(`hedgerow: listening on http://${bracketed(app.host)}:${app.port}\n`);
  const outcome = await Promise.race([
    stopped.then((signal) => ({ signal })),
    app.ready.then(
      () => stopped.then((signal) => ({ signal })),
      (error: Error) => ({ error }),
    ),
  ]);
  if ('error' in outcome) {
    await app.close();
    return fail(outcome.error.message);
  }
  log.info('stopping', { signal: outcome.signal });
  await app.close();
  log.info('stopped');
  return 0;
}

function fail(message: string): number {
  process.stderr.write(`hedgerow: ${message}\n`);
  return 1;
}

/** IPv6 addresses stand in brackets in a URL. */
function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
