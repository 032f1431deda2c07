// Opens the log of a database: what the manifest says must be in it, and where it tells what happens.

import { corruption } from '../../errors.ts';
import { type Crc32c, type LogStore, manifestPath, openLog } from '../../storage/index.ts';
import { appliedEverywhere, type Checkpoint } from '../checkpoint/checkpoint.ts';
import { refuseSegments, unknownSegments } from '../checkpoint/orphans.ts';
import type { Committer } from '../commit/committer.ts';
import type { EngineOptions } from '../engine-options.ts';

/** `checkpoint`: the manifest that was found, null without one. Rejects with `corrupt`. */
export async function openDatabaseLog(
  options: EngineOptions,
  committer: Committer,
  crc32c: Crc32c,
  checkpoint: Checkpoint | null,
): Promise<LogStore> {
  const { fs, dir, durability, nowUs, logFileBytes, schedule, observeLog, notice, owner, defer } = options;
  // Before the directory is made: what is missing must not come back empty.
  if (!fs.exists(`${dir}/log`)) {
    if (checkpoint !== null) throw corruption(`${dir}/log`, 0, 'there is a manifest, but no log directory');
    refuseSegments(
      unknownSegments(fs, `${dir}/tables`, () => true),
      manifestPath(dir),
    );
  }
  return openLog({
    fs,
    dir: `${dir}/log`,
    crc32c,
    durability,
    minimumLsn: checkpoint ? appliedEverywhere(checkpoint) : 0,
    reachedLsn: checkpoint?.lsn ?? 0,
    manifest: checkpoint === null ? 'missing' : 'present',
    onDropped: (dropped) =>
      notice?.('bytes at the end of the log were dropped: a write that was never acknowledged', { ...dropped }),
    onDurable: (lsn) => committer.onDurable(lsn),
    onFailed: (error) => {
      committer.onFailed(error);
      notice?.('the log has failed; writes are refused until a restart', { detail: error.message });
    },
    scheduleSync: (sync) => schedule(sync, 100),
    now: nowUs,
    ...(owner === undefined ? {} : { owner }),
    ...(observeLog ? { observe: observeLog } : {}),
    ...(defer ? { defer } : {}),
    ...(logFileBytes === undefined ? {} : { fileBytes: logFileBytes }),
  });
}
