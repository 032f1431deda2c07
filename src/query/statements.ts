// Entry point of the query module: prepares a text, runs it in a session, and returns its result.

import type { Attach, Database, Snapshot, Table, Transaction } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import type { RunSteps } from '../schedule/scheduler.ts';
import type { Fs } from '../storage/index.ts';
import type { BoundDelete, BoundInsert, BoundUpdate } from './binder/bound.ts';
import { bindDelete, bindInsert, bindUpdate } from './binder/changes.ts';
import { bindingMatch, bindMatch } from './binder/match.ts';
import { checkParameters, type ParameterValues } from './binder/parameters.ts';
import { ConflictQueue } from './conflict-queue.ts';
import { copyFrom, copyTo } from './copy/copy.ts';
import { TemporaryNames } from './copy/write-file.ts';
import { type DefineNode, runDefinition } from './define.ts';
import { describePlanless } from './describe.ts';
import { heapLimits, MemoryPool } from './executor/memory.ts';
import type { AskedMembers } from './executor/values/shown-members.ts';
import type { DeleteNode, ExplainNode, InsertNode, MatchNode, UpdateNode } from './parser/ast.ts';
import { shapeOf } from './planner/shape.ts';
import { type Prepared, preparing } from './prepare.ts';
import { estimatorOf, type ReadOptions, type ReadView, runAnalyze, runExplain, runRead, runWritten } from './read.ts';
import { rowsResult, type StatementResult, whenDone } from './result.ts';
import { type OpenTransaction, type SessionOptions, Sessions } from './sessions.ts';
import { StatementCache } from './statement-cache.ts';
import { runDelete, runInsert, runSome, runUpdate, type WriteOptions, type Written } from './write.ts';
import type { RowFormat, WrittenRead } from './written-read.ts';

/** How the processes of a service know of each other's transactions; see `SessionOptions`. */
export type SessionHooks = Pick<SessionOptions, 'onSession' | 'isAtLeader'>;

export interface StatementsOptions extends SessionHooks {
  readonly database: Database;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  readonly transactionIdleSeconds: number;
  /**
   * Absolute path of the folder in which COPY reads and writes files. Undefined: COPY is refused.
   */
  readonly copyRoot: string | undefined;
  readonly fs: Fs;
  /** Maximum size in bytes of the edges that one COPY inserts; default 512 MB. Tests use less. */
  readonly copyBytes?: number;
  /** Memory budget of running statements; by default derived from the heap of the process. */
  readonly memory?: MemoryPool;
  /** See `QueryContext`. Tests use less. */
  readonly readLetters?: number;
}

export interface ExecuteOptions {
  readonly parameters: ParameterValues;
  /** The session whose transaction the statement belongs to. */
  readonly session: string;
  /** The API key that open transactions count against; absent or null: none. */
  readonly holder?: string | null | undefined;
  readonly slices: RunSteps;
  /**
   * How members of named tables are shown; by default as keys, or as objects with several kinds.
   */
  readonly members?: AskedMembers;
  /**
   * Called with the row that answers a write. Its return value is stored as the answer in the
   * write's log frame. This function is not called if nothing is logged.
   */
  readonly attach?: Attach<object> | undefined;
}

/**
 * A text of more characters than this takes milliseconds to parse, so it is parsed in steps with
 * other work in between.
 */
export const LONG_TEXT = 16_384;
/**
 * Number of staged operations that one step prepares for reads. This takes a millisecond or two.
 */
const LAID_AT_ONCE = 500;

export class Statements {
  readonly #options: StatementsOptions;
  readonly #cache = new StatementCache();
  readonly #memory: MemoryPool;
  /** Names of temporary files that COPY TO creates. */
  readonly #temporaries: TemporaryNames;
  readonly sessions: Sessions;
  /** Queue for writes outside explicit transactions, including batches. */
  readonly turns: ConflictQueue;

  constructor(options: StatementsOptions) {
    this.#options = options;
    this.#memory = options.memory ?? new MemoryPool(heapLimits());
    this.#temporaries = new TemporaryNames(options.database.dir, options.newId);
    this.turns = new ConflictQueue(options.database);
    this.sessions = new Sessions({
      database: options.database,
      now: options.now,
      idleSeconds: options.transactionIdleSeconds,
      newId: options.newId,
      memory: this.#memory,
      onSession: options.onSession,
      isAtLeader: options.isAtLeader,
    });
  }

  /** Parses a statement, or returns it from the cache. Throws `syntax_error`. */
  prepare(text: string): Prepared {
    return this.#cache.prepare(text);
  }

