// Reads the rows of nodes by their numbers, as text.

import type { RecordText } from '../../core/index.ts';
import { ROWS_AT_ONCE, recordsOf } from '../changes/before-rows.ts';
import { findSeen, type RowPlace } from '../table/live-rows.ts';
import type { Snapshot } from '../table/snapshot.ts';
import type { Table } from '../table/table.ts';

/** Maximum number of nodes that are read in one call. */
export const MOST_READ = ROWS_AT_ONCE;

/**
 * Returns the row of each node as JSON text; undefined for a node that the snapshot does not show.
 * A few microseconds per node, and more if its segment must be read from disk. `numbers` holds at
 * most MOST_READ numbers. Throws `table_corrupt` or `overloaded`.
 */
export function nodeTexts(
  table: Table,
  { version, lsn, rowPlan }: Pick<Snapshot, 'version' | 'lsn' | 'rowPlan'>,
  numbers: ArrayLike<number>,
  text: RecordText,
): (string | undefined)[] {
  const places: RowPlace[] = [];
  const found: number[] = [];
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index]!;
    const place = findSeen(table, version, lsn, { eventTs: number, id: number });
    if (place === undefined) continue;
    places.push(place);
    found.push(index);
  }
  const texts = new Array<string | undefined>(numbers.length).fill(undefined);
  const rows = text.rows(recordsOf(table, places), rowPlan);
  for (const [place, index] of found.entries()) texts[index] = rows[place];
  return texts;
}
