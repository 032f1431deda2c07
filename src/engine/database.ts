// The database: opens a directory, connects the components of the engine and runs compactions. All
// access to the data goes through this class.
//
// Invariants: DDL, document changes and installations of manifests run one at a time (#ddlMutex),
// and so do compactions (#compactions). A catalog change is applied only once it is durable. The
// manifest never claims more than the log, the segments and the stored-answer files contain.

import { loadCore, makeChecksum } from '../core/index.ts';
import { HedgerowError } from '../errors.ts';
import { IDENTIFIER } from '../model/columns.ts';
import type { Attach } from '../model/kept-answer.ts';
import { Mutex } from '../schedule/locks.ts';
import { Scheduler } from '../schedule/scheduler.ts';
import { type Crc32c, DEFAULT_LOG_FILE_BYTES } from '../storage/index.ts';
import { type BackupOptions, type BackupResult, type BackupStream, Backups } from './backup/backups.ts';
import { pinState } from './backup/pinned-state.ts';
import { targetDirectory } from './backup/target-directory.ts';
import type { AlterAction } from './catalog/alter.ts';
import { Ddl } from './catalog/ddl.ts';
import { Documents } from './catalog/documents.ts';
import { type DroppedIndex, Indexes } from './catalog/indexes.ts';
import { TableSet } from './catalog/table-set.ts';
import type { TextIndexes } from './catalog/text-indexes.ts';
import { ChangeFeed } from './changes/change-feed.ts';
import type { ChangedTable } from './checkpoint/checkpoint.ts';
import { Checkpointer } from './checkpoint/checkpointer.ts';
import { copyOutOfLog } from './checkpoint/held-operations.ts';
import { LogRelief } from './checkpoint/log-relief.ts';
import { Reserve } from './checkpoint/reserve.ts';
import { Committer } from './commit/committer.ts';
import { LsnWaits } from './commit/lsn-waits.ts';
import { Compactor } from './compaction/compactor.ts';
import { assertTtl, compactTables } from './compaction/request.ts';
import { CompactionTrigger } from './compaction/trigger.ts';
import type { EngineContext } from './context.ts';
import type { EngineOptions } from './engine-options.ts';
import { Figures, type StoreFigures } from './figures.ts';
import { FrameApplier } from './follow/frame-applier.ts';
import { FrameFeed } from './follow/frame-feed.ts';
import { IdempotencyStore, REPLAY_LIMITS } from './idempotency/idempotency-store.ts';
import { contextOf } from './make-context.ts';
import { Nodes } from './nodes/nodes.ts';
import { openingError } from './opening-error.ts';
import { recoverDatabase } from './recovery/recover-database.ts';
import type { Snapshot } from './table/snapshot.ts';
import type { Table } from './table/table.ts';
import { Transaction } from './transaction/transaction.ts';
import type {
  CompactionResult,
  EngineFigures,
  EngineHealth,
  IndexItem,
  TableInput,
  TableItem,
  WalStatus,
} from './types.ts';

/**
 * Size of the log, in log files, above which LogRelief shortens it. 8 files of the default size are
 * 128 MB.
 */
const RELIEF_LOG_FILES = 8;

