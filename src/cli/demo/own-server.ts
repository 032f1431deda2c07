// Starts the demo's own server on its own data directory and a free port, with a key created for
// this run.

import { type App, startApp } from '../../app.ts';
import type { LoadedConfig } from '../../config.ts';
import { loadSettings } from '../config/load.ts';
import { openKeyAccess } from '../keys/access.ts';
import type { World } from '../world.ts';

const KEY_DESCRIPTION = 'hedgerow demo';
/** This many ports are tried in turn before the system chooses a free one. */
const PORTS_TRIED = 10;

export interface OwnServer {
  readonly url: string;
  readonly key: string;
  close(reason: string): Promise<void>;
}

/**
 * Starts the server; looks for a free port when `port` is undefined. Throws ConfigError, or the
 * error of opening the directory.
 */
export async function startOwnServer(dir: string, port: string | undefined, world: World): Promise<OwnServer> {
  const key = await freshKey(dir, world);
  const app = await firstFree(dir, port, world);
  try {
    await app.ready;
  } catch (error) {
    await app.close('start failed');
    throw error;
  }
  return { url: app.url, key, close: (reason) => app.close(reason) };
}

/**
 * Creates a key and revokes the keys of earlier runs. Keys are stored as hashes, so an earlier key
 * cannot be shown again.
 */
async function freshKey(dir: string, world: World): Promise<string> {
  const access = await openKeyAccess({ data: dir }, true, world);
  try {
    const earlier = (await access.list()).filter(({ description }) => description === KEY_DESCRIPTION);
    const { plaintext_key } = await access.create({ role: 'admin', description: KEY_DESCRIPTION });
    for (const { key_id } of earlier) await access.revoke(key_id);
    return plaintext_key;
  } finally {
    await access.close();
  }
}

async function firstFree(dir: string, given: string | undefined, world: World): Promise<App> {
  if (given !== undefined) return start(dir, given, world);
  const first = settingsOf(dir, undefined, world).config.port;
  for (let port = first; port < first + PORTS_TRIED; port++) {
    try {
      return await start(dir, String(port), world);
    } catch (error) {
      if (!(error as Error).message.startsWith('cannot listen')) throw error;
    }
  }
  return start(dir, '0', world);
}

function start(dir: string, port: string, world: World): Promise<App> {
  return startApp(settingsOf(dir, port, world));
}

/**
 * Loads the settings of a server from the environment, but overrides those that the demo sets
 * itself: directory, address, port, keys and log level.
 */
function settingsOf(dir: string, port: string | undefined, world: World): LoadedConfig {
  const settings = { dataDir: dir, host: '127.0.0.1', port, authDisabled: '0', logLevel: 'warn' };
  const loaded = loadSettings({ config: undefined, settings }, world);
  return { ...loaded, config: { ...loaded.config, apiKey: undefined } };
}
