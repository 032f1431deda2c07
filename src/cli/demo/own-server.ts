// The demo's own server: over its own data directory, on a free port, with a key made for this run.

import { type App, startApp } from '../../app.ts';
import type { LoadedConfig } from '../../config.ts';
import { loadSettings } from '../config/load.ts';
import { openKeyAccess } from '../keys/access.ts';
import type { World } from '../world.ts';

const KEY_DESCRIPTION = 'hedgerow demo';
/** Ports tried one after the other before any free one is taken. */
const PORTS_TRIED = 10;

export interface OwnServer {
  readonly url: string;
  readonly key: string;
  close(reason: string): Promise<void>;
}

/** `port`: undefined looks for a free one. Throws ConfigError, or what the directory says. */
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

/** Keys are stored as hashes, so those of earlier runs cannot be shown again: they are revoked. */
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
 * Of the environment what a server takes, but for what would make it another one than was promised.
 */
function settingsOf(dir: string, port: string | undefined, world: World): LoadedConfig {
  const settings = { dataDir: dir, host: '127.0.0.1', port, authDisabled: '0', logLevel: 'warn' };
  const loaded = loadSettings({ config: undefined, settings }, world);
  return { ...loaded, config: { ...loaded.config, apiKey: undefined } };
}
