// Opens the database as the settings say.

import { basename, dirname, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../engine/index.ts';
import { LeaderLink, type LeaderSource, startDirectory } from '../follow/index.ts';
import { MEGABYTE } from '../limits.ts';
import type { Logger } from '../observe/log.ts';
import type { ServiceObserver } from '../observe/service-observer.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import { nodeFs } from '../storage/index.ts';
import { type Crew, shareOf, WORKERS_DIR } from '../workers/index.ts';

/** Returns the connection to the leader; undefined if the service follows none. */
export function leaderOf({ follow: url, followKey: key }: Config): LeaderLink | undefined {
  return url === undefined ? undefined : new LeaderLink({ url, key });
}

/** What a database that is opened uses of the service. */
export interface EngineParts {
  readonly config: Config;
  readonly scheduler: Scheduler;
  readonly observer: ServiceObserver;
  readonly log: Logger;
  /** Set if workers answer reads. */
  readonly crew?: Crew | undefined;
  /** Set in a worker. */
  readonly peer?: unknown;
}

/** Opens the database, which is first copied from the leader if the service follows one. */
export async function openEngine(
  parts: EngineParts,
  leader: LeaderSource | undefined,
  signal: AbortSignal,
): Promise<Database> {
  const { config, log } = parts;
  const notice = (message: string, fields: Record<string, unknown>) => log.info(message, fields);
  const dir = resolve(config.dataDir);
  if (leader !== undefined)
    await startDirectory({ fs: nodeFs, dir, leader, signal, besides: ownFiles(config), notice });
  return openWith(parts, { follows: leader !== undefined, isCopy: parts.peer !== undefined });
}

/**
 * Returns the names of files of the service in the data directory, which are not the database's.
 */
export function ownFiles({ dataDir, auditLog }: Config): string[] {
  const file = resolve(auditLog);
  return [WORKERS_DIR, ...(dirname(file) === resolve(dataDir) ? [basename(file)] : [])];
}

/** Opens the database in the data directory. */
export function openWith(
  { config, scheduler, observer, log, crew }: EngineParts,
  options: Pick<DatabaseOptions, 'follows' | 'isCopy' | 'openLog'>,
): Promise<Database> {
  return openDatabase({
    ...options,
    dir: resolve(config.dataDir),
    primaryTable: config.primaryTable,
    maxMembers: config.maxMembers,
    durability: config.durability,
    memoryBudgetMb: crew === undefined ? config.memoryBudgetMb : shareOf(config),
    history: historyOf(config),
    scheduler,
    notice: (message, fields) => log.info(message, fields),
    observeLog: observer.logGroup,
    ...(crew === undefined ? {} : { onVisible: (lsn) => crew.state.visible(lsn) }),
  });
}

/** Returns how long changes are kept for readers; null if they are not. */
function historyOf({ changesKeepSeconds, changesKeepMb }: Config): DatabaseOptions['history'] {
  return changesKeepSeconds === 0 ? null : { seconds: changesKeepSeconds, bytes: changesKeepMb * MEGABYTE };
}