  /** Does the same as `prepare`, but lets other work run while a long text is parsed. */
  async prepareLong(text: string, slices: RunSteps): Promise<Prepared> {
    if (text.length <= LONG_TEXT) return this.prepare(text);
    const steps = preparing(text);
    let prepared: Prepared | undefined;
    await slices(() => {
      const next = steps.next();
      if (next.done === true) prepared = next.value;
      return next.done !== true;
    });
    return prepared!;
  }

  /**
   * Binds a long MATCH ahead of `execute`, in steps. Throws if a name is unknown or a type does not
   * fit. If the catalog changes meanwhile, `execute` binds the statement again.
   */
  async bindAhead(prepared: Prepared, parameters: ParameterValues, slices: RunSteps): Promise<void> {
    if (prepared.statement.kind !== 'match') return;
    checkParameters(parameters);
    const steps = this.#bindingAhead(prepared, prepared.statement, parameters);
    await slices(() => steps.next().done !== true);
  }

  *#bindingAhead(prepared: Prepared, statement: MatchNode, parameters: ParameterValues): Generator<null, void, void> {
    const { database } = this.#options;
    const { catalogVersion } = database;
    const match = yield* bindingMatch(statement, prepared.text, database, parameters);
    yield null;
    this.#cache.keepAhead(prepared, parameters, catalogVersion, shapeOf(match));
  }

  /**
   * Runs a statement. If it throws or rejects, nothing is changed, and an open transaction stays
   * open (except when a COMMIT was attempted and failed).
   */
  async execute(prepared: Prepared, options: ExecuteOptions): Promise<StatementResult> {
    const { statement } = prepared;
    checkParameters(options.parameters);
    switch (statement.kind) {
      case 'begin':
      case 'commit':
      case 'rollback':
        return this.#runTransaction(statement.kind, options);
      default:
    }
    const { effect } = prepared;
    // A follower must not answer from its own tables, which may be older (IF NOT EXISTS).
    if (effect === 'write' || effect === 'define' || effect === 'compact' || statement.kind === 'copyFrom')
      this.#options.database.assertLeads();
    const open = this.sessions.find(options.session);
    if (open === undefined) {
      this.sessions.assertNotExpired(options.session);
      return this.#run(prepared, options, undefined);
    }
    const free = this.sessions.occupy(open);
    try {
      const result = await this.#runInTransaction(prepared, options, open);
      // The rows are read from the transaction, which must not end or be written to until the last
      // row has been read.
      if (statement.kind === 'match' || statement.kind === 'analyze') return whenDone(result, free);
      free();
      return result;
    } catch (error) {
      free();
      throw error;
    }
  }

  async #runInTransaction(
    prepared: Prepared,
    options: ExecuteOptions,
    open: OpenTransaction,
  ): Promise<StatementResult> {
    if (prepared.effect === 'define' || prepared.effect === 'compact' || prepared.effect === 'copy')
      throw new HedgerowError(
        'invalid_statement',
        'Tables, columns and indexes are not changed, compacted or copied inside a transaction; COMMIT or ROLLBACK first.',
      );
    const mark = open.transaction.mark();
    const result = await this.#run(prepared, options, open);
    try {
      if (prepared.effect === 'write') this.sessions.charge(open);
    } catch (error) {
      open.transaction.rewind(mark);
      throw error;
    }
    return result;
  }

  /**
   * Begins a MATCH outside transactions, like `execute` but synchronously. Returns undefined for
   * any other statement, or if the session has a transaction. If `format` is given and the core can
   * write the rows itself, returns a `WrittenRead`.
   */
  read(
    prepared: Prepared,
    parameters: ParameterValues,
    session: string,
    format: RowFormat | undefined,
    members?: AskedMembers,
  ): StatementResult | WrittenRead | undefined {
    const { statement, text } = prepared;
    if (statement.kind !== 'match' || this.sessions.find(session) !== undefined) return undefined;
    this.sessions.assertNotExpired(session);
    checkParameters(parameters);
    const view = new LatestView(this.#options.database);
    try {
      const options = this.#readOptions(prepared, view, parameters, members);
      return format === undefined ? runRead(statement, text, options) : runWritten(statement, text, options, format);
    } catch (error) {
      view.release();
      throw error;
    }
  }

  /** Runs one statement inside a transaction that the caller owns (a batch). */
  async runInside(
    prepared: Prepared,
    parameters: ParameterValues,
    transaction: Transaction,
    slices: RunSteps,
    members?: AskedMembers,
  ): Promise<StatementResult | Written> {
    const { kind } = prepared.statement;
    checkParameters(parameters);
    if (kind === 'insert' || kind === 'update' || kind === 'delete')
      return this.#stageToRead(prepared, parameters, transaction, slices, true);
    if (kind === 'showTables' || kind === 'showNodeTables' || kind === 'showIndexes')
      return runDefinition(prepared.statement as DefineNode, prepared.text, parameters, this.#options.database);
    if (prepared.effect !== 'read' && kind !== 'analyze')
      throw new HedgerowError(
        'invalid_statement',
        'A batch takes statements that read or change rows; send others one by one.',
      );
    return this.#read(prepared, parameters, transactionView(transaction), members);
  }

  async #runTransaction(
    kind: 'begin' | 'commit' | 'rollback',
    { session, holder = null, attach }: ExecuteOptions,
  ): Promise<StatementResult> {
    const { lastLsn, isFollower } = this.#options.database;
    if (isFollower) this.sessions.atLeader(kind, session);
    const columns = ['status', 'transaction_id', 'expires_at'];
    if (kind === 'begin') {
      const { id, expiresAt } = this.sessions.begin(session, holder);
      return rowsResult([{ status: 'open', transaction_id: id, expires_at: expiresAt }], columns, lastLsn);
    }
    if (kind === 'rollback') {
      const { id } = this.sessions.rollback(session);
      return rowsResult([{ status: 'rolled_back', transaction_id: id, expires_at: null }], columns, lastLsn);
    }
    const rowOf = (id: string) => ({ status: 'committed', transaction_id: id, expires_at: null });
    const { lsn, id } = await this.sessions.commit(session, attach && ((id) => attach(rowOf(id))));
    return rowsResult([rowOf(id)], columns, lsn);
  }

  async #run(prepared: Prepared, options: ExecuteOptions, open: OpenTransaction | undefined): Promise<StatementResult> {
    const { statement, text } = prepared;
    const { database } = this.#options;
    switch (statement.kind) {
      case 'insert':
      case 'update':
      case 'delete':
        return open === undefined
          ? this.#writeAlone(prepared, options)
          : {
              ...writtenResult(
                await this.#stageToRead(prepared, options.parameters, open.transaction, options.slices, false),
                statement,
                database.lastLsn,
              ),
              pending: true,
            };
      case 'match':
      case 'explain':
      case 'analyze':
        return this.#read(
          prepared,
          options.parameters,
          open === undefined ? new LatestView(database) : transactionView(open.transaction),
          options.members,
        );
      case 'copyFrom':
        return copyFrom(statement, text, { ...this.#options, ...options, attach: options.attach });
      case 'copyTo': {
        const read = this.#readOptions(prepared, new LatestView(database), options.parameters);
        return copyTo(statement, text, { ...this.#options, ...options, read, temporaries: this.#temporaries });
      }
      default:
        return runDefinition(statement as DefineNode, text, options.parameters, database, options.attach);
    }
  }

  #read(prepared: Prepared, parameters: ParameterValues, view: ReadView, members: AskedMembers): StatementResult {
    const { statement, text } = prepared;
    const options = this.#readOptions(prepared, view, parameters, members);
    try {
      if (statement.kind === 'match') return runRead(statement, text, options);
      const inner = (statement as ExplainNode).statement;
      if (statement.kind === 'analyze') {
        if (inner.kind === 'match') return runAnalyze(inner, text, options);
        throw new HedgerowError(
          'invalid_statement',
          'ANALYZE runs statements that read; EXPLAIN shows how a change would find its rows.',
        );
      }
      if (inner.kind === 'match') return runExplain(inner, text, options);
      const row = describePlanless(inner, text, parameters, this.#options.database, estimatorOf(view));
      view.release();
      return rowsResult([row], Object.keys(row), view.lsn);
    } catch (error) {
      view.release();
      throw error;
    }
  }

  #readOptions(prepared: Prepared, view: ReadView, parameters: ParameterValues, members?: AskedMembers): ReadOptions {
    const { database, nowUs, readLetters } = this.#options;
    const bind: ReadOptions['bind'] = (node, text) =>
      this.#cache.bound(prepared, parameters, database.catalogVersion, () =>
        shapeOf(bindMatch(node, text, database, parameters)),
      );
    return { bind, parameters, view, members, nowUs, memory: this.#memory, readLetters };
  }

  /** Runs a write outside transactions. The write is one log frame and is retried on conflict. */
  #writeAlone(prepared: Prepared, options: ExecuteOptions): Promise<StatementResult> {
    return this.turns.run(() => this.#tryAlone(prepared, options));
  }

  async #tryAlone(prepared: Prepared, options: ExecuteOptions): Promise<StatementResult> {
    const transaction = this.#options.database.begin();
    try {
      const written = await this.#stage(prepared, options.parameters, transaction, options.slices, false);
      const { lsn } = await transaction.commit(options.attach && (() => options.attach!(written)));
      return writtenResult(written, prepared.statement as ChangeNode, lsn);
    } catch (error) {
      transaction.rollback();
      throw error;
    }
  }

  /**
   * Does the same as `#stage`, and also prepares the staged rows so that the statements that follow
   * can read them.
   */
  async #stageToRead(
    prepared: Prepared,
    parameters: ParameterValues,
    transaction: Transaction,
    slices: RunSteps,
    answersRows: boolean,
  ): Promise<Written> {
    const mark = transaction.mark();
    const written = await this.#stage(prepared, parameters, transaction, slices, answersRows);
    if (written.rows_affected <= LAID_AT_ONCE) return written;
    try {
      await slices(() => !transaction.prepareReads(LAID_AT_ONCE));
      return written;
    } catch (error) {
      transaction.rewind(mark);
      throw error;
    }
  }

  async #stage(
    prepared: Prepared,
    parameters: ParameterValues,
    transaction: Transaction,
    slices: RunSteps,
    answersRows: boolean,
  ): Promise<Written> {
    const { database, nowUs, readLetters } = this.#options;
    const view = transactionView(transaction);
    const estimate = estimatorOf(view);
    const memory = this.#memory;
    const options: WriteOptions = { transaction, view, parameters, estimate, nowUs, memory, readLetters, answersRows };
    const bound = this.#cache.bound(prepared, parameters, database.catalogVersion, () =>
      bindChange(prepared.statement as ChangeNode, prepared.text, database, parameters),
    );
    const steps =
      bound.kind === 'insert'
        ? runInsert(bound, options)
        : bound.kind === 'update'
          ? runUpdate(bound, options)
          : runDelete(bound, options);
    let written: Written | undefined;
    const step = (): boolean => {
      written = runSome(steps, nowUs);
      return written === undefined;
    };
    const mark = transaction.mark();
    try {
      if (step()) await slices(step);
    } catch (error) {
      // A search that is still running is ended. A failed statement does not change the
      // transaction.
      steps.return(undefined as never);
      transaction.rewind(mark);
      // If a table was altered between two steps, the failure is not the statement's fault. In this
      // case `assertUnaltered` throws `conflict`, and a write outside transactions is retried.
      if (error instanceof HedgerowError && error.status < 500)
        for (const table of tablesOf(bound)) transaction.assertUnaltered(table);
      throw error;
    }
    return written!;
  }

  close(): void {
    this.sessions.close();
  }
}

