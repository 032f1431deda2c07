// Checks the flags of `hedgerow virtual` where the server cannot check them.

import type { ProposeVirtualGraph, VirtualQueryOptions } from '../../client/index.ts';
import { isoSeconds, TIME_FORM } from '../../iso-time.ts';
import { integerFlag, UsageError, type World } from '../world.ts';
import { readBody } from './read-body.ts';

export interface VirtualFlags {
  url?: string | undefined;
  apiKey?: string | undefined;
  /** Only for commands that show rows. */
  format?: string | undefined;
  /** Only for commands that do not show rows. */
  json?: boolean | undefined;
  // Flags of propose.
  type?: string | undefined;
  path?: string | undefined;
  dsn?: string | undefined;
  id?: string | undefined;
  name?: string | undefined;
  save?: boolean | undefined;
  useLlm?: boolean | undefined;
  // Flags of query; materialize takes `limit` too.
  limit?: string | undefined;
  capturedAt?: string | undefined;
  refresh?: boolean | undefined;
  unordered?: boolean | undefined;
  times?: string | undefined;
  // Flags of materialize.
  table?: string | undefined;
  bucketSeconds?: string | undefined;
  ids?: string | undefined;
}

const BODY =
  'one JSON object as POST /v1/virtual/propose takes it, such as {"backend": {"type": "csv", "path": "trips.csv"}}';

/**
 * Returns the request body. The backend comes from the file or from flags; the other flags override
 * fields of the file. Throws UsageError, and Error when the file cannot be read.
 */
export async function proposeInput(
  file: string | undefined,
  flags: VirtualFlags,
  world: World,
): Promise<ProposeVirtualGraph> {
  const { type, path, dsn, id, name, save, useLlm } = flags;
  const ofBackend = type ?? path ?? dsn;
  if (file === undefined && ofBackend === undefined)
    throw new UsageError('propose needs a FILE with the request, or --path FILE or --dsn NAME for the backend.');
  if (file !== undefined && ofBackend !== undefined)
    throw new UsageError('A FILE already names the backend: give either a FILE, or --type, --path and --dsn.');
  const body = file === undefined ? { backend: backendOf(flags) } : await readBody(file, BODY, world);
  const given = { id, name, save, use_llm: useLlm };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  // The server checks the content of the file, and describes its faults best.
  return { ...body, ...Object.fromEntries(set) } as ProposeVirtualGraph;
}

/** Types of backends by the ending of the file name. */
const ENDS: readonly [RegExp, string][] = [
  [/\.(duckdb|ddb|db)$/i, 'duckdb'],
  [/\.(parquet|pq)$/i, 'parquet'],
  [/\.(csv|tsv)(\.gz|\.zst)?$/i, 'csv'],
  [/\.(json|ndjson|jsonl)(\.gz|\.zst)?$/i, 'json'],
];

function backendOf({ type, path, dsn }: VirtualFlags): Record<string, string> {
  if (path !== undefined && dsn !== undefined) throw new UsageError('--path and --dsn exclude each other.');
  if (dsn !== undefined) return { type: type ?? 'postgres', dsn };
  if (path === undefined) throw new UsageError('--type needs --path FILE, or --dsn NAME for postgres.');
  const known = type ?? ENDS.find(([end]) => end.test(path))?.[1];
  if (known !== undefined) return { type: known, path };
  throw new UsageError(`The name ${path} does not show the type of the file: add --type duckdb, parquet, csv or json.`);
}

/** Throws UsageError. */
export function queryOptions({ limit, capturedAt, refresh, unordered }: VirtualFlags): VirtualQueryOptions {
  const most = integerFlag('--limit', limit, 0, Number.MAX_SAFE_INTEGER);
  const at = capturedAtOf(capturedAt);
  return {
    ...(most === undefined ? {} : { limit: most }),
    ...(at === undefined ? {} : { captured_at: at }),
    ...(refresh === true ? { refresh } : {}),
    ...(unordered === true ? { ordered: false } : {}),
  };
}

function capturedAtOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const seconds = /^-?\d{1,16}$/.test(given) ? Number(given) : isoSeconds(given);
  if (Number.isSafeInteger(seconds)) return seconds;
  throw new UsageError(`--captured-at is ${JSON.stringify(given)}, but it takes ${TIME_FORM}.`);
}

/** Throws UsageError. */
export function materializeOptions({ table, limit, bucketSeconds, ids }: VirtualFlags): {
  table: string;
  limit?: number;
  bucket_seconds?: number;
  ids?: 'map' | 'hash';
} {
  if (table === undefined) throw new UsageError('materialize needs --table NAME for the new table.');
  if (ids !== undefined && ids !== 'map' && ids !== 'hash')
    throw new UsageError(`--ids is ${JSON.stringify(ids)}, but it takes map or hash.`);
  const most = integerFlag('--limit', limit, 0, Number.MAX_SAFE_INTEGER);
  const bucket = integerFlag('--bucket-seconds', bucketSeconds, 1, 2 ** 40);
  return {
    table,
    ...(most === undefined ? {} : { limit: most }),
    ...(bucket === undefined ? {} : { bucket_seconds: bucket }),
    ...(ids === undefined ? {} : { ids }),
  };
}
