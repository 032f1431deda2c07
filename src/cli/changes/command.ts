// `hedgerow changes`: writes committed changes to stdout, one JSON object per line.

import { HedgerowClient } from '../../client/index.ts';
import { Sink } from '../query/output.ts';
import { errorText } from '../run/error-text.ts';
import { Cancelled } from '../run/runner.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { integerFlag, reportFailure, UsageError, type World } from '../world.ts';

export interface ChangesFlags {
  url?: string | undefined;
  apiKey?: string | undefined;
  data?: string | undefined;
  config?: string | undefined;
  follow?: boolean | undefined;
  fromLsn?: string | undefined;
  table?: string | undefined;
  limit?: string | undefined;
}

interface ChangesRequest {
  readonly fromLsn: number | undefined;
  readonly table: string | undefined;
  /** Maximum number of changes; may be infinite. */
  readonly limit: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** A change as JSON text. */
interface ChangeLine {
  readonly lsn: number;
  readonly text: string;
}

type Batches = AsyncGenerator<readonly ChangeLine[], void, undefined>;

/** Number of changes that are written together, unless they are followed. */
const BATCH_CHANGES = 500;

/**
 * Resolves with the exit code: 0 on success, 1 when reading fails or is stopped, 2 for a wrong
 * call.
 */
export async function changesCommand(flags: ChangesFlags, world: World): Promise<number> {
  const controller = new AbortController();
  const forget = world.onInterrupt(() => controller.abort(new Cancelled()));
  const sink = new Sink(world.stdout);
  let lsn: number | undefined;
  try {
    for await (const batch of batchesOf(flags, world, controller.signal)) {
      await sink.write(batch.map(({ text }) => `${text}\n`).join(''));
      lsn = batch.at(-1)?.lsn ?? lsn;
    }
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return reportFailure(world, error);
    if (error instanceof Cancelled && lsn !== undefined)
      world.stderr.write(`hedgerow: cancelled after LSN ${lsn}; --from-lsn ${lsn} continues after it.\n`);
    else world.stderr.write(`hedgerow: ${errorText(error, '')}`);
    return 1;
  } finally {
    forget();
  }
}

/** Throws UsageError at once; the generator throws the error that ends it. */
function batchesOf(flags: ChangesFlags, world: World, signal: AbortSignal): Batches {
  const { url, apiKey, data, config, table, follow = false } = flags;
  const most = Number.MAX_SAFE_INTEGER;
  const request: ChangesRequest = {
    fromLsn: integerFlag('--from-lsn', flags.fromLsn, 0, most),
    table,
    limit: integerFlag('--limit', flags.limit, 1, most) ?? Number.POSITIVE_INFINITY,
    follow,
    signal,
  };
  if (data === undefined) {
    if (config !== undefined) throw new UsageError('--config needs --data: a server has its own settings.');
    return serverChanges(urlOf(url ?? DEFAULT_URL), apiKey, request, world);
  }
  if (url !== undefined) throw new UsageError('--data and --url exclude each other.');
  if (follow) throw new UsageError('--follow needs a server: nothing changes in a directory that no server has open.');
  return directoryChanges(data, config, request, world);
}

async function* serverChanges(
  url: string,
  apiKey: string | undefined,
  { fromLsn, table, limit, follow, signal }: ChangesRequest,
  { stderr }: World,
): Batches {
  const client = new HedgerowClient({ url, ...(apiKey === undefined ? {} : { apiKey }) });
  const changes = client.changes({
    ...(fromLsn === undefined ? {} : { fromLsn }),
    ...(table === undefined ? {} : { table }),
    limit,
    follow,
    signal,
    onRetry: (error, failures) => {
      if (failures === 1) stderr.write(`hedgerow: ${(error as Error).message} Trying again.\n`);
    },
  });
  let batch: ChangeLine[] = [];
  for await (const change of changes) {
    batch.push({ lsn: change.lsn, text: JSON.stringify(change) });
    if (!follow && batch.length < BATCH_CHANGES) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

async function* directoryChanges(
  data: string,
  config: string | undefined,
  { fromLsn, table, limit, signal }: ChangesRequest,
  world: World,
): Batches {
  // Loaded on demand: it loads the engine.
  const { openDirectory } = await import('../run/directory-runner.ts');
  const { database } = await openDirectory(data, config, world);
  try {
    const reader = database.changes.read(fromLsn, table);
    try {
      for (let left = limit; left > 0; ) {
        signal.throwIfAborted();
        const batch = await reader.next(Math.min(BATCH_CHANGES, left));
        if (batch.length === 0) break;
        left -= batch.length;
        yield batch;
      }
    } finally {
      reader.close();
    }
  } finally {
    await database.close();
  }
}
