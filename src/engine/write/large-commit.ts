// A commit of many operations: one frame, planned, written and applied in slices, so that reads and small requests have their turns meanwhile.
//
// Atomic and isolated all the same. Other writers, DDL and compactions that would begin wait from its first step to its last, so nothing changes between two
// slices but what it changes itself; the frame is in the log whole or not at all; readers see what was before it until all of it is applied and durable.

import { inSlices, type Steps } from '../../schedule/steps.ts';
import type { EngineContext } from '../context.ts';
import type { AnswerToKeep } from '../idempotency/kept-answer.ts';
import { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';

/** A frame that is made and not yet in the log. */
export interface FramePlan {
  readonly operations: number;
  readonly parts: readonly Uint8Array[];
  readonly tables: Iterable<Table>;
}

export interface LargeCommit<P extends FramePlan> {
  /**
   * Rows die of it: no compaction may move them between two slices. New rows alone only need that
   * none begins.
   */
  readonly killsRows: boolean;
  /**
   * Makes the frame, and takes all the room that `apply` needs; what it throws ends the commit, and
   * nothing was changed.
   */
  plan(room: RowRoom): Steps<P>;
  /** The answer that is kept with it. */
  entryOf(plan: P): AnswerToKeep | undefined;
  /** Applies the frame, whose first operation has that LSN, into the room that was taken. */
  apply(plan: P, room: RowRoom, firstLsn: number): Steps<void>;
}

export interface Committed<P> {
  readonly plan: P;
  readonly firstLsn: number;
  readonly lastLsn: number;
}

/**
 * Resolves when the frame is durable and visible. Rejects as `plan` throws, or with what keeps the
 * log from taking the frame.
 */
export async function commitInSlices<P extends FramePlan>(
  context: EngineContext,
  { killsRows, plan, entryOf, apply }: LargeCommit<P>,
): Promise<Committed<P>> {
  const { committer, compactions, pause } = context;
  let durable: Promise<void> | undefined;
  const room = new RowRoom();
  /** Plans and logs the frame. When it fails, nothing was changed. */
  const append = async () => {
    try {
      const made = await inSlices(plan(room), context);
      const firstLsn = await committer.appendInSlices(made.operations, made.parts, entryOf(made), pause);
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
      // Awaited below, when nobody waits for this commit any more.
      durable.catch(() => undefined);
      const tables = [...made.tables];
      for (const table of tables) table.hold();
      await inSlices(apply(made, room, firstLsn), context);
      for (const table of tables) table.letGo();
      return { plan: made, firstLsn, lastLsn };
    });
  const committed = await (killsRows ? compactions.run(work) : work());
  for (const table of committed.plan.tables) context.afterCommit(table.id);
  await durable;
  return committed;
}
