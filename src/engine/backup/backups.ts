// Makes backups of a database, one at a time. Each backup is the state at one LSN. Writes,
// compactions and DDL continue meanwhile.

import { createHash } from 'node:crypto';
import type { CoreModule } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { Mutex } from '../../schedule/locks.ts';
import type { Crc32c, Fs } from '../../storage/index.ts';
import { backupFacts } from './about-backup.ts';
import { archiveContents, type ContentsOptions } from './archive-contents.ts';
import { archiveName } from './archive-names.ts';
import { archiveBytes, writeArchive, writeFailure } from './archive-writer.ts';
import type { PinnedState } from './pinned-state.ts';
import { isInside } from './target-directory.ts';

export interface BackupOptions {
  /** Absolute path; created if missing. */
  dir: string;
  compactFirst: boolean;
}

export interface BackupResult {
  /** Absolute path. */
  path: string;
  sizeBytes: number;
  /** Names of the tables in the backup. */
  tables: string[];
  /** The backup contains everything up to this LSN and nothing after it. */
  lsn: number;
}

/** A backup that is not written to a file here, but sent elsewhere. */
export interface BackupStream {
  /** The backup contains everything up to this LSN and nothing after it. */
  readonly lsn: number;
  /** The tables in the backup need the log after this LSN, which is in the backup too. */
  readonly logLsn: number;
  /** The bytes of the archive. */
  readonly pieces: AsyncGenerator<Uint8Array, void, undefined>;
  /** Releases the files of the backup. Resolves when it was called before, too. */
  close(): Promise<void>;
}

export interface BackupSource {
  fs: Fs;
  /** Data directory. */
  dir: string;
  crc32c: Crc32c;
  module: CoreModule;
  /** Epoch milliseconds. */
  now: () => number;
  /** Yields to other work. */
  pause: () => Promise<void>;
  compact: () => Promise<unknown>;
  /** Pins the current state while no compaction or DDL runs. */
  pin: () => Promise<PinnedState>;
}

/** Subdirectories of the data directory that only the engine may write to. */
const OWN_DIRECTORIES = ['log', 'tables', 'replays'];

export class Backups {
  readonly #source: BackupSource;
  readonly #mutex = new Mutex();
  #closed = false;

  constructor(source: BackupSource) {
    this.#source = source;
  }

  /**
   * Writes a backup; resolves when it is durable. Rejects with `backup_exists`, `disk_full`,
   * `table_corrupt`, `conflict` (a table has held operations), `corrupt`, `log_failed`,
   * `invalid_input` (the directory belongs to the database itself) or `draining`. If it rejects, no
   * part of the backup is left.
   */
  run(options: BackupOptions): Promise<BackupResult> {
    return this.#mutex.run(async () => {
      this.#checkOpen();
      if (options.compactFirst) await this.#source.compact();
      const dir = this.#placeFor(options.dir);
      const state = await this.#source.pin();
      try {
        return await this.#write(dir, state);
      } finally {
        state.release();
      }
    });
  }

  /**
   * Begins a backup of the present state. Close it, read to its end or not. `pieces` throws
   * `draining`, `corrupt` or `table_corrupt`.
   */
  async stream(): Promise<BackupStream> {
    this.#checkOpen();
    const state = await this.#source.pin();
    const pieces = archiveBytes(this.#checked(archiveContents(this.#contentsOf(state, this.#source.now()))));
    return {
      lsn: state.lsn,
      logLsn: state.log.fromLsn - 1,
      pieces,
      close: async () => {
        await pieces.return().catch(() => undefined);
        state.release();
      },
    };
  }

  async *#checked<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    for await (const item of items) {
      this.#checkOpen();
      yield item;
    }
  }

  #contentsOf(state: PinnedState, atMs: number): ContentsOptions {
    const { fs, crc32c, module, pause } = this.#source;
    const facts = backupFacts(state.lsn, Math.floor(atMs / 1000), state.tables);
    return { fs, crc32c, module, facts, state, pause };
  }

  /**
   * Aborts a running backup, which then rejects with `draining`. Resolves when the files of that
   * backup are released.
   */
  close(): Promise<void> {
    this.#closed = true;
    return this.#mutex.run(async () => undefined);
  }

  #checkOpen(): void {
    if (this.#closed) throw new HedgerowError('draining', 'The database is being closed; the backup was not made.');
  }

  /**
   * Returns the real path of the directory, which is created if missing. Links are resolved now, so
   * that later changes to them do not matter.
   */
  #placeFor(dir: string): string {
    const { fs, dir: dataDir } = this.#source;
    let real: string;
    try {
      fs.makeDir(dir);
      real = fs.realPath(dir);
    } catch (error) {
      throw writeFailure(error, dir);
    }
    for (const name of OWN_DIRECTORIES) {
      const own = `${dataDir}/${name}`;
      if (fs.exists(own) && isInside(real, fs.realPath(own)))
        throw new HedgerowError(
          'invalid_input',
          `${dir} belongs to the database itself; choose a directory outside it for backups.`,
        );
    }
    return real;
  }

  async #write(dir: string, state: PinnedState): Promise<BackupResult> {
    const { fs, dir: dataDir, now } = this.#source;
    const atMs = now();
    const name = archiveName(atMs, state.lsn);
    const sizeBytes = await writeArchive({
      fs,
      dir,
      name,
      temporary: temporaryName(dataDir),
      files: archiveContents(this.#contentsOf(state, atMs)),
      checkStopped: () => this.#checkOpen(),
    });
    return { path: `${dir}/${name}`, sizeBytes, tables: [...state.tables], lsn: state.lsn };
  }
}

/**
 * Returns the temporary name for backups. All backups of a data directory use the same name. That
 * is safe because they are written one at a time, by the process that holds the directory's lock. A
 * file with this name that exists before a backup starts was left by a process that has died.
 */
function temporaryName(dataDir: string): string {
  const digest = createHash('sha256').update(dataDir).digest('hex');
  return `.hedgerow-backup-${digest.slice(0, 16)}.tmp`;
}
