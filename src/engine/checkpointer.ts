// Installing manifests: what is durable of tables, documents and stored answers, then letting go of the log that is no longer needed.

import { HedgerowError } from '../errors.ts';
import type { Crc32c } from '../storage/crc32c.ts';
import type { Fs } from '../storage/fs.ts';
import { installManifest } from '../storage/manifest.ts';
import { appliedEverywhere, type ChangedTable, type Checkpoint, makeCheckpoint } from './checkpoint.ts';
import type { Committer } from './committer.ts';
import type { Documents } from './documents.ts';
import type { Replays } from './replays.ts';
import type { TableSet } from './table-set.ts';

export interface CheckpointerOptions {
  fs: Fs;
  dir: string;
  crc32c: Crc32c;
  committer: Committer;
  tables: TableSet;
  documents: Documents;
  replays: Replays;
  notice: ((message: string, fields: Record<string, unknown>) => void) | undefined;
}

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  /** LSN of the manifest found at open: its catalog and documents are known from the start, also while a replay is still below it. */
  foundLsn = 0;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /**
   * Installs a manifest of the present state, with new segments for `changed`, and truncates the log. The caller holds the DDL mutex. A failure leaves the disk
   * in doubt: writes are refused until a restart.
   */
  async install(changed?: ChangedTable): Promise<void> {
    const { committer, tables, notice, replays } = this.#options;
    const { log } = committer;
    // With durability `async` a catalog change is applied before it is synced; the manifest must not hold what the log may lose.
    await log.flush();
    log.assertOwner();
    // A table that has nothing in the log needs nothing from it. Kept in the table: the log goes up to here, so no later manifest may say less.
    for (const table of tables.all()) {
      if (table.pending === 0 && table.corrupt === null)
        table.appliedLsn = Math.max(table.appliedLsn, committer.durableLsn);
    }
    let checkpoint: Checkpoint;
    try {
      checkpoint = await this.write(changed);
    } catch (cause) {
      const code = (cause as { code?: unknown }).code === 'ENOSPC' ? 'disk_full' : 'log_failed';
      const error = new HedgerowError(
        code,
        `The manifest cannot be written (${(cause as Error).message}). Writes are refused. Check the disk, then restart.`,
        { cause },
      );
      committer.refuse(error);
      throw error;
    }
    try {
      // In a replay the log is still being read; the next manifest lets go of what this one could have.
      if (committer.replayedLsn === null) await log.truncate(appliedEverywhere(checkpoint));
      await replays.removeDropped();
    } catch (error) {
      // The manifest stands: whoever waits for it goes on. The files are found again at the next open.
      notice?.('old files of the log or of stored answers could not be removed', { detail: (error as Error).message });
    }
  }

  /** Writes the manifest of the present state, and before it the stored answers up to its LSN. Rejects with what the disk said. */
  async write(changed?: ChangedTable): Promise<Checkpoint> {
    const { fs, dir, crc32c, committer, tables, documents, replays } = this.#options;
    // Before the answers are written: what becomes durable meanwhile stays in the log, for the next manifest.
    const lsn = Math.max(committer.durableLsn, this.foundLsn);
    const checkpoint = makeCheckpoint(tables.all(), lsn, tables.nextId, changed);
    checkpoint.documents = documents.stored();
    checkpoint.replays = await replays.write(lsn);
    await installManifest(fs, dir, crc32c, checkpoint);
    return checkpoint;
  }
}
