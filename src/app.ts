// Composes the service: configuration, log, HTTP, engine; starts and stops them in order.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './engine/index.ts';
import { type Service, startService } from './http/service.ts';
import { MEGABYTE } from './limits.ts';
import type { Logger } from './observe/log.ts';
import { routes } from './routes/index.ts';

export interface App {
  readonly host: string;
  readonly port: number;
  /** Resolves when the database is open; rejects when it cannot be. */
  readonly ready: Promise<void>;
  /** Lets running requests end, syncs the log, frees the directory. */
  close(): Promise<void>;
}

/** Listens first, then opens the database: until then `/health/ready` and all data routes answer 503. */
export async function startApp(config: Config, log: Logger): Promise<App> {
  const service: Service = await startService({
    routes,
    host: config.host,
    port: config.port,
    maxBodyBytes: Math.floor(config.maxBodyMb * MEGABYTE),
    version: VERSION,
    // Keys do not exist yet: every request is served as with HEDGEROW_AUTH_DISABLED=1.
    authDisabled: true,
    log,
  });
  const opening: Promise<Database> = openDatabase({
    dir: resolve(config.dataDir),
    primaryTable: config.primaryTable,
    maxMembers: config.maxMembers,
    durability: config.durability,
    memoryBudgetMb: config.memoryBudgetMb,
    notice: (message, fields) => log.info(message, fields),
  });
  const ready = opening.then((database) => {
    service.open(database);
    log.info('database open', { dir: database.dir, last_lsn: database.lastLsn });
  });
  return {
    host: service.host,
    port: service.port,
    ready,
    close: async () => {
      await service.close();
      const database = await opening.catch(() => undefined);
      await database?.close();
    },
  };
}

/** Of the package; src and dist both lie beside package.json. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
