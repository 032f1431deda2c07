// Installs manifests, which record the durable state of tables, documents and stored answers, and
// then truncates the part of the log that is no longer needed.
//
// Invariants: only one caller at a time installs a manifest, because it must hold the DDL mutex. A
// file that an older manifest lists is removed only when a newer manifest is durable. The applied
// LSN in the entry of a table never decreases from one manifest to the next.

import { assert } from '../../assert.ts';
import { HedgerowError } from '../../errors.ts';
import { type Crc32c, FileInDoubt, type Fs, installManifestText } from '../../storage/index.ts';
import type { Documents } from '../catalog/documents.ts';
import type { TableSet } from '../catalog/table-set.ts';
import type { ChangeHistory } from '../changes/change-history.ts';
import type { Committer } from '../commit/committer.ts';
import { compactionError } from '../compaction/failure.ts';
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import type { Table } from '../table/table.ts';
import { Version } from '../table/version.ts';
import type { ChangedTable } from './checkpoint.ts';
import { CheckpointText, documentOf, needsHeld } from './checkpoint-text.ts';
import { heldPath } from './held-operations.ts';
import type { Reserve } from './reserve.ts';

export interface CheckpointerOptions {
  fs: Fs;
  dir: string;
  crc32c: Crc32c;
  committer: Committer;
  tables: TableSet;
  documents: Documents;
  replays: IdempotencyStore;
  history: ChangeHistory;
  reserve: Reserve;
  pause: () => Promise<void>;
  notice: ((message: string, fields: Record<string, unknown>) => void) | undefined;
}

/** What an installed manifest implies for the log. */
interface Installed {
  /** Nothing needs the log up to this LSN any more. */
  neededAfter: number;
  bytes: number;
}

