// Computes measures on a server or in a data directory, both through one interface.

import { Analytics } from '../../analytics/index.ts';
import { HedgerowClient } from '../../client/index.ts';
import { startWorkProgress } from '../progress.ts';
import type { RunnerFlags } from '../query/options.ts';
import { openDirectory } from '../run/directory-runner.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { UsageError, type World } from '../world.ts';

export interface MeasureSource {
  list(signal: AbortSignal): Promise<readonly { measure: string; about: string }[]>;
  /**
   * Rejects with the error of the measure, or with the signal's reason when the signal is aborted.
   */
  run(
    table: string,
    measure: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<{ result: unknown }>;
  close(): Promise<void>;
}

/** Throws UsageError, ConfigError, or the error of opening the directory. */
export async function openSource({ url, apiKey, data, config }: RunnerFlags, world: World): Promise<MeasureSource> {
  if (data !== undefined) {
    if (url !== undefined) throw new UsageError('--data and --url exclude each other.');
    return directorySource(data, config, world);
  }
  if (config !== undefined) throw new UsageError('--config needs --data: a server has its own settings.');
  return serverSource(urlOf(url ?? DEFAULT_URL), apiKey);
}

/**
 * Sets no time limit in the client, because the server has one and the user can interrupt the wait.
 */
function serverSource(url: string, apiKey: string | undefined): MeasureSource {
  const client = new HedgerowClient({ url, timeoutMs: 0, ...(apiKey === undefined ? {} : { apiKey }) });
  return {
    list: (signal) => client.analytics.list({ signal }),
    run: (table, measure, params, signal) => client.analytics.run(table, measure, params, { signal }),
    close: async () => {},
  };
}

/** Sets no time limit: the user sees the progress and can interrupt the wait. */
async function directorySource(data: string, config: string | undefined, world: World): Promise<MeasureSource> {
  const { database } = await openDirectory(data, config, world);
  const analytics = new Analytics({ database });
  return {
    list: async () => analytics.measures(),
    run: async (table, measure, params, signal) => {
      const line = startWorkProgress({ output: world.stderr, label: measure, now: world.now });
      try {
        return await analytics.run(table, measure, params, { signal, progress: (done) => line.update(done) });
      } finally {
        line.stop();
      }
    },
    close: async () => {
      await analytics.close();
      await database.close();
    },
  };
}
