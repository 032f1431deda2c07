// Whether edges of a data directory support what a text says of them, as a server would answer.

import type { CheckAnswer, CheckInput } from '../../client/index.ts';
import type { Database } from '../../engine/index.ts';
import { edgeClaims } from '../../rag/index.ts';
import type { Steps } from '../../schedule/steps.ts';

/** Rejects `table_not_found`, `table_corrupt`, and with the reason of the signal. */
export function checkEdges(database: Database, input: CheckInput, signal: AbortSignal): Promise<CheckAnswer> {
  const { table, edge_ids: edgeIds, text, claims } = input;
  const said = text === undefined ? { claims: claims ?? [] } : { text };
  const look = () => signal.throwIfAborted();
  const run = <T>(steps: Steps<T>) => database.scheduler.drive(steps, { look });
  return edgeClaims(database, { table, edgeIds, ...said }, { signal, run });
}
