// Measures the cost of keys, limits, logs and metrics: requests per second with all of them
// enabled, against the same service with all of them disabled.

import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  answerSizes,
  driver,
  hasWrk,
  type Kind,
  MAIN,
  requestKinds,
  type Server,
  startServer,
  untilReady,
} from './http-load.ts';
import { alternate } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const OPEN = fileURLToPath(new URL('guard-open.mjs', import.meta.url));
const TARGET = { ratioAtLeast: 0.85 };

export async function runGuard(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, dataset, workspace, note } = options;
  if (!tiny && !hasWrk()) {
    note('guard: left out, wrk is not installed (apt install wrk)');
    return [];
  }
  const kinds = requestKinds(dataset.edges, tiny);
  const compacted = await workspace.compacted(dataset.edges);
  const dirs = [workspace.copy(compacted), workspace.copy(compacted)];
  const servers: Server[] = [];
  const log = openSync(workspace.fresh('log'), 'a');
  try {
    servers.push(await startGuarded(dirs[0]!, log));
    servers.push(await startServer(OPEN, [dirs[1]!]));
    for (const server of servers) await untilReady(server);
    const [guardedSizes, openSizes] = [await answerSizes(servers[0]!, kinds), await answerSizes(servers[1]!, kinds)];
    // Both must do the same work; only the number of digits of `elapsed_us` may differ.
    if (guardedSizes.some((size, index) => Math.abs(size - openSizes[index]!) > 5))
      throw new Error(`the open service answers ${openSizes} bytes, not ${guardedSizes}`);
    return await race(options, kinds, servers);
  } finally {
    for (const server of servers) await server.stop();
    closeSync(log);
    for (const dir of dirs) workspace.remove(dir);
  }
}

/**
 * Starts a server with everything enabled: an API key, a limit that is counted but never reached,
 * and all metrics. It writes a log line for every read and an audit line for every write, to files.
 */
function startGuarded(dir: string, log: number): Promise<Server> {
  const key = `hgr_${randomBytes(32).toString('base64url')}`;
  return startServer(MAIN, ['serve', '--data', dir, '--port', '0'], {
    settings: {
      HEDGEROW_API_KEY: key,
      HEDGEROW_RATE_LIMIT_QPM: '1000000000',
      HEDGEROW_LOG_LEVEL: 'info',
      HEDGEROW_LOG_FORMAT: 'json',
    },
    log,
    headers: { Authorization: `Bearer ${key}` },
  });
}

async function race(
  { tiny, workspace }: PartOptions,
  kinds: readonly Kind[],
  servers: readonly Server[],
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const kind of kinds) {
    const sides = servers.map((server) => driver(server, kind, workspace, tiny));
    const [guarded, open] = await alternate(tiny ? 1 : 9, sides, !tiny);
    rows.push(
      benchRow({
        name: `${kind.name} with keys, limits, logs and metrics, beside without`,
        unit: 'requests/s',
        ours: guarded!,
        peer: open!,
        target: TARGET,
      }),
    );
  }
  return rows;
}