/** Number of tables visited between two pauses. */
const TABLES_A_SLICE = 4096;

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  readonly #text: CheckpointText;
  /** Dropped tables whose files the installed manifest may still list. */
  #dropped: Table[] = [];
  #installing = false;
  /**
   * LSN of the manifest found at open. Its catalog and documents are loaded before the replay. The
   * replay may begin at a lower LSN, but no manifest installed during the replay may have a lower
   * LSN than this.
   */
  foundLsn = 0;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#text = new CheckpointText(options.pause);
  }

  /**
   * Installs a manifest of the current state, with new segments for the tables in `changed`, and
   * truncates the log. The caller must hold the DDL mutex. A failure before the new file replaces
   * the old one changes nothing and rejects with `disk_full` or `disk_failed`. After a later
   * failure it is unknown which manifest is on disk, so writes are refused until a restart.
   */
  async install(changed: readonly ChangedTable[]): Promise<void> {
    const { committer, notice, replays, reserve } = this.#options;
    const { log } = committer;
    // With durability `async`, a catalog change is applied before it is synced. The manifest must
    // not contain anything that the log may still lose, so the log is synced first.
    await log.flush();
    log.assertOwner();
    await this.#vouchForIdle(new Set(changed.map(({ table }) => table)));
    const dropped = [...this.#dropped];
    const applied = this.#releasable(changed);
    const installed = await this.write(changed).catch((cause: unknown) => {
      throw this.#failureOf(cause);
    });
    assert(installed.neededAfter <= committer.headLsn, 'the log reaches as far as a manifest says');
    this.#letGo(dropped);
    try {
      for (const table of [...applied, ...dropped]) await this.#removeHeld(table);
      // During a replay the log is still being read, so it is truncated with the next manifest
      // instead.
      if (committer.replayedLsn === null) await log.truncate(installed.neededAfter);
      await replays.removeDropped();
    } catch (error) {
      // The manifest is installed, so the call succeeds. The leftover files are found again at the
      // next open.
      notice?.('old files of the log or of stored answers could not be removed', { detail: (error as Error).message });
    }
    reserve.wanted(2 * installed.bytes);
  }

  /**
   * Schedules the removal of a table's files; called when the drop of the table is durable. The
   * files are removed when a manifest without the table is durable: now, or with a later manifest
   * if none can be written now. Never rejects.
   */
  async forget(table: Table): Promise<void> {
    const { notice, reserve } = this.#options;
    assert(table.dropped, 'only a table that was dropped is forgotten');
    this.#dropped.push(table);
    try {
      await reserve.use(() => this.install([]));
    } catch (error) {
      notice?.('a table was dropped, but no manifest can be written now; its files are removed with the next one', {
        table: table.name,
        detail: (error as Error).message,
      });
    }
  }

  /**
   * Returns the tables whose held files the next manifest no longer lists, because a compaction has
   * moved the operations in those files into segments.
   */
  #releasable(changed: readonly ChangedTable[]): Table[] {
    const changes = new Map(changed.map(({ table, appliedLsn }) => [table, appliedLsn]));
    return [...this.#options.tables.all()].filter(
      (table) => table.held.length > 0 && !needsHeld(table, changes.get(table) ?? table.appliedLsn),
    );
  }

  async #removeHeld(table: Table): Promise<void> {
    const { held } = table;
    table.change({ held: [] });
    for (const entry of held) await this.#options.fs.remove(heldPath(table, entry));
  }

  #letGo(dropped: readonly Table[]): void {
    for (const table of dropped) {
      assert(table.dropped, 'only a table that was dropped loses its rows');
      table.install(new Version([], [], table.bucketSeconds));
    }
    this.#dropped = this.#dropped.filter((table) => !dropped.includes(table));
  }

  /**
   * Advances the applied LSN of tables without pending operations, because they need nothing from
   * the log. The new LSN is stored in the table: the log may be truncated up to that LSN, so later
   * manifests must not contain a lower one. The new LSN is at most the visible LSN, because a
   * durable frame above the visible LSN may not be completely applied yet.
   */
  async #vouchForIdle(changed: ReadonlySet<Table>): Promise<void> {
    const { committer, tables, pause } = this.#options;
    const reached =
      committer.replayedLsn === null ? Math.min(committer.durableLsn, committer.visibleLsn) : committer.replayedLsn;
    let looked = 0;
    for (const table of [...tables.all()]) {
      if (++looked % TABLES_A_SLICE === 0) await pause();
      if (table.pending > 0 || table.corrupt !== null || changed.has(table)) continue;
      if (table.appliedLsn < reached) table.change({ appliedLsn: reached });
    }
  }

  #failureOf(cause: unknown): unknown {
    const { committer } = this.#options;
    if (!(cause instanceof FileInDoubt)) return compactionError(cause);
    const code = cause.code === 'ENOSPC' ? 'disk_full' : 'log_failed';
    const error = new HedgerowError(
      code,
      `The manifest cannot be written (${cause.message}). Writes are refused. Check the disk, then restart.`,
      { cause },
    );
    committer.refuse(error);
    return error;
  }

  /**
   * Writes the stored answers up to the manifest's LSN, and then the manifest of the current state.
   * Rejects with the error of the disk.
   */
  async write(changed: readonly ChangedTable[]): Promise<Installed> {
    const { fs, dir, crc32c, committer, tables, documents, replays, history, pause } = this.#options;
    assert(!this.#installing, 'one manifest is installed at a time');
    this.#installing = true;
    try {
      // The LSN is read before the answers are written. Operations that become durable meanwhile
      // stay in the log for the next manifest.
      const lsn = Math.max(committer.durableLsn, this.foundLsn);
      for (const { table, appliedLsn } of changed) {
        assert(appliedLsn >= table.appliedLsn, 'a manifest never takes the LSN of a table back');
        assert(appliedLsn <= lsn, 'no table is beyond the LSN of its manifest');
      }
      const { nextId: nextTableId, nextNumber } = tables;
      const stored = documents.stored();
      const text = await this.#text.tables([...tables.all()], changed);
      const changes = history.stored(committer.log.oldestLsn);
      const head = {
        ...{ lsn, nextTableId, documents: stored, replays: await replays.write(lsn) },
        ...(changes === undefined ? {} : { changes }),
        ...(nextNumber === 1 ? {} : { nextNumber }),
      };
      const pieces = documentOf(head, text.pieces);
      // If another process has taken over during the pauses, its manifest must not be replaced.
      committer.log.assertOwner();
      await installManifestText(fs, dir, crc32c, pieces, pause);
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      return { neededAfter: Math.min(lsn, text.neededAfter), bytes };
    } finally {
      this.#installing = false;
    }
  }
}
