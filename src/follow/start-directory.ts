// Makes the data directory of a new follower from a snapshot of its leader.

import { setTimeout as sleep } from 'node:timers/promises';
import { loadCore, makeChecksum } from '../core/index.ts';
import { restoreBackup } from '../engine/index.ts';
import { type Fs, manifestPath, writeWhole } from '../storage/index.ts';
import { LeaderRefusal, type LeaderSource } from './leader-link.ts';

/** Name of the snapshot in the data directory while it is received. */
const SNAPSHOT = '.snapshot';

/** A leader may be started at the same time: it gets about half a minute to answer. */
const MOST_ATTEMPTS = 30;
const ATTEMPT_MS = 1000;

export interface StartOptions {
  readonly fs: Fs;
  /** Absolute path of the data directory, which exists. */
  readonly dir: string;
  readonly leader: LeaderSource;
  readonly signal: AbortSignal;
  /** Names of files in the directory that do not belong to a database. */
  readonly besides: readonly string[];
  readonly notice: (message: string, fields: Record<string, unknown>) => void;
}

/**
 * If the directory has no database yet, receives a snapshot of the leader and restores it there.
 * Rejects with an error that says what to check, or with the errors of a restore; the directory is
 * then as it was.
 */
export async function startDirectory({ fs, dir, leader, signal, besides, notice }: StartOptions): Promise<void> {
  if (fs.exists(manifestPath(dir)) || fs.exists(`${dir}/log`)) return;
  notice('receiving a snapshot of the leader', { leader: leader.url, dir });
  const file = `${dir}/${SNAPSHOT}`;
  try {
    const bytes = await receiveSoon(file, { fs, leader, signal, notice });
    const core = loadCore();
    const { lsn, tables } = await restoreBackup({
      fs,
      crc32c: makeChecksum(core.instantiate()),
      core,
      file,
      dir,
      besides: [...besides, SNAPSHOT],
      progress: () => undefined,
      checkStopped: () => signal.throwIfAborted(),
    });
    notice('the snapshot of the leader is restored', { bytes, last_lsn: lsn, tables: tables.length });
  } finally {
    if (fs.exists(file)) await fs.remove(file);
  }
}

/** Receives a snapshot, after some attempts if the leader is only being started. */
async function receiveSoon(
  file: string,
  { fs, leader, signal, notice }: Pick<StartOptions, 'fs' | 'leader' | 'signal' | 'notice'>,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await receive(fs, file, leader.snapshot(signal));
    } catch (cause) {
      const { message } = cause as Error;
      const isRefused = cause instanceof LeaderRefusal && cause.status !== 503;
      if (isRefused || signal.aborted || attempt === MOST_ATTEMPTS)
        throw new Error(
          `${leader.url} gave no snapshot to follow it: ${message} Check its address and the key, which must be an admin key of it.`,
          { cause },
        );
      if (attempt === 1) notice('the leader gave no snapshot; trying again', { leader: leader.url, detail: message });
    }
    await sleep(ATTEMPT_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function receive(fs: Fs, file: string, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  if (fs.exists(file)) await fs.remove(file);
  const handle = fs.open(file, 'create');
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      await writeWhole(handle, piece, bytes);
      bytes += piece.length;
    }
    return bytes;
  } finally {
    handle.close();
  }
}
