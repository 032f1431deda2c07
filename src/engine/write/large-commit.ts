// Commits many operations, or those of many tables, as one frame that is planned, written and
// applied in slices, so that reads and small requests can run between two slices.
//
// Such a commit is still atomic and isolated. From its first step to its last, other writers and
// DDL wait and no compaction begins, so nothing else changes the rows between two slices. The frame
// is in the log completely or not at all. Until the whole frame is applied and durable, readers see
// the state before it.

import { assert } from '../../assert.ts';
import type { AnswerToKeep } from '../../model/kept-answer.ts';
import { inSlices, type Steps } from '../../schedule/steps.ts';
import type { LedFrame } from '../commit/committer.ts';
import type { EngineContext } from '../context.ts';
import { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';

/** A commit whose records have at least this many bytes is made in slices, even with few rows. */
export const SLICED_BYTES = 2 ** 21;
/**
 * So is one of more tables than this: the first rows of a table take an instance of the core, some
 * 0.3 ms.
 */
const MOST_TABLES = 32;

/** Returns whether staged operations, with these bytes of records, are committed in slices. */
export function isLarge(
  staged: { readonly length: number; readonly tableCount: number },
  recordBytes: number,
  slicedOperations: number,
): boolean {
  return staged.length >= slicedOperations || recordBytes >= SLICED_BYTES || staged.tableCount > MOST_TABLES;
}

/** A frame that has been built but not logged. */
export interface FramePlan {
  readonly operations: number;
  readonly parts: readonly Uint8Array[];
  readonly tables: Iterable<Table>;
}

export interface LargeCommit<P extends FramePlan> {
  /**
   * Whether the commit deletes rows. If so, it waits until no compaction is running, because a
   * compaction could move the rows between two slices. For a commit that only inserts, it is enough
   * that no compaction begins meanwhile.
   */
  readonly killsRows: boolean;
  /**
   * Builds the frame and reserves all memory that `apply` needs. If `plan` throws, the commit ends
   * and nothing was changed.
   */
  plan(room: RowRoom): Steps<P>;
  /** Set if a follower commits a frame of its leader. */
  readonly led?: LedFrame;
  /** Returns the stored answer that is committed in the same frame, if any. */
  entryOf(plan: P): AnswerToKeep | undefined;
  /** Applies the frame, whose first operation has LSN `firstLsn`, using the reserved memory. */
  apply(plan: P, room: RowRoom, firstLsn: number): Steps<void>;
}

export interface Committed<P> {
  readonly plan: P;
  readonly firstLsn: number;
  readonly lastLsn: number;
}

/**
 * Executes a large commit; resolves when its frame is durable and visible. Rejects with the error
 * of `plan`, or if the log does not accept the frame or fails.
 */
export async function commitInSlices<P extends FramePlan>(
  context: EngineContext,
  { killsRows, led, plan, entryOf, apply }: LargeCommit<P>,
): Promise<Committed<P>> {
  const { committer, compactions } = context;
  const pauses = { nowUs: context.nowUs, pause: context.pauses.commit };
  let durable: Promise<void> | undefined;
  const room = new RowRoom();
  /** Plans and logs the frame. If this fails, nothing was changed. */
  const append = async () => {
    try {
      const made = await inSlices(plan(room), pauses);
      const firstLsn = await committer.appendInSlices(made.operations, made.parts, entryOf(made), pauses.pause, led);
      return { made, firstLsn };
    } catch (error) {
      room.giveBack();
      throw error;
    }
  };
  const work = () =>
    committer.alone(async () => {
      const { made, firstLsn } = await append();
      const lastLsn = firstLsn + Math.max(0, made.operations - 1);
      durable = committer.durable(lastLsn);
      // `durable` is awaited below, after the exclusive section; this handler only avoids an
      // unhandled rejection.
      durable.catch(() => undefined);
      assert(lastLsn > committer.visibleLsn, 'a frame is not seen before all of it is applied');
      const tables = [...made.tables];
      for (const table of tables) table.hold();
      await inSlices(apply(made, room, firstLsn), pauses);
      for (const table of tables) table.letGo();
      return { plan: made, firstLsn, lastLsn };
    });
  const committed = await (killsRows ? compactions.run(work) : work());
  for (const table of committed.plan.tables) context.afterCommit(table.id);
  await durable;
  return committed;
}
