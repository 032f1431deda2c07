// The database: opens a directory, holds the tables, orders commits, DDL and compactions. The only door to the data.
//
// Invariants: DDL and manifest installs run one at a time (#ddl), compactions one at a time (#compactions); a catalog change is applied when it
// is durable; the manifest never says more than the log and the segments hold.

import { EdgeBatch, loadCore, makeChecksum, TextSink } from '../core/index.ts';
import { HedgerowError } from '../errors.ts';
import { IDENTIFIER } from '../limits.ts';
import type { Fs } from '../storage/fs.ts';
import { type LogGroupFigures, openLog } from '../storage/log.ts';
import { installManifest, manifestPath, readManifest } from '../storage/manifest.ts';
import { type CatalogChange, checkThreshold, defineTable, type TableDefinition } from './catalog.ts';
import { appliedEverywhere, type Checkpoint, checkCheckpoint, makeCheckpoint } from './checkpoint.ts';
import { Committer } from './committer.ts';
import { compactTable } from './compaction/compact-table.ts';
import { CompactionTrigger } from './compaction/trigger.ts';
import type { CompactionRunner } from './compaction/work.ts';
import type { EngineContext } from './context.ts';
import { engineHealth, type StoreFigures, walStatus } from './figures.ts';
import { Mutex } from './mutex.ts';
import { NodeCounter } from './node-count.ts';
import { OPERATION, runHeader } from './operations.ts';
import { findOrphans, removeOrphans } from './orphans.ts';
import { createdTable, openTable, replayFrame } from './recovery.ts';
import { Residency } from './residency.ts';
import type { SegmentEntry } from './segments-on-disk.ts';
import type { Snapshot } from './snapshot.ts';
import type { Table } from './table.ts';
import { Transaction } from './transaction.ts';
import type { CompactionResult, EngineHealth, TableInput, WalStatus } from './types.ts';

/** Everything the engine needs of the world; `openDatabase` fills it for Node. */
export interface EngineOptions {
  dir: string;
  fs: Fs;
  /** Runs compactions; `stop` ends what it started. */
  runner: CompactionRunner & { stop?: () => Promise<void> };
  /** Epoch milliseconds. */
  now: () => number;
  /** Monotonic microseconds. */
  nowUs: () => number;
  /** Calls back once after so many milliseconds, without keeping the process alive. */
  schedule: (callback: () => void, delayMs: number) => void;
  primaryTable: string;
  maxMembers: number;
  durability: 'fsync' | 'async';
  /** Segments in memory take at most so many bytes. */
  memoryBudgetBytes: number;
  /** Rows of a segment, at most and by default 65,536. Tests take less. */
  segmentRows?: number;
  logFileBytes?: number;
  core?: 'release' | 'plain' | 'debug';
  /** Told about things a person may want to know: forced compactions, failures in the background. */
  notice?: (message: string, fields: Record<string, unknown>) => void;
  observeLog?: (figures: LogGroupFigures) => void;
}

/** A replay looks at its memory once in so many bytes. */
const REPLAY_LOOK_BYTES = 2 ** 20;

export class Database {
  readonly dir: string;
  readonly primaryTable: string;
  readonly #options: EngineOptions;
  readonly #context: EngineContext;
  readonly #committer: Committer;
  readonly #crc32c: (bytes: Uint8Array, seed: number) => number;
  readonly #tables = new Map<string, Table>();
  readonly #byId = new Map<number, Table>();
  readonly #ddl = new Mutex();
  readonly #compactions = new Mutex();
  readonly #trigger: CompactionTrigger;
  readonly #nodes = new NodeCounter();
  #nextTableId = 1;
  #lock: { release(): void } | undefined;
  #closing = false;
  /** No compaction may begin any more: the directory may soon be another's. */
  #closed = false;

