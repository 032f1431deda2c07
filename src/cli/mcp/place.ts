// Where the tools work: at a server, or in a data directory, which is then served to this process alone.

import { randomBytes } from 'node:crypto';
import type { Principal } from '../../access/principal.ts';
import { roomsOf } from '../../app.ts';
import { HedgerowClient } from '../../client/index.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { Keys } from '../../http/route.ts';
import { type Service, startService } from '../../http/service.ts';
import { MEGABYTE } from '../../limits.ts';
import { createLogger } from '../../observe/log.ts';
import { UNOBSERVED } from '../../observe/observer.ts';
import { routes } from '../../routes/index.ts';
import { VERSION } from '../../version.ts';
import { openDirectory } from '../query/directory-runner.ts';
import type { RunnerFlags } from '../query/options.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { UsageError, type World } from '../world.ts';

/** The service has a time limit of its own and says so in a sentence; whoever asks can cancel. A limit here would only send long work once more. */
const CALLS = { timeoutMs: 0, readYourWrites: true } as const;

export interface Place {
  readonly client: HedgerowClient;
  close(): Promise<void>;
}

/** Throws UsageError, ConfigError, or what the directory says. A server is not asked yet. */
export async function openPlace(flags: RunnerFlags, allowWrites: boolean, world: World): Promise<Place> {
  const { url, apiKey, data, config } = flags;
  if (data !== undefined) {
    if (url !== undefined) throw new UsageError('--data and --url exclude each other.');
    return openDirectoryPlace(data, config, allowWrites, world);
  }
  if (config !== undefined) throw new UsageError('--config needs --data: a server has its own settings.');
  const client = new HedgerowClient({
    url: urlOf(url ?? DEFAULT_URL),
    ...CALLS,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return { client, close: async () => {} };
}

/** Served on a free loopback port under a key that nobody else learns, so that both places answer with the same sentences. */
async function openDirectoryPlace(
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
  service.open(database, soleKey(key, allowWrites ? 'readwrite' : 'readonly'), roomsOf(settings, database));
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
    host: '127.0.0.1',
    port: 0,
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

/** A key of this run, stored nowhere. The keys of the directory are not asked: who can read its files needs none. */
function soleKey(key: string, role: Principal['role']): Keys {
  const principal: Principal = { keyId: 'mcp', role };
  const none = (): never => {
    throw new HedgerowError('no_keys', 'Keys of a directory are managed with hedgerow keys --data DIR.');
  };
  return {
    authenticate: (given) => (given === key ? principal : undefined),
    list: () => [],
    create: async () => none(),
    revoke: async () => none(),
  };
}
