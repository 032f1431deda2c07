// Installing manifests: what is durable of tables, documents and stored answers, then letting go of the log that is no longer needed.
//
// Invariants: a manifest is installed by one caller at a time (it holds the DDL mutex); a file that an older manifest lists is removed only when the newer
// one is durable; the LSN that a table's entry vouches for never goes back.

import { assert } from '../../assert.ts';
import { HedgerowError } from '../../errors.ts';
import { type Crc32c, FileInDoubt, type Fs, installManifestText } from '../../storage/index.ts';
import type { Documents } from '../catalog/documents.ts';
import type { TableSet } from '../catalog/table-set.ts';
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
  reserve: Reserve;
  pause: () => Promise<void>;
  notice: ((message: string, fields: Record<string, unknown>) => void) | undefined;
}

/** What an installed manifest says of the log. */
interface Installed {
  /** No table, and nothing else, needs the log up to here. */
  neededAfter: number;
  bytes: number;
}

/** Tables that are looked at between two pauses. */
const TABLES_A_SLICE = 4096;

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  readonly #text: CheckpointText;
  /** Tables that were dropped, and whose files the installed manifest may still list. */
  #dropped: Table[] = [];
  #installing = false;
  /** LSN of the manifest found at open: its catalog and documents are known from the start, also while a replay is still below it. */
  foundLsn = 0;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#text = new CheckpointText(options.pause);
  }

  /**
   * Installs a manifest of the present state, with new segments for `changed`, and truncates the log. The caller holds the DDL mutex. A failure before the new
   * file takes the old one's name changes nothing: `disk_full`, `disk_failed`. A later one leaves the disk in doubt: writes are refused until a restart.
   */
  async install(changed: readonly ChangedTable[]): Promise<void> {
    const { committer, notice, replays, reserve } = this.#options;
    const { log } = committer;
    // With durability `async` a catalog change is applied before it is synced; the manifest must not hold what the log may lose.
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
      // In a replay the log is still being read; the next manifest lets go of what this one could have.
      if (committer.replayedLsn === null) await log.truncate(installed.neededAfter);
      await replays.removeDropped();
    } catch (error) {
      // The manifest is installed: those who wait for it go on. The files are found again at the next open.
      notice?.('old files of the log or of stored answers could not be removed', { detail: (error as Error).message });
    }
    reserve.wanted(2 * installed.bytes);
  }

  /** Lets go of a table whose drop is durable: its files go when a manifest without it is durable, now or with a later one. Never rejects. */
  async forget(table: Table): Promise<void> {
    const { notice, reserve } = this.#options;
    assert(table.dropped, 'only a table that was dropped is forgotten');
    this.#dropped.push(table);
    try {
      await reserve.use(() => this.install([]));
    } catch (error) {
      notice?.('a table was dropped, but no manifest can be written now; its files go with the next one', {
        table: table.name,
        detail: (error as Error).message,
      });
    }
  }

  /** Tables whose files of operations the next manifest does not list any more: a compaction brought them into segments. */
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
   * A table that has nothing in the log needs nothing from it. Kept in the table: the log goes up to here, so no later manifest may say less. A frame that is
   * in the log but still being applied is above the visible LSN.
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

  /** Writes the manifest of the present state, and before it the stored answers up to its LSN. Rejects with what the disk said. */
  async write(changed: readonly ChangedTable[]): Promise<Installed> {
    const { fs, dir, crc32c, committer, tables, documents, replays, pause } = this.#options;
    assert(!this.#installing, 'one manifest is installed at a time');
    this.#installing = true;
    try {
      // Before the answers are written: what becomes durable meanwhile stays in the log, for the next manifest.
      const lsn = Math.max(committer.durableLsn, this.foundLsn);
      for (const { table, appliedLsn } of changed) {
        assert(appliedLsn >= table.appliedLsn, 'a manifest never takes the LSN of a table back');
        assert(appliedLsn <= lsn, 'no table is beyond the LSN of its manifest');
      }
      const { nextId: nextTableId } = tables;
      const stored = documents.stored();
      const text = await this.#text.tables([...tables.all()], changed);
      const head = { lsn, nextTableId, documents: stored, replays: await replays.write(lsn) };
      const pieces = documentOf(head, text.pieces);
      // Another process may have taken over in the pauses: its manifest must not be replaced.
      committer.log.assertOwner();
      await installManifestText(fs, dir, crc32c, pieces, pause);
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      return { neededAfter: Math.min(lsn, text.neededAfter), bytes };
    } finally {
      this.#installing = false;
    }
  }
}
