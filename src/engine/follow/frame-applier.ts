// Applies the frames of a leader's log to the database of a follower.
//
// A frame becomes a frame of the follower's own log, with the same LSNs and the same bytes, and is
// applied to the tables as recovery would apply it. So a follower that is started again recovers
// from its own directory, and others can follow it or read its changes. Frames are applied in
// order. Those that change only rows are not awaited one by one: the log syncs them in groups, and
// readers see a frame once it is durable here. A frame with changes to the catalog or to documents
// is applied when it is durable, and the next one waits for it.
//
// Segments are not sent: each follower compacts for itself, when its own thresholds are reached. If
// rows are dropped by a compaction with a TTL, the leader's log says before which time. As at the
// leader, the rows are gone before the frame that says so is in the log: whoever sees its LSN does
// not see them, and a follower that dies in between receives the frame again.

import { assert } from '../../assert.ts';
import { HedgerowError } from '../../errors.ts';
import type { Mutex } from '../../schedule/locks.ts';
import { finish } from '../../schedule/steps.ts';
import type { LogFrame } from '../../storage/index.ts';
import { type CatalogChange, isKnownChange } from '../catalog/changes.ts';
import type { Documents } from '../catalog/documents.ts';
import type { TableSet } from '../catalog/table-set.ts';
import { OPERATION, type Run, readRuns } from '../commit/operations.ts';
import type { Compactor } from '../compaction/compactor.ts';
import type { CompactionTrigger } from '../compaction/trigger.ts';
import type { EngineContext } from '../context.ts';
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';
import { commitInSlices } from '../write/large-commit.ts';
import { applyFrame, type PlannedFrame, planFrame } from './frame-rows.ts';

export interface FrameApplierOptions {
  readonly context: EngineContext;
  readonly tables: TableSet;
  readonly documents: Documents;
  readonly replays: IdempotencyStore;
  /** Held while the catalog or the documents change. */
  readonly mutex: Mutex;
  readonly compactor: Compactor;
  readonly trigger: CompactionTrigger;
  /** Removes the files of a dropped table. Never rejects. */
  readonly forget: (table: Table) => Promise<void>;
  readonly notice: (message: string, fields: Record<string, unknown>) => void;
}

/**
 * Frames with more bytes or operations than this are applied in slices, and those of more runs: the
 * first rows of a table take an instance of the core.
 */
const SLICED_BYTES = 2 ** 16;
const SLICED_OPERATIONS = 1024;
const SLICED_RUNS = 64;
/** Time that frames may take, in microseconds, before other work runs. */
const STEP_US = 2000;

export class FrameApplier {
  readonly #options: FrameApplierOptions;
  #isApplying = false;

  constructor(options: FrameApplierOptions) {
    this.#options = options;
  }

  /** The LSN of the next operation that this follower needs. */
  get nextLsn(): number {
    return this.#options.context.committer.headLsn + 1;
  }

  /** Why writes are refused until the database is opened again; null if they are not. */
  get failed(): HedgerowError | null {
    return this.#options.context.committer.failed;
  }