  private constructor(options: EngineOptions) {
    this.dir = options.dir;
    this.primaryTable = options.primaryTable;
    this.#options = options;
    this.#committer = new Committer();
    this.#trigger = new CompactionTrigger({
      memoryBudgetBytes: options.memoryBudgetBytes,
      tables: () => this.#byId.values(),
      compact: (table, started) => this.#compactOne(table, -Infinity, started),
      notice: (message, fields) => options.notice?.(message, fields),
    });
    const module = loadCore(options.core);
    this.#crc32c = makeChecksum(module.instantiate());
    this.#context = {
      fs: options.fs,
      module,
      batch: new EdgeBatch(module.instantiate()),
      sink: new TextSink(),
      committer: this.#committer,
      residency: new Residency(options.fs, module, options.memoryBudgetBytes),
      tablesDir: `${options.dir}/tables`,
      primaryTable: options.primaryTable,
      maxMembers: options.maxMembers,
      now: options.now,
      nowUs: options.nowUs,
      afterCommit: (tableId) => this.#afterCommit(tableId),
    };
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
    const { fs, dir, durability, now, nowUs, logFileBytes, schedule } = this.#options;
    const manifest = readManifest(fs, dir, this.#crc32c);
    const checkpoint = manifest === null ? null : checkCheckpoint(manifest, manifestPath(dir));
    const scratch = this.#context.module.instantiate();
    for (const item of checkpoint?.tables ?? []) {
      this.#add(openTable(this.#context, item, scratch));
    }
    this.#nextTableId = checkpoint?.nextTableId ?? 1;
    const catalogLsn = checkpoint?.lsn ?? 0;
    const log = await openLog({
      fs,
      dir: `${dir}/log`,
      crc32c: this.#crc32c,
      durability,
      minimumLsn: checkpoint ? appliedEverywhere(checkpoint) : 0,
      reachedLsn: catalogLsn,
      onDurable: (lsn) => this.#committer.onDurable(lsn),
      onFailed: (error) => {
        this.#committer.onFailed(error);
        this.#options.notice?.('the log has failed; writes are refused until a restart', { detail: error.message });
      },
      scheduleSync: (sync) => schedule(sync, 100),
      now: nowUs,
      ...(this.#options.observeLog ? { observe: this.#options.observeLog } : {}),
      ...(logFileBytes === undefined ? {} : { fileBytes: logFileBytes }),
    });
    this.#committer.attach(log);
    const target = {
      catalogLsn,
      tableById: (id: number) => this.#byId.get(id),
      applyCatalog: (change: CatalogChange, lsn: number) => this.#applyCatalog(change, lsn),
    };
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
    await this.#removeOrphans(checkpoint);
    if (!this.#tables.has(this.primaryTable.toLowerCase())) {
      await this.#change((id) => ({
        op: 'create_table',
        table: defineTable({ name: this.primaryTable }, id, Math.floor(now() / 1000)),
      }));
    }
  }

  /** Removes what compactions and drops left when a crash came. */
  async #removeOrphans(checkpoint: Checkpoint | null): Promise<void> {
    const { fs, notice } = this.#options;
    const tableById = (id: number) => this.#byId.get(id);
    const orphans = findOrphans(fs, this.#context.tablesDir, this.#nextTableId, checkpoint, tableById);
    const present = () => makeCheckpoint(this.#tables.values(), this.#committer.durableLsn, this.#nextTableId);
    await removeOrphans(fs, orphans, () => installManifest(fs, this.dir, this.#crc32c, present()), notice);
  }

  // Catalog

  #add(table: Table): void {
    this.#tables.set(table.name.toLowerCase(), table);
    this.#byId.set(table.id, table);
    this.#nextTableId = Math.max(this.#nextTableId, table.id + 1);
  }

  #applyCatalog(change: CatalogChange, lsn: number): void {
    switch (change.op) {
      case 'create_table':
        this.#add(createdTable(this.#context, change.table, lsn));
        return;
      case 'drop_table': {
        const table = this.#byId.get(change.id);
        if (!table) return;
        this.#byId.delete(change.id);
        this.#tables.delete(table.name.toLowerCase());
        table.dropped = true;
        return;
      }
      case 'set_threshold': {
        const table = this.#byId.get(change.id);
        if (table) table.definition = { ...table.definition, compactThreshold: change.threshold };
      }
    }
  }

  /** Logs a catalog change and applies it when it is durable. The caller holds #ddl (or is alone). */
  async #change(make: (nextTableId: number) => CatalogChange): Promise<CatalogChange> {
    const change = make(this.#nextTableId);
    const bytes = Buffer.from(JSON.stringify(change));
    const lsn = this.#committer.append(1, [runHeader(OPERATION.catalog, 0, 1, bytes.length), bytes]);
    await this.#committer.durable(lsn);
    this.#applyCatalog(change, lsn);
    return change;
  }

  /** Name compared without case; undefined: the primary table. Throws `table_not_found`. */
  table(name: string = this.primaryTable): Table {
    const table = this.#tables.get(name.toLowerCase());
    if (table === undefined)
      throw new HedgerowError(
        'table_not_found',
        `There is no table ${JSON.stringify(name)}. GET /v1/tables lists them.`,
      );
    return table;
  }

  /** All tables, by name. */
  tables(): Table[] {
    return [...this.#tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Throws (rejects) `invalid_input`, `table_exists`, `log_failed`. */
  createTable(input: TableInput): Promise<Table> {
    return this.#ddl.run(async () => {
      const definition: TableDefinition = defineTable(input, this.#nextTableId, Math.floor(this.#options.now() / 1000));
      const known = this.#tables.get(definition.name.toLowerCase());
      if (known)
        throw new HedgerowError(
          'table_exists',
          `Table ${known.name} exists already; take another name or drop it first.`,
        );
      await this.#change(() => ({ op: 'create_table', table: definition }));
      return this.table(definition.name);
    });
  }

  /** Drops a table and its files. Throws (rejects) `table_not_found`, `primary_table`. */
  async dropTable(name: string): Promise<void> {
    await this.#compactions.run(() =>
      this.#ddl.run(async () => {
        const table = this.table(name);
        if (table.isPrimary)
          throw new HedgerowError('primary_table', `Table ${table.name} is the primary table; it cannot be dropped.`);
        await this.#change(() => ({ op: 'drop_table', id: table.id }));
        await this.#installCheckpoint();
        table.unpin(table.version);
      }),
    );
  }

  /** Sets the WAL entry count that triggers compaction, of one table or of all. 0 disables. */
  setCompactThreshold(threshold: number, name?: string): Promise<void> {
    checkThreshold(threshold, 'threshold');
    const tables = name === undefined ? this.tables() : [this.table(name)];
    return this.#ddl.run(async () => {
      for (const table of tables) {
        if (table.dropped) continue;
        await this.#change(() => ({ op: 'set_threshold', id: table.id, threshold }));
        this.#afterCommit(table.id);
      }
    });
  }

  // Commits and reads

  begin(): Transaction {
    return new Transaction(this.#context);
  }

  snapshot(table: Table): Snapshot {
    return table.snapshot();
  }

  /** Newest LSN that reads see. */
  get lastLsn(): number {
    return this.#committer.visibleLsn;
  }

  // Compaction

  #afterCommit(tableId: number): void {
    const table = this.#byId.get(tableId);
    if (table !== undefined && !this.#closing) this.#trigger.committed(table);
  }

  #compactOne(table: Table, cutoffTs: number, started?: () => void) {
    return this.#compactions.run(() => {
      started?.();
      if (this.#closed) throw new HedgerowError('draining', 'The database is closed.');
      if (this.#committer.failed !== null) throw this.#committer.failed;
      return compactTable(table, {
        runner: this.#options.runner,
        maxRows: this.#options.segmentRows ?? 65536,
        cutoffTs,
        installManifest: (changed, segments, appliedLsn) =>
          this.#ddl.run(() => this.#installCheckpoint({ table: changed, segments, appliedLsn })),
      });
    });
  }

  /** Installs a manifest of the present state. The caller holds #ddl. A failure leaves the disk in doubt: writes are refused until a restart. */
  async #installCheckpoint(changed?: {
    table: Table;
    segments: readonly SegmentEntry[];
    appliedLsn: number;
  }): Promise<void> {
    const { log } = this.#committer;
    // With durability `async` a catalog change is applied before it is synced; the manifest must not hold what the log may lose.
    await log.flush();
    // A table that has nothing in the log needs nothing from it. Kept in the table: the log goes up to here, so no later manifest may say less.
    for (const table of this.#tables.values()) {
      if (table.pending === 0 && table.corrupt === null)
        table.appliedLsn = Math.max(table.appliedLsn, this.#committer.durableLsn);
    }
    const checkpoint: Checkpoint = makeCheckpoint(
      this.#tables.values(),
      this.#committer.durableLsn,
      this.#nextTableId,
      changed,
    );
    try {
      await installManifest(this.#options.fs, this.dir, this.#crc32c, checkpoint);
    } catch (cause) {
      const code = (cause as { code?: unknown }).code === 'ENOSPC' ? 'disk_full' : 'log_failed';
      const error = new HedgerowError(
        code,
        `The manifest cannot be written (${(cause as Error).message}). Writes are refused. Check the disk, then restart.`,
        { cause },
      );
      this.#committer.refuse(error);
      throw error;
    }
    try {
      // In a replay the log is still being read; the next manifest lets go of what this one could have.
      if (this.#committer.replayedLsn === null) await log.truncate(appliedEverywhere(checkpoint));
    } catch (error) {
      // The manifest stands: whoever waits for it goes on. The files are found again at the next open.
      this.#options.notice?.('old log files could not be removed', { detail: (error as Error).message });
    }
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
    const tables =
      options.table === undefined
        ? this.tables().filter((table) => table.corrupt === null)
        : [this.table(options.table)];
    const startUs = this.#options.nowUs();
    const nowSeconds = Math.floor(this.#options.now() / 1000);
    const result: CompactionResult = {
      tables: tables.map((table) => table.name),
      wal_pending_before: tables.reduce((sum, table) => sum + table.pending, 0),
      wal_pending_after: 0,
      buckets_dropped: 0,
      edges_dropped: 0,
      tombstones_reconciled: 0,
      elapsed_ms: 0,
    };
    for (const table of tables) {
      const width = table.bucketSeconds;
      const cutoffTs = ttlSeconds === undefined ? -Infinity : Math.floor((nowSeconds - ttlSeconds) / width) * width;
      const done = await this.#compactOne(table, cutoffTs);
      result.buckets_dropped += done.bucketsDropped;
      result.edges_dropped += done.edgesDropped;
      result.tombstones_reconciled += done.tombstones;
    }
    result.wal_pending_after = tables.reduce((sum, table) => sum + table.pending, 0);
    result.elapsed_ms = Math.round((this.#options.nowUs() - startUs) / 10) / 100;
    return result;
  }

  // Figures

  wal(): WalStatus {
    return walStatus(this.tables(), this.table(), this.#figures());
  }

  health(): EngineHealth {
    return engineHealth(this.tables(), this.table(), this.#nodes, this.#figures());
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
    await this.#compactions.run(() =>
      this.#ddl.run(async () => {
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
