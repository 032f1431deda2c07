// Statements: the room's one door. Prepares a text, runs it in a session, and hands on its result.

import type { Database, Snapshot, Table, Transaction } from '../engine/index.ts';
import type { Attach } from '../engine/replay-entry.ts';
import { HedgerowError } from '../errors.ts';
import type { Fs } from '../storage/fs.ts';
import type { BoundDelete, BoundInsert, BoundUpdate } from './binder/bound.ts';
import { bindDelete, bindInsert, bindUpdate } from './binder/changes.ts';
import type { ParameterValues } from './binder/parameters.ts';
import { copyFrom, copyTo } from './copy/copy.ts';
import { type DefineNode, runDefinition } from './define.ts';
import { describePlanless } from './describe.ts';
import type { DeleteNode, ExplainNode, InsertNode, Statement, UpdateNode } from './parser/ast.ts';
import type { Estimator } from './planner/planner.ts';
import { type Prepared, StatementCache } from './prepare.ts';
import { type ReadOptions, type ReadView, runAnalyze, runExplain, runRead } from './read.ts';
import { rowsResult, type StatementResult } from './result.ts';
import { type OpenTransaction, Sessions } from './sessions.ts';
import { runDelete, runInsert, runUpdate, type WriteOptions, type Written } from './write.ts';

export interface StatementsOptions {
  readonly database: Database;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  readonly transactionIdleSeconds: number;
  /** Absolute; COPY reads and writes below it. Undefined: COPY is refused. */
  readonly copyRoot: string | undefined;
  readonly fs: Fs;
  /** Bytes of the edges that one COPY inserts, at most and by default 512 MB. Tests take less. */
  readonly copyBytes?: number;
  /** Bytes that sorts, groups and join tables of one statement may hold. */
  readonly memoryBytes?: number;
}

/** Runs long work in bounded steps: calls `step` until it gives false, others get turns in between. Rejects with what it throws. */
export type RunSlices = (step: () => boolean) => Promise<void>;

export interface ExecuteOptions {
  readonly parameters: ParameterValues;
  /** Whose transaction the statement takes part in. */
  readonly session: string;
  readonly slices: RunSlices;
  /** Stands in the same frame as what the statement writes. Not called by statements that only read. */
  readonly attach?: Attach<Written> | undefined;
}

/** An UPDATE or DELETE of its own that met another write is run again so often. */
const ATTEMPTS = 5;

export class Statements {
  readonly #options: StatementsOptions;
  readonly #cache = new StatementCache();
  readonly sessions: Sessions;

  constructor(options: StatementsOptions) {
    this.#options = options;
    this.sessions = new Sessions({
      database: options.database,
      now: options.now,
      idleSeconds: options.transactionIdleSeconds,
      newId: options.newId,
    });
  }

  /** Throws `syntax_error`. */
  prepare(text: string): Prepared {
    return this.#cache.prepare(text);
  }

  /** Throws or rejects with the errors of the contract; nothing is changed then, and an open transaction stays open (but for a conflict at COMMIT). */
  async execute(prepared: Prepared, options: ExecuteOptions): Promise<StatementResult> {
    const { statement } = prepared;
    const open = this.sessions.find(options.session);
    switch (statement.kind) {
      case 'begin':
      case 'commit':
      case 'rollback':
        return this.#runTransaction(statement.kind, options.session);
      default:
    }
    if (open === undefined) return this.#run(prepared, options, undefined);
    this.sessions.assertIdle(open);
    if (prepared.effect === 'define' || prepared.effect === 'compact' || prepared.effect === 'copy')
      throw new HedgerowError(
        'invalid_statement',
        'Tables, columns and indexes are not changed, compacted or copied inside a transaction; COMMIT or ROLLBACK first.',
      );
    open.busy = true;
    try {
      return await this.#run(prepared, options, open);
    } finally {
      open.busy = false;
    }
  }

  /** Runs one statement inside a transaction that the caller owns (a batch). */
  runInside(
    prepared: Prepared,
    parameters: ParameterValues,
    transaction: Transaction,
    slices: RunSlices,
  ): Promise<StatementResult | Written> {
    const { statement, text } = prepared;
    if (statement.kind === 'insert' || statement.kind === 'update' || statement.kind === 'delete')
      return this.#stage(statement, text, parameters, transaction, slices);
    if (prepared.effect !== 'read')
      throw new HedgerowError(
        'invalid_statement',
        'A batch takes statements that read or change rows; send others to /v1/query.',
      );
    return this.#read(prepared, parameters, transactionView(transaction));
  }

