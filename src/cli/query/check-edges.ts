// Checks whether edges of a data directory support what a text says about them; the answer is the
// same as that of a server.

import type { CheckAnswer, CheckInput } from '../../client/index.ts';
import type { Database } from '../../engine/index.ts';
import { edgeClaims } from '../../rag/index.ts';
import type { Steps } from '../../schedule/steps.ts';

/** Rejects with `table_not_found`, `table_corrupt` or the reason of the signal. */
export function checkEdges(database: Database, input: CheckInput, signal: AbortSignal): Promise<CheckAnswer> {
  const { table, edge_ids: edgeIds, text, claims } = input;
  const said = text === undefined ? { claims: claims ?? [] } : { text };
  const look = () => signal.throwIfAborted();
  const run = <T>(steps: Steps<T>) => database.scheduler.drive('check', steps, { look });
  return edgeClaims(database, { table, edgeIds, ...said }, { signal, run });
}