export class Database {
  readonly dir: string;
  readonly primaryTable: string;
  /** Schedules the long work of this thread, both of the database and of the layers above it. */
  readonly scheduler: Scheduler;
  /** Small durable values of the service: API keys, rules, virtual graphs. */
  readonly documents: Documents;
  /** Answers stored under Idempotency-Keys. */
  readonly replays: IdempotencyStore;
  /** Computes the results of `wal`, `health` and `figures`, at once or in slices. */
  readonly statistics: Figures;
  readonly #options: EngineOptions;
  readonly #context: EngineContext;
  readonly #committer: Committer;
  /** CRC32C, as in all files of the database. */
  readonly crc32c: Crc32c;
  readonly #tables: TableSet;
  /** What has changed, for readers that follow it. */
  readonly changes: ChangeFeed;
  /** The log as it is, for followers. */
  readonly frames: FrameFeed;
  /** Applies the leader's frames; undefined unless this database follows a leader. */
  readonly applier: FrameApplier | undefined;
  readonly #ddlMutex = new Mutex();
  readonly #ddl: Ddl;
  readonly #checkpointer: Checkpointer;
  readonly #reserve: Reserve;
  readonly #relief: LogRelief;
  readonly #compactions = new Mutex();
  readonly #compactor: Compactor;
  readonly #indexes: Indexes;
  readonly textIndexes: TextIndexes;
  readonly #trigger: CompactionTrigger;
  readonly #backups: Backups;
  #lock: { release(): void } | undefined;
  #closing = false;
  #ending: Promise<void> | undefined;
  /**
   * Set when closing: no compaction may begin, because another process may soon own the directory.
   */
  #closed = false;

