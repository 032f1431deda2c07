// The data directory of a process whose log is in PostgreSQL: manifest, segments and stored
// answers, all of which were made from the log. A file names the database in PostgreSQL that they
// belong to. A new directory begins with the newest snapshot, or with the log if there is none.

import type { CoreModule } from '../core/index.ts';
import { LOG_ORIGIN, restoreBackup } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import { type Crc32c, type Fs, manifestPath, readWhole, writeFileAtomically, writeWhole } from '../storage/index.ts';

/** Name of a snapshot in the data directory while it is received. */
const SNAPSHOT = '.snapshot';
/** What is made from the log. */
const MADE = ['manifest', 'log', 'tables', 'replays', 'reserve', '.restoring'];

export interface DirectoryOptions {
  readonly fs: Fs;
  readonly dir: string;
  readonly core: CoreModule;
  readonly crc32c: Crc32c;
  /** Names of files in the directory that do not belong to a database. */
  readonly besides: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Checks that the directory belongs to the database `id`, or is new and may belong to it from now
 * on. Throws `conflict`.
 */
export async function claimDirectory({ fs, dir }: DirectoryOptions, id: string): Promise<void> {
  fs.makeDir(dir);
  const path = `${dir}/${LOG_ORIGIN}`;
  if (fs.exists(path)) {
    const { database } = JSON.parse(Buffer.from(readWhole(fs, path)).toString()) as { database: unknown };
    if (database === id) return;
    throw new HedgerowError(
      'conflict',
      `${dir} belongs to the database ${String(database)} in PostgreSQL, but the address leads to ${id}. Correct the address, or use an empty directory.`,
      { fields: { settings: ['logDsn'] } },
    );
  }
  if (fs.exists(manifestPath(dir)) || fs.exists(`${dir}/log`))
    throw new HedgerowError(
      'conflict',
      `${dir} has a database with a log in files, not in PostgreSQL. Use an empty directory; "hedgerow dump" and "hedgerow load" copy the data.`,
    );
  await writeFileAtomically(fs, path, Buffer.from(`${JSON.stringify({ database: id })}\n`));
}

/** Whether the directory has a database. Otherwise it may have parts of one. */
export function hasDatabase({ fs, dir }: DirectoryOptions): boolean {
  // A snapshot brings a log, which is removed last (`restoreSnapshot`).
  return fs.exists(manifestPath(dir)) && !fs.exists(`${dir}/log`);
}

/** Removes everything that was made from the log. The directory was claimed. */
export async function emptyDirectory({ fs, dir }: DirectoryOptions): Promise<void> {
  const lock = await fs.lock(`${dir}/lock`);
  try {
    for (const name of MADE) await removeTree(fs, `${dir}/${name}`);
    await fs.syncDir(dir);
  } finally {
    lock.release();
  }
}

/** Fills the empty directory from the bytes of a snapshot. Resolves with its LSN. */
export async function restoreSnapshot(options: DirectoryOptions, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  const { fs, dir, core, crc32c, besides, signal } = options;
  const file = `${dir}/${SNAPSHOT}`;
  try {
    await receive(fs, file, pieces);
    const { lsn } = await restoreBackup({
      ...{ fs, crc32c, core, file, dir },
      besides: [...besides, SNAPSHOT, LOG_ORIGIN],
      progress: () => undefined,
      checkStopped: () => signal.throwIfAborted(),
    });
    // The log is in PostgreSQL.
    await removeTree(fs, `${dir}/log`);
    await fs.syncDir(dir);
    return lsn;
  } finally {
    if (fs.exists(file)) await fs.remove(file);
  }
}

async function receive(fs: Fs, file: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  if (fs.exists(file)) await fs.remove(file);
  const handle = fs.open(file, 'create');
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      await writeWhole(handle, piece, bytes);
      bytes += piece.length;
    }
  } finally {
    handle.close();
  }
}

async function removeTree(fs: Fs, path: string): Promise<void> {
  const kind = fs.kindOf(path);
  if (kind === null) return;
  if (kind !== 'directory') return fs.remove(path);
  for (const name of fs.list(path)) await removeTree(fs, `${path}/${name}`);
  await fs.removeDir(path);
}
