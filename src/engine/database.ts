// The database: opens a directory, composes the parts, runs compactions. The only door to the data.
//
// Invariants: DDL, document changes and manifest installs run one at a time (#ddlMutex), compactions one at a time (#compactions); a catalog change
// is applied when it is durable; the manifest never says more than the log, the segments and the files of stored answers hold.

import { loadCore, makeChecksum } from '../core/index.ts';
import { HedgerowError } from '../errors.ts';
import { IDENTIFIER } from '../limits.ts';
import { DEFAULT_LOG_FILE_BYTES, type LogStore, openLog } from '../storage/log.ts';
import { manifestPath, readManifest } from '../storage/manifest.ts';
import type { AlterAction } from './alter.ts';
import { type BackupOptions, type BackupResult, Backups } from './backup/backups.ts';
import { pinState } from './backup/pinned-state.ts';
import { targetDirectory } from './backup/target-directory.ts';
import { defineTable } from './catalog.ts';
import { appliedEverywhere, type Checkpoint, checkCheckpoint } from './checkpoint.ts';
import { Checkpointer } from './checkpointer.ts';
import { Committer } from './committer.ts';
import { Compactor } from './compaction/compactor.ts';
import { CompactionTrigger } from './compaction/trigger.ts';
import type { EngineContext } from './context.ts';
import { Ddl } from './ddl.ts';
import { Documents } from './documents.ts';
import type { EngineOptions } from './engine-options.ts';
import { engineFigures, engineHealth, type StoreFigures, walStatus } from './figures.ts';
import { Indexes } from './indexes.ts';
import { LogRelief } from './log-relief.ts';
import { LsnWaits } from './lsn-waits.ts';
import { contextOf } from './make-context.ts';
import { Mutex } from './mutex.ts';
import { NodeCounter } from './node-count.ts';
import { findOrphans, removeOrphans } from './orphans.ts';
import { openTable, replayFrame } from './recovery.ts';
import type { Attach } from './replay-entry.ts';
import { REPLAY_LIMITS, Replays } from './replays.ts';
import type { Snapshot } from './snapshot.ts';
import type { Table } from './table.ts';
import { TableSet } from './table-set.ts';
import { Transaction } from './transaction.ts';
import type {
  CompactionResult,
  EngineFigures,
  EngineHealth,
  IndexItem,
  TableInput,
  TableItem,
  WalStatus,
} from './types.ts';

/** A replay looks at its memory once in so many bytes. */
const REPLAY_LOOK_BYTES = 2 ** 20;
/** Log files that documents and stored answers alone may fill: 128 MB. */
const RELIEF_LOG_FILES = 8;

export class Database {
  readonly dir: string;
  readonly primaryTable: string;
  /** Small durable values of the service: keys, rules, virtual graphs. */
  readonly documents: Documents;
  /** Answers kept under Idempotency-Keys. */
  readonly replays: Replays;
  readonly #options: EngineOptions;
  readonly #context: EngineContext;
  readonly #committer: Committer;
  readonly #crc32c: (bytes: Uint8Array, seed: number) => number;
  readonly #tables: TableSet;
  readonly #ddlMutex = new Mutex();
  readonly #ddl: Ddl;
  readonly #checkpointer: Checkpointer;
  readonly #compactions = new Mutex();
  readonly #compactor: Compactor;
  readonly #indexes: Indexes;
  readonly #trigger: CompactionTrigger;
  readonly #nodes = new NodeCounter();
  readonly #backups: Backups;
  #lock: { release(): void } | undefined;
  #closing = false;
  /** No compaction may begin any more: the directory may soon be another's. */
  #closed = false;