  /**
   * Applies frames, in order; those that were applied before are passed over. Resolves when all are
   * in the log, though not yet durable. Calls must not overlap. Rejects with `corrupt` if a frame
   * is not the next one or holds something impossible, and with `overloaded`, `disk_full` or
   * `log_failed`; the frames before it were applied then, and it may be given again.
   */
  async apply(frames: readonly LogFrame[]): Promise<void> {
    assert(!this.#isApplying, 'frames are applied one after another');
    this.#isApplying = true;
    const { nowUs, pauses } = this.#options.context;
    let startUs = nowUs();
    try {
      for (const frame of frames) {
        if (frame.firstLsn + frame.operations > this.nextLsn) await this.#apply(frame);
        if (nowUs() - startUs < STEP_US) continue;
        await pauses.commit();
        startUs = nowUs();
      }
    } finally {
      this.#isApplying = false;
    }
  }

  /**
   * Ends following: from now on, the database commits writes of its own. All frames of the leader
   * must be visible. Writes are logged from the moment at which the log leads, too.
   */
  lead(): void {
    assert(!this.#isApplying, 'no frame is being applied when this database begins to lead');
    this.#options.context.committer.lead();
  }

  async #apply(frame: LogFrame): Promise<void> {
    const { firstLsn, operations, payload } = frame;
    if (firstLsn !== this.nextLsn)
      throw new HedgerowError(
        'corrupt',
        `The leader sent LSN ${firstLsn}, but LSN ${this.nextLsn} is the next one. Follow it from the beginning.`,
      );
    const runs = [...readRuns(payload, operations, `the leader's frame at LSN ${firstLsn}`)];
    const isOfShape = runs.some(({ kind }) => kind === OPERATION.catalog || kind === OPERATION.document);
    await (isOfShape ? this.#applyShape(frame, runs) : this.#applyRows(frame, runs));
  }

  // Rows

  async #applyRows(frame: LogFrame, runs: readonly Run[]): Promise<void> {
    const { context, trigger } = this.#options;
    const most = Math.min(SLICED_OPERATIONS, context.slicedOperations);
    const isLarge = frame.operations >= most || frame.payload.length > SLICED_BYTES || runs.length > SLICED_RUNS;
    for (;;) {
      try {
        await (isLarge ? this.#commitInSlices(frame, runs) : this.#commit(frame, runs));
        return;
      } catch (error) {
        if (!(error instanceof HedgerowError) || error.code !== 'overloaded') throw error;
        if (!(await trigger.makeRoom())) throw error;
      }
    }
  }

  async #commit(frame: LogFrame, runs: readonly Run[]): Promise<void> {
    const { context } = this.#options;
    const { committer } = context;
    const staged = committer.write(() => this.#stage(frame, runs));
    const { durable, tables } = staged instanceof Promise ? await staged : staged;
    // If the log fails, the next frame is refused.
    durable.catch(() => undefined);
    for (const { id } of tables) context.afterCommit(id);
  }

  #stage(
    frame: LogFrame,
    runs: readonly Run[],
    visible?: () => void,
  ): { durable: Promise<void>; tables: ReadonlySet<Table> } {
    const { committer } = this.#options.context;
    const room = new RowRoom();
    try {
      const plan = finish(planFrame(frame, runs, this.#options, room));
      const { firstLsn, durable } = committer.commit(plan.operations, plan.parts, {
        led: frame,
        visible,
        apply: (lsn) => finish(applyFrame(plan, room, lsn, this.#options)),
      });
      assert(firstLsn === frame.firstLsn, 'a follower gives every operation the LSN that it has at the leader');
      return { durable, tables: plan.tables };
    } catch (error) {
      room.giveBack();
      throw error;
    }
  }

  async #commitInSlices(frame: LogFrame, runs: readonly Run[]): Promise<void> {
    const { firstLsn } = await commitInSlices<PlannedFrame>(this.#options.context, {
      killsRows: runs.some(({ kind }) => kind === OPERATION.kill || kind === OPERATION.tombstone),
      led: frame,
      plan: (room) => planFrame(frame, runs, this.#options, room),
      entryOf: () => undefined,
      apply: (plan, room, lsn) => applyFrame(plan, room, lsn, this.#options),
    });
    assert(firstLsn === frame.firstLsn, 'a follower gives every operation the LSN that it has at the leader');
  }

  // Catalog and documents

  async #applyShape(frame: LogFrame, runs: readonly Run[]): Promise<void> {
    const { compactor, tables, documents } = this.#options;
    // Once the frame is durable, applying it must not fail.
    for (const { kind, bytes } of runs) if (kind === OPERATION.document) documents.check(bytes, frame.firstLsn);
    const changes = runs.filter(({ kind }) => kind === OPERATION.catalog).map(catalogChange);
    this.#options.context.nodes.prepare(changes);
    const dropped = changes.flatMap((change) => (change.op === 'drop_table' ? (tables.byId(change.id) ?? []) : []));
    for (const change of changes) if (change.op === 'drop_buckets') await this.#drop(change.id, change.beforeTs);
    const commit = () => this.#commitShape(frame, runs, dropped);
    // The files of a table are removed while no compaction reads them.
    await (dropped.length === 0 ? commit() : compactor.exclusively(commit));
    for (const change of changes) await this.#afterChange(change);
  }

  #commitShape(frame: LogFrame, runs: readonly Run[], dropped: readonly Table[]): Promise<void> {
    const { context, mutex, forget } = this.#options;
    return mutex.run(async () => {
      const { durable } = await context.committer.write(() => this.#stage(frame, runs, () => this.#show(frame, runs)));
      await durable;
      for (const table of dropped) await forget(table);
    });
  }

  /** Applies the changes of a frame that has become visible. */
  #show(frame: LogFrame, runs: readonly Run[]): void {
    const { tables, documents } = this.#options;
    let lsn = frame.firstLsn;
    for (const run of runs) {
      if (run.kind === OPERATION.catalog) tables.apply(catalogChange(run), lsn);
      else if (run.kind === OPERATION.document) documents.follow(run.bytes, lsn);
      lsn += run.operations;
    }
  }

  /** Does what the leader did besides the change itself. */
  async #afterChange(change: CatalogChange): Promise<void> {
    const { compactor, tables, context, notice } = this.#options;
    if (change.op === 'create_table' || change.op === 'drop_table') return;
    const table = tables.byId(change.id);
    if (table === undefined) return;
    if (change.op === 'set_threshold') context.afterCommit(table.id);
    else if (change.op === 'create_index' || change.op === 'create_text_index') {
      // Until it is built here, lookups check the rows one by one.
      const built =
        change.op === 'create_index'
          ? compactor.buildOrder(
              table,
              () => change.column,
              async () => undefined,
            )
          : compactor.buildText(
              table,
              () => change.text,
              async () => undefined,
            );
      built.catch((error: Error) =>
        notice('an index of the leader could not be built here; the next compaction builds it', {
          table: table.name,
          detail: error.message,
        }),
      );
    }
  }

  /**
   * Drops the rows of a table before a time. Rejects with the error of the compaction; the frame is
   * then applied later. A table that refuses all requests is passed over.
   */
  async #drop(tableId: number, beforeTs: number): Promise<void> {
    const { compactor, tables } = this.#options;
    const table = tables.byId(tableId);
    if (table !== undefined && table.corrupt === null) await compactor.compact(table, beforeTs);
  }
}

/** Returns the change. Throws `corrupt` if this build does not know it. */
function catalogChange({ bytes }: Run): CatalogChange {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  let change: { op?: unknown };
  try {
    change = JSON.parse(text) as { op?: unknown };
  } catch {
    change = {};
  }
  if (isKnownChange(change?.op)) return change as CatalogChange;
  throw new HedgerowError(
    'corrupt',
    `The leader sent a catalog change ${JSON.stringify(change?.op)}, which this build does not know. Use the leader's version here.`,
  );
}
