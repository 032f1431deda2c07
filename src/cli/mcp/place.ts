// Opens the place that the tools work on: a server or a data directory.

import { HedgerowClient } from '../../client/index.ts';
import type { RunnerFlags } from '../query/options.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { UsageError, type World } from '../world.ts';

/**
 * Options of the client. The client has no time limit, because the service has one and reports it
 * in a sentence, and the caller can cancel. A limit in the client would only cause long work to be
 * repeated.
 */
export const CALLS = { timeoutMs: 0, readYourWrites: true } as const;

export interface Place {
  readonly client: HedgerowClient;
  close(): Promise<void>;
}

/**
 * Throws UsageError, ConfigError, or the error of opening the directory. Does not contact a server.
 */
export async function openPlace(flags: RunnerFlags, allowWrites: boolean, world: World): Promise<Place> {
  const { url, apiKey, data, config } = flags;
  if (data !== undefined) {
    if (url !== undefined) throw new UsageError('--data and --url exclude each other.');
    // Loads the whole service; a session with a server starts sooner without it.
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
