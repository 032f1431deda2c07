// The results of the operations of a transaction.

import { assert } from '../../assert.ts';
import type { CommitOutcome, CommitResult, OperationOutcome } from './staged.ts';
import { STAGED } from './staged-list.ts';
import type { CommitPlan } from './transaction-commit.ts';

/** Returns the outcome of each staged operation. */
export function outcomesOf(plan: CommitPlan): CommitOutcome['results'] {
  return Array.from(answeredPlaces(plan), (place) => outcomeAt(plan, place));
}

/** Yields the places of the staged operations that a caller asked for. */
function* answeredPlaces({ staged }: CommitPlan): Generator<number, void, void> {
  for (let place = 0; place < staged.length; place++) if (staged.kindAt(place) !== STAGED.birth) yield place;
}

export function outcomeAt({ staged, removed }: CommitPlan, place: number): OperationOutcome {
  const [kind, eventTs] = [staged.kindAt(place), staged.timeAt(place)];
  if (kind === STAGED.removal)
    return { matched: removed.get(place)!.length, event_ts: eventTs, members: [...staged.membersAt(place)] };
  if (kind === STAGED.deletion) return { matched: 1, id: staged.idAt(place), event_ts: eventTs };
  const row = staged.rowAt(place);
  assert(row !== undefined, 'results are asked for only where answers are kept');
  return { row };
}

export function resultsOf(plan: CommitPlan, firstLsn: number): CommitResult['results'] {
  const places = Array.from(answeredPlaces(plan));
  return places.map((place) => ({ ...outcomeAt(plan, place), lsn: firstLsn + plan.operationOf[place]! }));
}