  async #runTransaction(kind: 'begin' | 'commit' | 'rollback', session: string): Promise<StatementResult> {
    const { lastLsn } = this.#options.database;
    const columns = ['status', 'transaction_id', 'expires_at'];
    if (kind === 'begin') {
      const { id, expiresAt } = this.sessions.begin(session);
      return rowsResult([{ status: 'open', transaction_id: id, expires_at: expiresAt }], columns, lastLsn);
    }
    if (kind === 'rollback') {
      const { id } = this.sessions.rollback(session);
      return rowsResult([{ status: 'rolled_back', transaction_id: id, expires_at: null }], columns, lastLsn);
    }
    const { lsn, id } = await this.sessions.commit(session);
    return rowsResult([{ status: 'committed', transaction_id: id, expires_at: null }], columns, lsn);
  }

  async #run(prepared: Prepared, options: ExecuteOptions, open: OpenTransaction | undefined): Promise<StatementResult> {
    const { statement, text } = prepared;
    const { database } = this.#options;
    switch (statement.kind) {
      case 'insert':
      case 'update':
      case 'delete':
        return open === undefined
          ? this.#writeAlone(statement, text, options)
          : {
              ...writtenResult(
                await this.#stage(statement, text, options.parameters, open.transaction, options.slices),
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
          open === undefined ? latestView(database) : transactionView(open.transaction),
        );
      case 'copyFrom':
        return copyFrom(statement, text, { ...this.#options, ...options, attach: options.attach });
      case 'copyTo': {
        const read = this.#readOptions(latestView(database), options.parameters);
        return copyTo(statement, text, { ...this.#options, ...options, read });
      }
      default:
        return runDefinition(statement as DefineNode, text, options.parameters, database);
    }
  }

  async #read(prepared: Prepared, parameters: ParameterValues, view: ReadView): Promise<StatementResult> {
    const { statement, text } = prepared;
    try {
      if (statement.kind === 'match') return runRead(statement, text, this.#readOptions(view, parameters));
      const inner = (statement as ExplainNode).statement;
      if (statement.kind === 'analyze') {
        if (inner.kind === 'match') return runAnalyze(inner, text, this.#readOptions(view, parameters));
        throw new HedgerowError(
          'invalid_statement',
          'ANALYZE runs statements that read; EXPLAIN shows how a change would find its rows.',
        );
      }
      if (inner.kind === 'match') return runExplain(inner, text, this.#readOptions(view, parameters));
      const row = describePlanless(inner, text, parameters, this.#options.database, estimatorOf(view));
      view.release();
      return rowsResult([row], Object.keys(row), view.lsn);
    } catch (error) {
      view.release();
      throw error;
    }
  }

  #readOptions(view: ReadView, parameters: ParameterValues): ReadOptions {
    const { database, nowUs, memoryBytes } = this.#options;
    return { catalog: database, parameters, view, nowUs, memoryBytes };
  }

  /** A write of its own: one frame; run again when another write was faster. */
  async #writeAlone(
    statement: InsertNode | UpdateNode | DeleteNode,
    text: string,
    options: ExecuteOptions,
  ): Promise<StatementResult> {
    for (let attempt = 1; ; attempt++) {
      const transaction = this.#options.database.begin();
      try {
        const written = await this.#stage(statement, text, options.parameters, transaction, options.slices);
        const { lsn } = await transaction.commit(options.attach && (() => options.attach!(written)));
        return writtenResult(written, statement, lsn);
      } catch (error) {
        transaction.rollback();
        const isConflict = error instanceof HedgerowError && error.code === 'conflict';
        if (!isConflict || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #stage(
    statement: InsertNode | UpdateNode | DeleteNode,
    text: string,
    parameters: ParameterValues,
    transaction: Transaction,
    slices: RunSlices,
  ): Promise<Written> {
    const { database, nowUs, memoryBytes } = this.#options;
    const view = transactionView(transaction);
    const options: WriteOptions = { transaction, view, parameters, estimate: estimatorOf(view), nowUs, memoryBytes };
    const bound = bindChange(statement, text, database, parameters);
    const steps =
      bound.kind === 'insert'
        ? runInsert(bound, options)
        : bound.kind === 'update'
          ? runUpdate(bound, options)
          : runDelete(bound, options);
    let written: Written | undefined;
    const step = (): boolean => {
      const next = steps.next();
      if (next.done === true) written = next.value;
      return next.done !== true;
    };
    const mark = transaction.mark();
    try {
      if (step()) await slices(step);
    } catch (error) {
      // A failed statement leaves the transaction as it was.
      transaction.rewind(mark);
      throw error;
    }
    return written!;
  }

  close(): void {
    this.sessions.close();
  }
}

function bindChange(
  statement: InsertNode | UpdateNode | DeleteNode,
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

function writtenResult(
  written: Written,
  statement: Extract<Statement, { table: unknown }>,
  lsn: number,
): StatementResult {
  const { table } = statement as InsertNode;
  return rowsResult([written], Object.keys(written), lsn, table.name);
}

/** The newest state, the same for all tables of a statement. */
export function latestView(database: Database): ReadView {
  const snapshots = new Map<Table, Snapshot>();
  return {
    lsn: database.lastLsn,
    snapshotOf: (table) => {
      let snapshot = snapshots.get(table);
      if (snapshot === undefined) {
        snapshot = database.snapshot(table);
        snapshots.set(table, snapshot);
      }
      return snapshot;
    },
    overlayOf: () => undefined,
    release: () => {
      for (const snapshot of snapshots.values()) snapshot.release();
      snapshots.clear();
    },
  };
}

/** The snapshot of a transaction with its own writes. The transaction keeps it. */
export function transactionView(transaction: Transaction): ReadView {
  return {
    lsn: transaction.lsn,
    snapshotOf: (table) => transaction.snapshotOf(table),
    overlayOf: (table) => transaction.overlayOf(table),
    release: () => {},
  };
}

export function estimatorOf(view: ReadView): Estimator {
  return ({ table }, { startTs, endTs, nodes, ranges }) =>
    table.estimate(
      {
        startTs,
        endTs,
        nodes: nodes.length === 0 ? undefined : nodes,
        where: ranges.length === 0 ? undefined : ranges,
      },
      view.snapshotOf(table),
      view.overlayOf(table),
    );
}
