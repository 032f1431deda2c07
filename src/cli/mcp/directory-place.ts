// Opens a data directory for the tools, by serving it on loopback to this process alone.

import { randomBytes } from 'node:crypto';
import type { Principal } from '../../access/principal.ts';
import { roomsOf } from '../../app.ts';
import { HedgerowClient } from '../../client/index.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { chooseTransport, startService } from '../../http/index.ts';
import { MEGABYTE } from '../../limits.ts';
import { createLogger } from '../../observe/log.ts';
import { UNOBSERVED } from '../../observe/observer.ts';
import { type Keys, routes, routesApplication, type Service } from '../../routes/index.ts';
import { VERSION } from '../../version.ts';
import { openDirectory } from '../run/directory-runner.ts';
import type { World } from '../world.ts';
import { CALLS, type Place } from './place.ts';

/**
 * Serves the directory on a free loopback port under a secret key. The tools thus use the same
 * client as with a server, and get the same messages.
 */
export async function openDirectoryPlace(
  data: string,
  configFile: string | undefined,
  allowWrites: boolean,
  world: World,
): Promise<Place> {
  const { database, settings } = await openDirectory(data, configFile, world);
  const key = randomBytes(32).toString('base64url');
  let service: Service;
  try {
    service = await serveOn(database, settings, world);
  } catch (error) {
    await database.close();
    throw error;
  }
  const keys = soleKey(key, allowWrites ? 'readwrite' : 'readonly');
  service.open({ database, keys, ...roomsOf(settings, database) });
  return {
    client: new HedgerowClient({ url: `http://127.0.0.1:${service.port}`, apiKey: key, ...CALLS }),
    close: async () => {
      await service.close();
      await database.close();
    },
  };
}

function serveOn(database: Database, settings: Config, world: World): Promise<Service> {
  return startService({
    routes,
    application: routesApplication(),
    host: '127.0.0.1',
    port: 0,
    transport: chooseTransport(settings.transport),
    scheduler: database.scheduler,
    maxBodyBytes: Math.floor(settings.maxBodyMb * MEGABYTE),
    version: VERSION,
    authDisabled: false,
    rateLimitQpm: 0,
    corsOrigins: [],
    queryTimeoutMs: settings.queryTimeoutMs,
    backupRoot: database.dir,
    observer: UNOBSERVED,
    log: createLogger({
      format: 'text',
      level: 'error',
      now: () => new Date(),
      write: (line) => void world.stderr.write(line),
    }),
  });
}

/**
 * Accepts a single key that exists only during this run. The keys of the directory are not checked,
 * because a user who can read its files needs none.
 */
function soleKey(key: string, role: Principal['role']): Keys {
  const principal: Principal = { keyId: 'mcp', role };
  const none = (): never => {
    throw new HedgerowError('no_keys', 'Keys of a directory are managed with hedgerow keys --data DIR.');
  };
  return {
    authenticate: (given) => (given === key ? principal : undefined),
    isValid: () => true,
    list: () => [],
    create: async () => none(),
    revoke: async () => none(),
  };
}
