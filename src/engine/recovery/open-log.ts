// Opens the log of a database. Tells it which LSNs it must contain according to the manifest, and
// connects its callbacks.

import { corruption, HedgerowError } from '../../errors.ts';
import {
  type Crc32c,
  type LogHistory,
  type LogOpening,
  type LogStore,
  manifestPath,
  openLog,
} from '../../storage/index.ts';
import { appliedEverywhere, type Checkpoint } from '../checkpoint/checkpoint.ts';
import { refuseSegments, unknownSegments } from '../checkpoint/orphans.ts';
import type { Committer } from '../commit/committer.ts';
import type { EngineOptions } from '../engine-options.ts';

/** Name of the file in a data directory that says that the log is elsewhere, in PostgreSQL. */
export const LOG_ORIGIN = 'postgres.json';

/**
 * Opens the log. `checkpoint` is the manifest found, or null if there is none; `history` is kept
 * for readers of changes. Rejects with
 * `corrupt`.
 */
export async function openDatabaseLog(
  options: EngineOptions,
  committer: Committer,
  crc32c: Crc32c,
  checkpoint: Checkpoint | null,
  history: LogHistory | undefined,
): Promise<LogStore> {
  const { durability, now, nowUs, schedule, observeLog, notice, owner, scheduler, isCopy } = options;
  const defer = options.defer ?? scheduler?.before;
  const opening: LogOpening = {
    durability: isCopy === true ? 'fsync' : durability,
    ...(isCopy === true ? { isCopy } : {}),
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
    seconds: () => Math.floor(now() / 1000),
    ...(history === undefined ? {} : { history }),
    now: nowUs,
    ...(owner === undefined ? {} : { owner }),
    ...(observeLog ? { observe: observeLog } : {}),
    ...(defer ? { defer } : {}),
  };
  return options.openLog === undefined ? openLogFiles(options, crc32c, opening) : options.openLog(opening);
}

function openLogFiles(options: EngineOptions, crc32c: Crc32c, opening: LogOpening): Promise<LogStore> {
  const { fs, dir, logFileBytes } = options;
  if (fs.exists(`${dir}/${LOG_ORIGIN}`))
    throw new HedgerowError(
      'conflict',
      `The log of ${dir} is in PostgreSQL (${LOG_ORIGIN} names the database). Open it with that log, or use another directory.`,
      { fields: { settings: ['log', 'logDsn'] } },
    );
  // This is checked before the directory is created, because a missing log must not be replaced by
  // an empty one.
  if (!fs.exists(`${dir}/log`)) {
    if (opening.manifest === 'present') throw corruption(`${dir}/log`, 0, 'there is a manifest, but no log directory');
    refuseSegments(
      unknownSegments(fs, `${dir}/tables`, () => true),
      manifestPath(dir),
    );
  }
  const size = logFileBytes === undefined ? {} : { fileBytes: logFileBytes };
  return openLog({ ...opening, ...size, fs, dir: `${dir}/log`, crc32c });
}