  private constructor(options: EngineOptions) {
    const { fs, dir, primaryTable, memoryBudgetBytes, now, nowUs, schedule, notice } = options;
    this.dir = dir;
    this.primaryTable = primaryTable;
    this.#options = options;
    const committer = new Committer(new LsnWaits({ nowUs, schedule }));
    this.#committer = committer;
    this.#trigger = new CompactionTrigger({
      memoryBudgetBytes,
      tables: () => this.#tables.all(),
      compact: (table, started) => this.#compactor.compact(table, -Infinity, started),
      notice: (message, fields) => notice?.(message, fields),
    });
    const module = options.module ?? loadCore(options.core);
    this.#crc32c = makeChecksum(module.instantiate());
    this.#context = contextOf(options, committer, module, this.#compactions, (tableId) => this.#afterCommit(tableId));
    const tables = new TableSet(this.#context);
    this.#tables = tables;
    const limits = { ...REPLAY_LIMITS, ...options.replayLimits };
    const crc32c = this.#crc32c;
    const relief = new LogRelief({
      limitBytes: RELIEF_LOG_FILES * (options.logFileBytes ?? DEFAULT_LOG_FILE_BYTES),
      logBytes: () => committer.log.sizeBytes,
      compact: () => this.compact(),
      notice: (message, fields) => notice?.(message, fields),
    });
    const committed = () => this.#closing || relief.committed();
    this.documents = new Documents({ committer, mutex: this.#ddlMutex, committed });
    this.replays = new Replays({ fs, dir: `${dir}/replays`, crc32c, committer, committed, now, limits });
    const { documents, replays } = this;
    this.#checkpointer = new Checkpointer({ fs, dir, crc32c, committer, tables, documents, replays, notice });
    this.#ddl = new Ddl({
      context: this.#context,
      tables,
      mutex: this.#ddlMutex,
      compactions: this.#compactions,
      installCheckpoint: () => this.#checkpointer.install(),
    });
    this.#compactor = new Compactor({
      mutex: this.#compactions,
      runner: options.runner,
      maxRows: options.segmentRows ?? 65536,
      assertOpen: () => this.#assertCompacts(),
      installManifest: (changed) => this.#ddlMutex.run(() => this.#checkpointer.install(changed)),
    });
    this.#indexes = new Indexes({
      context: this.#context,
      tables,
      ddl: this.#ddl,
      mutex: this.#ddlMutex,
      compactor: this.#compactor,
    });
    const pinned = { fs, dir, crc32c, committer, tables: () => tables.sorted() };
    this.#backups = new Backups({
      ...{ fs, dir, crc32c, module, now },
      compact: () => this.compact(),
      pin: () => this.#compactions.run(() => this.#ddlMutex.run(() => pinState(pinned))),
    });
  }

  /**
   * Opens (or makes) the database in a directory: takes its lock, reads the manifest, replays the log.
   * Rejects with `conflict` when another process holds it, `corrupt` when the log or manifest is; a corrupt segment makes its table refuse only.
   */
  static async open(options: EngineOptions): Promise<Database> {
    if (!IDENTIFIER.test(options.primaryTable)) {
      throw new HedgerowError(
        'invalid_input',
        `The primary table's name ${JSON.stringify(options.primaryTable)} is no identifier.`,
      );
    }
    const database = new Database(options);
    options.fs.makeDir(options.dir);
    database.#lock = options.fs.lock(`${options.dir}/lock`);
    try {
      await database.#recover();
      return database;
    } catch (error) {
      await database.#committer.abandon();
      database.#lock.release();
      throw error;
    }
  }

  async #recover(): Promise<void> {
    const { fs, dir, now } = this.#options;
    const manifest = readManifest(fs, dir, this.#crc32c);
    const checkpoint = manifest === null ? null : checkCheckpoint(manifest, manifestPath(dir));
    const scratch = this.#context.module.instantiate();
    for (const item of checkpoint?.tables ?? []) this.#tables.add(openTable(this.#context, item, scratch));
    this.#tables.nextId = Math.max(this.#tables.nextId, checkpoint?.nextTableId ?? 1);
    this.#checkpointer.foundLsn = checkpoint?.lsn ?? 0;
    this.documents.load(checkpoint?.documents ?? []);
    this.replays.load(checkpoint?.replays ?? { lsn: 0, next: 1, files: [] });
    const log = await this.#openLog(checkpoint);
    this.#committer.attach(log, this.replays);
    await this.#replay(log, checkpoint);
    await this.#removeOrphans(checkpoint);
    for (const table of this.#tables.all()) table.changed(log.headLsn);
    if (this.#tables.find(this.primaryTable) !== undefined) return;
    const table = defineTable({ name: this.primaryTable }, this.#tables.nextId, Math.floor(now() / 1000));
    await this.#ddl.change([{ op: 'create_table', table }]);
  }

  #openLog(checkpoint: Checkpoint | null): Promise<LogStore> {
    const { fs, dir, durability, nowUs, logFileBytes, schedule, observeLog, notice, defer } = this.#options;
    return openLog({
      fs,
      dir: `${dir}/log`,
      crc32c: this.#crc32c,
      durability,
      minimumLsn: checkpoint ? appliedEverywhere(checkpoint) : 0,
      reachedLsn: checkpoint?.lsn ?? 0,
      onDurable: (lsn) => this.#committer.onDurable(lsn),
      onFailed: (error) => {
        this.#committer.onFailed(error);
        notice?.('the log has failed; writes are refused until a restart', { detail: error.message });
      },
      scheduleSync: (sync) => schedule(sync, 100),
      now: nowUs,
      ...(observeLog ? { observe: observeLog } : {}),
      ...(defer ? { defer } : {}),
      ...(logFileBytes === undefined ? {} : { fileBytes: logFileBytes }),
    });
  }

  async #replay(log: LogStore, checkpoint: Checkpoint | null): Promise<void> {
    const { documents, replays } = this;
    const tables = this.#tables;
    const target = { catalogLsn: checkpoint?.lsn ?? 0, tables, documents, replays };
    let replayedBytes = 0;
    for (const frame of log.replay(checkpoint ? appliedEverywhere(checkpoint) : 0)) {
      replayFrame(frame, target);
      replayedBytes += frame.payload.length;
      if (replayedBytes < REPLAY_LOOK_BYTES) continue;
      replayedBytes = 0;
      this.#committer.replayedLsn = frame.firstLsn + frame.operations - 1;
      await this.#trigger.shrink();
    }
    this.#committer.replayedLsn = null;
  }

  /** Removes what compactions, drops and checkpoints left when a crash came. */
  async #removeOrphans(checkpoint: Checkpoint | null): Promise<void> {
    const { fs, notice } = this.#options;
    const tableById = (id: number) => this.#tables.byId(id);
    const { orphans } = this.replays;
    const segments = findOrphans(fs, this.#context.tablesDir, this.#tables.nextId, checkpoint, tableById);
    orphans.unlisted.push(...segments.unlisted);
    orphans.replaced.push(...segments.replaced);
    await removeOrphans(fs, orphans, () => this.#checkpointer.write(), notice);
  }

  // Catalog

  /** Name compared without case; undefined: the primary table. Throws `table_not_found`. */
  table(name: string = this.primaryTable): Table {
    return this.#tables.get(name);
  }

  /** All tables, by name. */
  tables(): Table[] {
    return this.#tables.sorted();
  }

  /** Throws (rejects) `invalid_input`, `table_exists`, `log_failed`. */
  createTable(input: TableInput, attach?: Attach<TableItem>): Promise<Table> {
    return this.#ddl.createTable(input, attach);
  }

  /** Drops a table and its files. Throws (rejects) `table_not_found`, `primary_table`. */
  dropTable(name: string, attach?: Attach<{ name: string }>): Promise<void> {
    return this.#ddl.dropTable(name, attach);
  }

  /** Changes columns or name. Throws (rejects) as `Ddl.alterTable` says. */
  alterTable(name: string, action: AlterAction, attach?: Attach<TableItem>): Promise<Table> {
    return this.#ddl.alterTable(name, action, attach);
  }

  /** Counts the changes of tables, columns, names, indexes and thresholds since the start. */
  get catalogVersion(): number {
    return this.#tables.version;
  }

  /** Sets the WAL entry count that triggers compaction, of one table or of all, as one commit. 0 disables. */
  setCompactThreshold(threshold: number, name?: string, attach?: Attach<void>): Promise<void> {
    return this.#ddl.setCompactThreshold(threshold, name, attach);
  }

  /** Indexes of one table or all. Throws `table_not_found`. */
  indexes(table?: string): IndexItem[] {
    return this.#indexes.list(table);
  }

  /** Builds an index of a numeric column. Throws (rejects) `table_not_found`, `unknown_column`, `invalid_input`, `index_exists`. */
  createIndex(table: string, column: string, attach?: Attach<IndexItem>): Promise<IndexItem> {
    return this.#indexes.create(table, column, attach);
  }

  /** Throws (rejects) `table_not_found`, `index_not_found`. */
  dropIndex(
    table: string,
    column: string,
    attach?: Attach<{ table: string; column: string }>,
  ): Promise<{ table: string; column: string }> {
    return this.#indexes.drop(table, column, attach);
  }

  // Commits and reads

  /** `pinned`: all that it reads is of the LSN at which it begins. Otherwise each table is seen as it is when the transaction first looks at it. */
  begin(options: { pinned?: boolean } = {}): Transaction {
    return new Transaction(this.#context, options.pinned === true ? this.#tables.all() : undefined);
  }

  snapshot(table: Table): Snapshot {
    return table.snapshot();
  }

  /** Newest LSN that reads see. */
  get lastLsn(): number {
    return this.#committer.visibleLsn;
  }

  /** Newest LSN given out, visible or not. */
  get headLsn(): number {
    return this.#committer.headLsn;
  }

  /** True when reads see `lsn` within so many milliseconds; false at once when the log fails or the database closes. */
  whenVisible(lsn: number, timeoutMs: number): Promise<boolean> {
    return this.#committer.whenVisible(lsn, timeoutMs);
  }

  // Compaction

  #afterCommit(tableId: number): void {
    const table = this.#tables.byId(tableId);
    if (table !== undefined && !this.#closing) this.#trigger.committed(table);
  }

  #assertCompacts(): void {
    if (this.#closed) throw new HedgerowError('draining', 'The database is closed.');
    if (this.#committer.failed !== null) throw this.#committer.failed;
  }

  /**
   * Compacts one table or all; resolves when it is done. `ttlSeconds` (> 0) drops the buckets that lie wholly before now - ttlSeconds.
   * Writes that come meanwhile are logged, answered and counted in `wal_pending_after`.
   */
  async compact(options: { table?: string; ttlSeconds?: number } = {}): Promise<CompactionResult> {
    const { ttlSeconds } = options;
    if (ttlSeconds !== undefined && !(Number.isSafeInteger(ttlSeconds) && ttlSeconds > 0)) {
      throw new HedgerowError('invalid_input', 'ttl_seconds must be an integer of 1 or more.', {
        errors: [{ loc: ['ttl_seconds'], msg: 'must be an integer of 1 or more' }],
      });
    }
    const isOne = options.table !== undefined;
    const wanted = isOne ? [this.table(options.table)] : this.tables().filter((table) => table.corrupt === null);
    const startUs = this.#options.nowUs();
    const nowSeconds = Math.floor(this.#options.now() / 1000);
    const result: CompactionResult = {
      tables: [],
      wal_pending_before: wanted.reduce((sum, table) => sum + table.pending, 0),
      wal_pending_after: 0,
      buckets_dropped: 0,
      edges_dropped: 0,
      tombstones_reconciled: 0,
      elapsed_ms: 0,
    };
    for (const table of wanted) {
      const width = table.bucketSeconds;
      const cutoffTs = ttlSeconds === undefined ? -Infinity : Math.floor((nowSeconds - ttlSeconds) / width) * width;
      const done = await this.#compactor.compact(table, cutoffTs).catch((error: unknown) => {
        // Dropped while others were compacted: there is nothing left to do. Drops wait for a compaction that runs.
        if (isOne || !table.dropped) throw error;
      });
      if (done === undefined) continue;
      result.tables.push(table.name);
      result.buckets_dropped += done.bucketsDropped;
      result.edges_dropped += done.edgesDropped;
      result.tombstones_reconciled += done.tombstones;
    }
    result.wal_pending_after = wanted.reduce((sum, table) => sum + (table.dropped ? 0 : table.pending), 0);
    result.elapsed_ms = Math.round((this.#options.nowUs() - startUs) / 10) / 100;
    return result;
  }

  // Backup

  /** Writes a backup of one LSN while writes go on; rejections as `Backups.run` says. */
  backup(options: BackupOptions): Promise<BackupResult> {
    return this.#backups.run(options);
  }

  /** The directory that `given` names below the backup root. Throws `invalid_input` when it leads out of it. */
  backupDirectory(root: string, given: string | undefined): string {
    return targetDirectory(this.#options.fs, root, given);
  }

  // Figures

  wal(): WalStatus {
    return walStatus(this.tables(), this.table(), this.#figures());
  }

  health(): EngineHealth {
    return engineHealth(this.tables(), this.table(), this.#nodes, this.#figures());
  }

  /** What it costs little to tell at any moment. */
  figures(): EngineFigures {
    return engineFigures(this.tables(), this.#compactor, this.#figures());
  }

  #figures(): StoreFigures {
    return {
      dir: this.dir,
      lastLsn: this.lastLsn,
      logBytes: this.#committer.log.sizeBytes,
      residentBytes: this.#context.residency.bytes,
      durability: this.#options.durability,
      logFailed: this.#committer.failed?.message ?? null,
    };
  }

  /** Waits for running compactions and DDL, syncs and closes the log, frees the lock. A second call does nothing. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    this.#committer.endWaits();
    await this.#backups.close();
    await this.#compactions.run(() =>
      this.#ddlMutex.run(async () => {
        this.#closed = true;
      }),
    );
    await this.#options.runner.stop?.();
    try {
      await this.#committer.log.close();
    } finally {
      this.#lock?.release();
    }
  }
}
