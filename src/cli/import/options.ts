// Checks the flags of `hedgerow import`.

import { resolve } from 'node:path';
import { loadConfig } from '../../config.ts';
import { MEGABYTE } from '../../limits.ts';
import { IDENTIFIER } from '../../model/columns.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { integerFlag, UsageError, type World } from '../world.ts';
import type { BatchLimits } from './line-batches.ts';
import type { DirectoryOptions } from './targets/directory-target.ts';
import { openServerPlace } from './targets/server-target.ts';
import type { ImportPlace, TargetTable } from './targets/target.ts';

const DEFAULT_BATCH_ROWS = 10_000;
const MOST_BATCH_ROWS = 1_000_000;
/** Keeps request bodies well under the server's default limit of 64 MB. */
const BATCH_BYTES = MEGABYTE;
export const LINE_BYTES = 64 * MEGABYTE;

/**
 * Maximum memory budget of the database in megabytes. A small one is enough: an import reads
 * nothing back, and rows are moved from the log into segments as soon as there are enough of them.
 */
const IMPORT_MEMORY_MB = 32;

/** The flags that select the target, shared by `import` and `demo`. */
export interface TargetFlags {
  url?: string | undefined;
  apiKey?: string | undefined;
  connections?: string | undefined;
  data?: string | undefined;
  maxMembers?: string | undefined;
  table?: string | undefined;
  createTable?: boolean | undefined;
  bucketSeconds?: string | undefined;
}

export interface ImportFlags extends TargetFlags {
  format?: string | undefined;
  tsColumn?: string | undefined;
  tsFormat?: string | undefined;
  endColumn?: string | undefined;
  /** ROLE=COLUMN, for each role that a column holds. */
  role?: readonly string[] | undefined;
  memberColumns?: string | undefined;
  memberColumn?: string | undefined;
  separator?: string | undefined;
  memberIds?: string | undefined;
  propertyColumns?: string | undefined;
  types?: string | undefined;
  delimiter?: string | undefined;
  /** The decimal separator of numbers. */
  decimal?: string | undefined;
  /** False: the CSV has no header with the names of columns. */
  header?: boolean | undefined;
  /** Names of the columns when the CSV has no header. */
  columns?: string | undefined;
  encoding?: string | undefined;
  /** The time for edges that have none. */
  ts?: string | undefined;
  /** A file with nodes and their attributes. */
  nodes?: string | undefined;
  /** The column of that file with the keys. */
  key?: string | undefined;
  nodeTable?: string | undefined;
  /** Like `createTable`, but also creates missing columns. */
  create?: boolean | undefined;
  dryRun?: boolean | undefined;
  resume?: boolean | undefined;
  batch?: string | undefined;
  onError?: string | undefined;
  maxRejects?: string | undefined;
  rejects?: string | undefined;
  compact?: boolean | undefined;
}

/** Opens the place that the flags name. Throws UsageError, ConfigError, or the place's error. */
export async function openPlace(flags: TargetFlags, world: World): Promise<ImportPlace> {
  if (flags.data !== undefined) {
    const options = directoryOptions(flags.data, flags, world);
    return (await import('./targets/directory-target.ts')).openDirectoryPlace(options);
  }
  if (flags.maxMembers !== undefined) throw new UsageError('--max-members needs --data: a server has its own limit.');
  return openServerPlace({
    url: urlOf(flags.url ?? DEFAULT_URL),
    apiKey: flags.apiKey,
    connections: integerFlag('--connections', flags.connections, 1, 64) ?? 1,
    now: world.now,
  });
}

/** Returns the `place` that these flags would open. Throws UsageError. */
export function placeOf({ data, url }: TargetFlags, world: World): string {
  return data === undefined ? urlOf(url ?? DEFAULT_URL) : resolve(world.cwd, data);
}

function directoryOptions(data: string, flags: TargetFlags, world: World): DirectoryOptions {
  if (flags.url !== undefined) throw new UsageError('--data and --url exclude each other.');
  if (flags.connections !== undefined) throw new UsageError('--connections needs a server, not --data.');
  const { config } = loadConfig({
    environment: world.environment,
    // The settings need a valid address, although no server is started.
    flags: { host: '127.0.0.1', dataDir: resolve(world.cwd, data), maxMembers: flags.maxMembers },
    isTerminal: false,
  });
  const { dataDir, primaryTable, maxMembers, memoryBudgetMb } = config;
  return { dir: dataDir, primaryTable, maxMembers, memoryBudgetMb: Math.min(memoryBudgetMb, IMPORT_MEMORY_MB) };
}

/** Returns the table that the flags name, without what inputs add to it. Throws UsageError. */
export function tableOf(flags: TargetFlags): TargetTable {
  const { table: name } = flags;
  const create = flags.createTable === true || (flags as ImportFlags).create === true;
  if (name !== undefined && !IDENTIFIER.test(name)) {
    throw new UsageError(`--table is ${JSON.stringify(name)}, but it takes letters, digits and _, at most 64.`);
  }
  if (flags.createTable === true && name === undefined) throw new UsageError('--create-table needs --table NAME.');
  const { nodeTable } = flags as ImportFlags;
  if (nodeTable !== undefined && !IDENTIFIER.test(nodeTable))
    throw new UsageError(
      `--node-table is ${JSON.stringify(nodeTable)}, but it takes letters, digits and _, at most 64.`,
    );
  const bucketSeconds = integerFlag('--bucket-seconds', flags.bucketSeconds, 1, 2 ** 40);
  if (bucketSeconds !== undefined && !create) throw new UsageError('--bucket-seconds needs --create-table.');
  const roles = (flags as ImportFlags).role?.map((part) => part.replace(/=.*$/s, '')) ?? [];
  return { name, create, bucketSeconds, roles, intervals: false };
}

export function batchLimits(flags: ImportFlags): BatchLimits {
  const rows = integerFlag('--batch', flags.batch, 1, MOST_BATCH_ROWS) ?? DEFAULT_BATCH_ROWS;
  return { rows, bytes: BATCH_BYTES, lineBytes: LINE_BYTES };
}

/**
 * Returns the maximum number of rejected lines; undefined when there is no maximum. Throws
 * UsageError.
 */
export function maxRejectsOf(flags: ImportFlags): number | undefined {
  return integerFlag('--max-rejects', flags.maxRejects, 0, Number.MAX_SAFE_INTEGER);
}

export function onErrorOf(flags: ImportFlags): 'stop' | 'skip' {
  const isLimited = maxRejectsOf(flags) !== undefined;
  if (isLimited && flags.onError === 'stop')
    throw new UsageError('--max-rejects skips up to that number of bad lines, but --on-error stop skips none.');
  const onError = flags.onError ?? (isLimited ? 'skip' : 'stop');
  if (onError === 'stop' && (flags.connections ?? '1') !== '1') {
    throw new UsageError('--connections needs --on-error skip: several requests at once cannot stop at one line.');
  }
  if (onError === 'stop' || onError === 'skip') return onError;
  throw new UsageError(`--on-error is ${JSON.stringify(onError)}, but it takes stop or skip.`);
}