  private constructor(options: EngineOptions) {
    const { fs, dir, primaryTable, memoryBudgetBytes, now, nowUs, schedule, notice, onVisible } = options;
    this.dir = dir;
    this.primaryTable = primaryTable;
    this.scheduler = options.scheduler ?? new Scheduler();
    this.#options = options;
    const committer = new Committer(new LsnWaits({ nowUs, schedule, onVisible }), options.follows === true);
    this.#committer = committer;
    this.#trigger = new CompactionTrigger({
      memoryBudgetBytes,
      tables: () => this.#tables.all(),
      memtableBytes: () => this.#context.memtables.bytes,
      headLsn: () => committer.headLsn,
      compact: (table, started) => this.#compactor.compact(table, -Infinity, started),
      notice: (message, fields) => notice?.(message, fields),
    });
    const module = options.module ?? loadCore(options.core);
    this.crc32c = makeChecksum(module.instantiate());
    this.#context = contextOf(options, committer, module, this.scheduler, this.#compactions, (tableId) =>
      this.#afterCommit(tableId),
    );
    const { history } = this.#context;
    const tables = new TableSet(this.#context);
    this.#tables = tables;
    this.statistics = this.#makeFigures();
    const limits = { ...REPLAY_LIMITS, ...options.replayLimits };
    const crc32c = this.crc32c;
    const install = (changed: readonly ChangedTable[]) => this.#ddlMutex.run(() => this.#checkpointer.install(changed));
    const relief = new LogRelief({
      limitBytes: RELIEF_LOG_FILES * (options.logFileBytes ?? DEFAULT_LOG_FILE_BYTES),
      logBytes: () => committer.log.sizeBytes - committer.log.historyBytes,
      tables: () => tables.all(),
      compact: (chosen) => this.#compactor.compactAll(chosen, () => -Infinity),
      copyOut: (table) => this.#compactions.run(() => copyOutOfLog(table, crc32c).then(() => install([]))),
      notice: (message, fields) => notice?.(message, fields),
    });
    this.#relief = relief;
    const committed = () => this.#closing || relief.committed();
    this.documents = new Documents({ committer, mutex: this.#ddlMutex, committed });
    const answers = { fs, dir: `${dir}/replays`, crc32c, committer };
    this.replays = new IdempotencyStore({ ...answers, committed, now, limits, notice });
    const { documents, replays } = this;
    const { pauses } = this.#context;
    this.changes = new ChangeFeed({ context: this.#context, tables, schedule });
    this.frames = new FrameFeed({ committer, history, crc32c });
    const reserve = new Reserve(fs, `${dir}/reserve`, options.reserveBytes ?? 0);
    this.#reserve = reserve;
    const shared = { fs, dir, crc32c, committer, tables };
    const kept = { documents, replays, history, reserve };
    this.#checkpointer = new Checkpointer({ ...shared, ...kept, pause: pauses.checkpoint, notice });
    this.#ddl = new Ddl({
      context: this.#context,
      tables,
      mutex: this.#ddlMutex,
      compactions: this.#compactions,
      forget: (table) => this.#checkpointer.forget(table),
    });
    this.#compactor = this.#makeCompactor();
    this.nodes = new Nodes({ context: this.#context, tables, ddl: this.#ddl });
    const context = this.#context;
    this.applier = options.follows === true ? this.#makeApplier() : undefined;
    this.#indexes = new Indexes({ context, tables, ddl: this.#ddl, mutex: this.#ddlMutex, compactor: this.#compactor });
    this.textIndexes = this.#indexes.text;
    const pinned = { ...shared, tables: () => tables.sorted() };
    this.#backups = new Backups({
      ...{ fs, dir, crc32c, module, now, pause: pauses.backup },
      compact: () => this.compact(),
      pin: () => this.#compactions.run(() => this.#ddlMutex.run(() => pinState(pinned))),
    });
  }

  #makeApplier(): FrameApplier {
    const { documents, replays } = this;
    return new FrameApplier({
      ...{ context: this.#context, tables: this.#tables, documents, replays, mutex: this.#ddlMutex },
      ...{ compactor: this.#compactor, trigger: this.#trigger },
      forget: (table) => this.#checkpointer.forget(table),
      notice: (message, fields) => this.#options.notice?.(message, fields),
    });
  }

  #makeFigures(): Figures {
    const { nowUs, schedule } = this.#options;
    const { pauses, residency } = this.#context;
    return new Figures({
      ...{ nowUs, schedule, pause: pauses.figures, tables: () => this.#tables.sorted(), primary: () => this.table() },
      ...{ charge: (bytes: number) => residency.charge(bytes), nodeKeyBytes: () => this.#context.nodes.bytes },
      compactor: () => this.#compactor,
      store: () => this.#storeFigures(),
    });
  }

  #makeCompactor(): Compactor {
    const { runner, segmentRows, compactionBytes } = this.#options;
    const { pauses, residency } = this.#context;
    return new Compactor({
      mutex: this.#compactions,
      runner,
      maxRows: segmentRows ?? 65536,
      maxBytes: compactionBytes,
      instantiate: () => residency.instance(),
      pause: pauses.compaction,
      withReserve: (work) => this.#reserve.use(work),
      assertOpen: () => this.#assertCompacts(),
      installManifest: (changed) => this.#ddlMutex.run(() => this.#checkpointer.install(changed)),
      dropped: (table, beforeTs) => this.#recordDropped(table, beforeTs),
    });
  }

  /** Records, for readers of changes and followers, that a TTL has dropped rows. */
  async #recordDropped(table: Table, beforeTs: number): Promise<void> {
    // A follower drops rows because its leader's log already says so.
    if (!this.#context.history.isKept || this.#committer.isFollower) return table.change({ unlogged: undefined });
    try {
      await this.#ddl.expire(table, beforeTs);
    } catch (error) {
      this.#options.notice?.('that a TTL has dropped edges is recorded for readers of changes at the next start', {
        detail: (error as Error).message,
      });
    }
  }

  /**
   * Opens the database in a directory, which is created if missing: takes the lock, reads the
   * manifest and replays the log. Rejects with `conflict` when another process holds the lock, and
   * with `corrupt` when the log or the manifest is damaged. A corrupt segment only makes its table
   * refuse requests.
   */
  static async open(options: EngineOptions): Promise<Database> {
    if (!IDENTIFIER.test(options.primaryTable)) {
      throw new HedgerowError(
        'invalid_input',
        `The primary table's name ${JSON.stringify(options.primaryTable)} is not an identifier.`,
      );
    }
    const database = new Database(options);
    try {
      options.fs.makeDir(options.dir);
      database.#lock = await options.fs.lock(`${options.dir}/lock`);
      await database.#recover();
      for (const table of database.#tables.ofEdges()) database.#context.textsAhead.committed(table);
      return database;
    } catch (error) {
      await database.#committer.abandon();
      database.#lock?.release();
      throw openingError(error, options.dir);
    }
  }

  #recover(): Promise<void> {
    return recoverDatabase({
      options: this.#options,
      context: this.#context,
      tables: this.#tables,
      documents: this.documents,
      replays: this.replays,
      checkpointer: this.#checkpointer,
      trigger: this.#trigger,
      ddl: this.#ddl,
      crc32c: this.crc32c,
    });
  }

  // Catalog

  /** Returns the table with that name in any case. Throws `table_not_found`. */
  table(name: string = this.primaryTable): Table {
    return this.#tables.edges(name);
  }

  /** Returns all hyperedge tables, ordered by name. The returned list is never modified. */
  tables(): readonly Table[] {
    return this.#tables.ofEdges();
  }

  /** The node tables, and the nodes in them. */
  readonly nodes: Nodes;

  createTable(input: TableInput, attach?: Attach<TableItem>): Promise<Table> {
    return this.#ddl.createTable(input, attach);
  }

  dropTable(name: string, attach?: Attach<{ name: string }>): Promise<void> {
    return this.#ddl.dropTable(name, attach);
  }

  /** Changes the columns, the name or an option of a table. Rejects like `Ddl.alterTable`. */
  alterTable(name: string, action: AlterAction, attach?: Attach<TableItem>): Promise<Table> {
    return this.#ddl.alterTable(name, action, attach);
  }

  /** Number of changes to tables, columns, names, indexes and thresholds since the start. */
  get catalogVersion(): number {
    return this.#tables.version;
  }

  /**
   * Sets the number of pending operations in the log at which a table is compacted, for one table
   * or, in one commit, for all tables. 0 disables automatic compaction at a threshold.
   */
  setCompactThreshold(threshold: number, name?: string, attach?: Attach<void>): Promise<void> {
    return this.#ddl.setCompactThreshold(threshold, name, attach);
  }

  /** Lists the numeric indexes of one or all tables. Throws `table_not_found`. */
  indexes(table?: string): IndexItem[] {
    return this.#indexes.list(table);
  }

  /**
   * Builds an index on a numeric column. Rejects with `table_not_found`, `unknown_column`,
   * `invalid_input` or `index_exists`.
   */
  createIndex(table: string, column: string, attach?: Attach<IndexItem>): Promise<IndexItem> {
    return this.#indexes.create(table, column, attach);
  }

  /** Drops an index. Rejects with `table_not_found` or `index_not_found`. */
  dropIndex(table: string, column: string, attach?: Attach<DroppedIndex>): Promise<DroppedIndex> {
    return this.#indexes.drop(table, column, attach);
  }

  // Commits and reads

  /**
   * Begins a transaction. With `pinned`, every read sees the state at the LSN at which the
   * transaction begins. Without it, the state of each table is pinned when the transaction first
   * reads that table. Throws `not_leader` if this database follows a leader.
   */
  begin(options: { pinned?: boolean } = {}): Transaction {
    this.assertLeads();
    return new Transaction(this.#context, options.pinned === true ? this.#tables.all() : undefined);
  }

  /** Throws `not_leader` if this database follows a leader. */
  assertLeads(): void {
    this.#committer.assertLeads();
  }

  get isFollower(): boolean {
    return this.#committer.isFollower;
  }

  snapshot(table: Table): Snapshot {
    return table.snapshot();
  }

  /** Newest LSN visible to reads. */
  get lastLsn(): number {
    return this.#committer.visibleLsn;
  }

  /** Newest LSN assigned, visible or not. */
  get headLsn(): number {
    return this.#committer.headLsn;
  }

  /**
   * Resolves with true once reads see `lsn`. Resolves with false after `timeoutMs` milliseconds, or
   * as soon as the log fails or the database closes.
   */
  whenVisible(lsn: number, timeoutMs: number): Promise<boolean> {
    return this.#committer.whenVisible(lsn, timeoutMs);
  }

  // Compaction

  #afterCommit(tableId: number): void {
    const table = this.#tables.byId(tableId);
    if (table === undefined || this.#closing) return;
    this.#trigger.committed(table);
    this.#context.textsAhead.committed(table);
    this.#relief.committed();
  }

  #assertCompacts(): void {
    if (this.#closed) throw new HedgerowError('draining', 'The database is closed.');
    if (this.#committer.failed !== null) throw this.#committer.failed;
    // Without this check, two processes could create segments with the same name.
    this.#committer.log.assertOwner();
  }

  /**
   * Compacts one table or all tables. `ttlSeconds` (> 0) drops the buckets that are completely
   * before now - ttlSeconds. Writes that arrive meanwhile are logged and answered as usual; they
   * are counted in `wal_pending_after`.
   */
  async compact(options: { table?: string; ttlSeconds?: number } = {}): Promise<CompactionResult> {
    const ttlSeconds = assertTtl(options.ttlSeconds);
    if (ttlSeconds !== undefined) this.assertLeads();
    const { now, nowUs } = this.#options;
    const one = options.table === undefined ? undefined : this.table(options.table);
    return compactTables(this.#compactor, { one, all: () => [...this.#tables.sorted()], ttlSeconds, now, nowUs });
  }

  // Backup

  /**
   * Writes a backup of the state at one LSN while writes continue. Rejects as documented at
   * `Backups.run`.
   */
  backup(options: BackupOptions): Promise<BackupResult> {
    return this.#backups.run(options);
  }

  /** Begins a backup that is sent elsewhere. Rejects as documented at `Backups.stream`. */
  backupStream(): Promise<BackupStream> {
    return this.#backups.stream();
  }

  /**
   * Returns the path of the directory `given` below `root`, the backup root. Throws `invalid_input`
   * if `given` points outside the root.
   */
  backupDirectory(root: string, given: string | undefined): string {
    return targetDirectory(this.#options.fs, root, given);
  }

  // Figures

  wal(): WalStatus {
    return this.statistics.wal();
  }

  health(): EngineHealth {
    return this.statistics.health();
  }

  figures(): EngineFigures {
    return this.statistics.figures();
  }

  /**
   * Whether readers hold more memory of replaced table versions than allowed. The caller should
   * then end readers for which `isPinning` is true, where possible.
   */
  get isPinnedOver(): boolean {
    return this.#context.pinned.isOver;
  }

  /** Returns whether releasing the snapshot may free memory. */
  isPinning(snapshot: Snapshot): boolean {
    return this.#context.pinned.has(snapshot.version);
  }

  #storeFigures(): StoreFigures {
    return {
      dir: this.dir,
      lastLsn: this.lastLsn,
      logBytes: this.#committer.log.sizeBytes,
      residentBytes: this.#context.residency.bytes,
      chargedBytes: this.#context.residency.chargedBytes,
      pinnedBytes: this.#context.pinned.bytes,
      durability: this.#options.durability,
      logFailed: this.#committer.failed?.message ?? null,
      answersDamagedUntil: this.replays.damagedUntil,
    };
  }

  /**
   * Aborts a running backup, waits for writes, compactions and DDL that have begun, syncs and
   * closes the log, and releases the lock. A second call waits for the first and always resolves;
   * only the first call rejects if closing fails.
   */
  close(): Promise<void> {
    if (this.#ending !== undefined) return this.#ending.catch(() => undefined);
    this.#ending = this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#closing = true;
    this.#context.textsAhead.close();
    this.#committer.endWaits();
    this.statistics.close();
    await this.#backups.close();
    // Let writes that were already submitted finish.
    await this.#committer.idle();
    await this.#compactions.run(() =>
      this.#ddlMutex.run(async () => {
        this.#closed = true;
      }),
    );
    await this.#reserve.close();
    await this.#options.runner.stop?.();
    try {
      await this.#committer.log.close();
    } finally {
      this.#lock?.release();
    }
  }
}
