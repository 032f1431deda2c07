// Where the tools work: at a server, or in a data directory.

import { HedgerowClient } from '../../client/index.ts';
import type { RunnerFlags } from '../query/options.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { UsageError, type World } from '../world.ts';

/**
 * The service has a time limit of its own and says so in a sentence; the caller can cancel. A limit
 * here would only send long work once more.
 */
export const CALLS = { timeoutMs: 0, readYourWrites: true } as const;

export interface Place {
  readonly client: HedgerowClient;
  close(): Promise<void>;
}

/** Throws UsageError, ConfigError, or what the directory says. A server is not asked yet. */
export async function openPlace(flags: RunnerFlags, allowWrites: boolean, world: World): Promise<Place> {
  const { url, apiKey, data, config } = flags;
  if (data !== undefined) {
    if (url !== undefined) throw new UsageError('--data and --url exclude each other.');
    // The whole service; a session with a server starts sooner without it.
    const { openDirectoryPlace } = await import('./directory-place.ts');
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
