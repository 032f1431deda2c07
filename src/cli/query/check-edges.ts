// Whether edges of a data directory support what a text says of them, as a server would answer.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheckAnswer, CheckInput } from '../../client/index.ts';
import type { Database } from '../../engine/index.ts';
import { edgeClaims } from '../../rag/index.ts';

/** Steps that run between two looks at the signal. */
const STEPS_A_TURN = 64;

/** Rejects `table_not_found`, `table_corrupt`, and with the reason of the signal. */
export function checkEdges(database: Database, input: CheckInput, signal: AbortSignal): Promise<CheckAnswer> {
  const { table, edge_ids: edgeIds, text, claims } = input;
  const said = text === undefined ? { claims: claims ?? [] } : { text };
  return edgeClaims(database, { table, edgeIds, ...said }, { signal, run: (steps) => inTurns(steps, signal) });
}

async function inTurns<T>(steps: Generator<void, T, void>, signal: AbortSignal): Promise<T> {
  for (let taken = 1; ; taken++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (taken % STEPS_A_TURN !== 0) continue;
    await nextTurn();
    signal.throwIfAborted();
  }
}
