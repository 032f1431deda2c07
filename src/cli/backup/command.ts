// `hedgerow backup`: asks a running server to make a backup, or backs up a data directory that no
// server has open.

import { resolve } from 'node:path';
import { openDatabase } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { nodeFs } from '../../storage/index.ts';
import { loadSettings } from '../config/load.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { requestBackup } from './server-backup.ts';

export interface BackupFlags {
  url?: string | undefined;
  apiKey?: string | undefined;
  backupDir?: string | undefined;
  compactFirst?: boolean | undefined;
  data?: string | undefined;
  to?: string | undefined;
  config?: string | undefined;
}

/** Describes the finished backup, whether the server or this process made it. */
interface Made {
  path: string;
  size_bytes: number;
  tables: string[];
}

/** Resolves with the exit code: 0 on success, 1 when no backup was made, 2 for a wrong call. */
export async function backupCommand(flags: BackupFlags, world: World): Promise<number> {
  try {
    checkFlags(flags);
    const made = flags.data === undefined ? await backUpServer(flags) : await backUpDirectory(flags.data, flags, world);
    world.stdout.write(`${made.path}: ${made.size_bytes} bytes, tables ${made.tables.join(', ')}\n`);
    return 0;
  } catch (error) {
    return reportFailure(world, error);
  }
}

function checkFlags({ url, backupDir, data, to, config }: BackupFlags): void {
  if (data === undefined) {
    if (config !== undefined) throw new UsageError('--config needs --data: a server has its own settings.');
    if (to !== undefined)
      throw new UsageError('--to goes with --data; a server takes --backup-dir, below its backup root.');
    return;
  }
  if (url !== undefined) throw new UsageError('--data and --url exclude each other.');
  if (backupDir !== undefined) throw new UsageError('--backup-dir goes with --url; with --data say --to DIR.');
  if (to === undefined || to === '') throw new UsageError('--data needs --to DIR, the directory for the backup.');
}

function backUpServer({ url, apiKey, backupDir, compactFirst }: BackupFlags): Promise<Made> {
  return requestBackup(
    { url: urlOf(url ?? DEFAULT_URL), apiKey },
    { ...(backupDir === undefined ? {} : { backup_dir: backupDir }), compact_first: compactFirst === true },
  );
}

async function backUpDirectory(
  data: string,
  { to = '', config, compactFirst }: BackupFlags,
  world: World,
): Promise<Made> {
  const dir = resolve(world.cwd, data);
  // Opening a database would create a missing directory.
  if (!['manifest', 'log'].some((name) => nodeFs.exists(`${dir}/${name}`)))
    throw new Error(`${dir} is not a data directory: it contains neither a manifest nor a log.`);
  // Nothing is served, so any valid address will do.
  const settings = { host: '127.0.0.1', dataDir: dir };
  const { primaryTable, maxMembers, memoryBudgetMb } = loadSettings({ config, settings }, world).config;
  const database = await openDatabase({ dir, primaryTable, maxMembers, memoryBudgetMb }).catch((error: unknown) => {
    if (!(error instanceof HedgerowError) || error.code !== 'conflict') throw error;
    throw new HedgerowError('conflict', `${error.message} A server that runs on it makes the backup with --url.`);
  });
  const forget = world.onInterrupt(() => void database.close());
  try {
    const backup = { dir: resolve(world.cwd, to), compactFirst: compactFirst === true };
    const { path, sizeBytes, tables } = await database.backup(backup);
    return { path, size_bytes: sizeBytes, tables };
  } finally {
    forget();
    await database.close();
  }
}
