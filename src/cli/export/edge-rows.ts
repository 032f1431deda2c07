// The rows of an export to a format that holds nothing but hyperedges, and their checks.

import type { ResultColumn } from '../../query/copy/index.ts';
import type { Row } from '../run/runner.ts';

export interface Edges {
  readonly columns: readonly ResultColumn[];
  readonly batches: AsyncIterable<readonly Row[]>;
  /**
   * True: each row is a different edge and is named by its id. False: the rows of a statement may
   * repeat an edge, so each is named by the number of its row, and a column `id` becomes an
   * attribute.
   */
  readonly areEdges: boolean;
}

/**
 * Throws an Error when the columns are not those of hyperedges. `format` is the name of the format
 * in the message.
 */
export function checkEdgeColumns(columns: readonly ResultColumn[], format: string): void {
  const isEdges = ['event_ts', 'members'].every((wanted) => columns.some(({ name }) => name === wanted));
  if (isEdges) return;
  throw new Error(
    `${format} holds edges: the statement must return event_ts and members under these names, as RETURN * does.`,
  );
}

/**
 * Returns the members of row `index`, counted from 0. Throws an Error for a row that is not an
 * edge.
 */
export function membersOf({ event_ts: time, members }: Row, index: number, format: string): readonly number[] {
  const isEdge = Array.isArray(members) && members.length > 0 && members.every(Number.isSafeInteger);
  if (isEdge && Number.isSafeInteger(time)) return members;
  throw new Error(
    `Row ${index + 1} is not an edge, and ${format} holds nothing else: event_ts must be an integer and members a list of integers, not ${JSON.stringify(time ?? null).slice(0, 40)} and ${JSON.stringify(members ?? null).slice(0, 60)}.`,
  );
}