type ChangeNode = InsertNode | UpdateNode | DeleteNode;

function bindChange(
  statement: ChangeNode,
  text: string,
  database: Database,
  parameters: ParameterValues,
): BoundInsert | BoundUpdate | BoundDelete {
  switch (statement.kind) {
    case 'insert':
      return bindInsert(statement, text, database, parameters);
    case 'update':
      return bindUpdate(statement, text, database, parameters);
    case 'delete':
      return bindDelete(statement, text, database, parameters);
  }
}

/** Returns the tables that a change reads or writes. */
function tablesOf(bound: BoundInsert | BoundUpdate | BoundDelete): Table[] {
  if (bound.kind === 'insert') return [bound.table];
  return [bound.pattern.table, ...bound.inner.map(({ table }) => table)];
}

function writtenResult(written: Written, { table }: ChangeNode, lsn: number): StatementResult {
  return rowsResult([written], Object.keys(written), lsn, table.name);
}

/**
 * A view of the newest visible state, the same for all tables of a statement. Snapshots are kept in
 * an array, not a map, because a view is made for every read and most reads have one table.
 */
export class LatestView implements ReadView {
  readonly lsn: number;
  private readonly database: Database;
  private readonly snapshots: { readonly table: Table; readonly snapshot: Snapshot }[];

  constructor(database: Database) {
    this.database = database;
    this.lsn = database.lastLsn;
    this.snapshots = [];
  }

  snapshotOf(table: Table): Snapshot {
    for (const one of this.snapshots) if (one.table === table) return one.snapshot;
    const snapshot = this.database.snapshot(table);
    this.snapshots.push({ table, snapshot });
    return snapshot;
  }

  overlayOf(): undefined {
    return undefined;
  }

  release(): void {
    for (const { snapshot } of this.snapshots) snapshot.release();
    this.snapshots.length = 0;
  }
}

/**
 * Returns a view of a transaction's snapshot with the transaction's own writes. The transaction
 * owns the snapshots, so `release` does nothing.
 */
export function transactionView(transaction: Transaction): ReadView {
  return {
    lsn: transaction.lsn,
    snapshotOf: (table) => transaction.snapshotOf(table),
    overlayOf: (table) => transaction.overlayOf(table),
    release: () => {},
  };
}
