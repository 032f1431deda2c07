// Snapshots of the database, with which new processes begin: backup archives in large objects of
// PostgreSQL, or in a directory that all processes share. Only the newest is kept.

import { HedgerowError } from '../errors.ts';
import { type Fs, readFully, writeWhole } from '../storage/index.ts';
import type { Connection, Postgres } from './connection.ts';

/** A backup that is being sent (`BackupStream` of the engine). */
export interface SnapshotSource {
  readonly lsn: number;
  readonly logLsn: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface StoredSnapshot {
  readonly lsn: number;
  /** Who begins with it needs the log after this LSN. */
  readonly logLsn: number;
  readonly bytes: number;
  readonly madeAt: string;
  readonly object: string | null;
  readonly file: string | null;
}

export interface SnapshotOptions {
  readonly postgres: Postgres;
  readonly fs: Fs;
  /** Directory that all processes share; by default, snapshots are large objects. */
  readonly dir: string | undefined;
}

const PIECE_BYTES = 2 ** 20;
/** Flags of `lo_open`. */
const READ = 0x40000;
const WRITE = 0x20000;

/** Resolves with the newest snapshot; undefined if there is none. */
export async function newestSnapshot(connection: Connection): Promise<StoredSnapshot | undefined> {
  const [row] = await connection.run(
    'SELECT lsn, log_lsn, bytes, made_at, object, file FROM hedgerow_snapshot ORDER BY lsn DESC LIMIT 1',
  );
  if (row === undefined) return undefined;
  const [lsn, logLsn, bytes, madeAt, object, file] = row;
  return {
    lsn: Number(lsn),
    logLsn: Number(logLsn),
    bytes: Number(bytes),
    madeAt: madeAt!,
    object: object!,
    file: file!,
  };
}

/**
 * Stores a snapshot in place of the ones before it. `epoch` is that of the leader, who makes it.
 * Rejects if the lease was lost, and then leaves nothing.
 */
export async function storeSnapshot(
  { postgres, fs, dir }: SnapshotOptions,
  source: SnapshotSource,
  epoch: number,
): Promise<number> {
  const connection = await postgres.connect({ commits: 'wait' });
  try {
    await connection.run('BEGIN');
    // If this process is stopped, the transaction must not last for ever.
    await connection.run("SET LOCAL idle_in_transaction_session_timeout = '60s'");
    const stored =
      dir === undefined
        ? await storeObject(connection, source.pieces)
        : await storeFile(fs, dir, `hedgerow-snapshot-${source.lsn}-${epoch}.tar.gz`, source.pieces);
    const { object = null, file = null, bytes } = stored;
    const held = await connection.run('SELECT 1 FROM hedgerow_lease WHERE epoch = $1 FOR KEY SHARE', [epoch]);
    if (held.length === 0) throw new HedgerowError('leader_unavailable', 'This server does not lead any more.');
    const old = await connection.run('DELETE FROM hedgerow_snapshot RETURNING object, file');
    for (const [each] of old) if (each !== null) await connection.run('SELECT lo_unlink($1)', [each]);
    await connection.run('INSERT INTO hedgerow_snapshot VALUES ($1, $2, $3, $4, $5, clock_timestamp())', [
      ...[source.lsn, source.logLsn, object, file, bytes],
    ]);
    await connection.run('COMMIT');
    for (const [, each] of old) if (each !== null && each !== file) await removeFile(fs, `${dir}/${each}`);
    return bytes;
  } finally {
    // Ends the transaction if it was not committed.
    await connection.close();
  }
}

interface Stored {
  readonly object?: string;
  readonly file?: string;
  readonly bytes: number;
}

async function storeObject(connection: Connection, pieces: AsyncIterable<Uint8Array>): Promise<Stored> {
  const [created] = await connection.run('SELECT lo_create(0)');
  const object = created![0]!;
  const [opened] = await connection.run('SELECT lo_open($1, $2)', [object, WRITE]);
  let bytes = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES)
      await connection.run('SELECT lowrite($1, $2)', [opened![0], Buffer.from(piece.subarray(at, at + PIECE_BYTES))]);
    bytes += piece.length;
  }
  return { object, bytes };
}

async function storeFile(fs: Fs, dir: string, name: string, pieces: AsyncIterable<Uint8Array>): Promise<Stored> {
  fs.makeDir(dir);
  const temporary = `${dir}/.${name}.tmp`;
  await removeFile(fs, temporary);
  const handle = fs.open(temporary, 'create');
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      await writeWhole(handle, piece, bytes);
      bytes += piece.length;
    }
    await handle.sync();
  } catch (error) {
    handle.close();
    await removeFile(fs, temporary);
    throw error;
  }
  handle.close();
  await fs.rename(temporary, `${dir}/${name}`);
  await fs.syncDir(dir);
  return { file: name, bytes };
}

async function removeFile(fs: Fs, path: string): Promise<void> {
  if (fs.exists(path)) await fs.remove(path);
}

/** Yields the bytes of a snapshot, which may be replaced meanwhile. */
export async function* readSnapshot(
  { postgres, fs, dir }: SnapshotOptions,
  { object, file, bytes, lsn }: StoredSnapshot,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (object === null) {
    if (dir === undefined)
      throw new HedgerowError(
        'invalid_input',
        `The snapshot at LSN ${lsn} is a file, ${file}, in a directory that all servers share. Name that directory.`,
        { fields: { settings: ['snapshotDir'] } },
      );
    yield* readFile(fs, `${dir}/${file}`, bytes);
    return;
  }
  const connection = await postgres.connect({ commits: 'local' });
  try {
    // The object stays readable for this transaction.
    await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const [opened] = await connection.run('SELECT lo_open($1, $2)', [object, READ]);
    for (let at = 0; at < bytes; ) {
      const [row] = await connection.run('SELECT loread($1, $2)', [opened![0], PIECE_BYTES]);
      const piece = Buffer.from(row![0]!.slice(2), 'hex');
      if (piece.length === 0) throw new HedgerowError('corrupt', `The snapshot at LSN ${lsn} ends too early.`);
      at += piece.length;
      yield piece;
    }
  } finally {
    await connection.close();
  }
}

function* readFile(fs: Fs, path: string, bytes: number): Generator<Uint8Array> {
  const handle = fs.open(path, 'read');
  try {
    for (let at = 0; at < bytes; ) {
      const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, bytes - at));
      const count = readFully(handle, piece, at);
      if (count < piece.length) throw new HedgerowError('corrupt', `${path} ends after ${at + count} bytes.`);
      at += count;
      yield piece;
    }
  } finally {
    handle.close();
  }
}
