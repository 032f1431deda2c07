// Collects the figures from which choose.ts chooses the segments to rewrite: the figures of each
// segment, and how many new rows fall into the key range of each.

import type { CoreMemtable, SegmentFacts } from '../../core/index.ts';
import type { TextIndex } from '../catalog/catalog.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import { tagOf } from '../texts/text-tag.ts';
import type { ChooseInput } from './choose.ts';
import { deadAt } from './count-dropped.ts';

/** Number of seeks between two pauses; that many take a millisecond or two. */
const SEEKS_A_SLICE = 4096;

/** The indexes that segments must have. */
export interface WantedIndexes {
  /** Ids of the columns that need a sort order. */
  readonly indexed: ReadonlySet<number>;
  readonly text: TextIndex | undefined;
}

/** What a compaction reads, at one LSN. */
export interface ChooseSource extends WantedIndexes {
  lsn: number;
  segments: readonly SegmentFile[];
  memtables: readonly CoreMemtable[];
}

/**
 * Returns whether a segment has values in an indexed column but no sort order for that column, or
 * lacks the text block of the text index.
 */
export function lacksIndex({ columns, textTag }: SegmentFacts, { indexed, text }: WantedIndexes): boolean {
  if (text !== undefined && textTag !== tagOf(text)) return true;
  return columns.some(({ id, numeric, allNull, ordered }) => numeric && !allNull && !ordered && indexed.has(id));
}

/**
 * Returns the figures of the segments and the number of new rows in the key range of each. Cost:
 * about one seek for each pair of memtable and segment, with pauses, and one pass over the lists of
 * dead rows.
 */
export async function chooseInput(
  source: ChooseSource,
  limits: { cutoffTs: number; maxRows: number; maxBytes: number },
  pause: () => Promise<void>,
): Promise<ChooseInput> {
  const segments = source.segments.map(({ facts, dead }) => ({
    rows: facts.rows,
    bytes: facts.bytes,
    dead: deadAt(dead, source.lsn),
    stale: lacksIndex(facts, source),
    first: { eventTs: facts.timeMin, id: facts.firstId },
    last: { eventTs: facts.timeMax, id: facts.lastId },
  }));
  const newRows = segments.map(() => 0);
  const last = segments[segments.length - 1];
  let newRowsBehind = 0;
  let totalNewRows = 0;
  let seeks = 0;
  for (const memtable of source.memtables) {
    const all = memtable.seek(Infinity, Infinity);
    let start = 0;
    for (const place of segments.keys()) {
      const next = segments[place + 1]?.first;
      const end = next === undefined || start === all ? all : memtable.seek(next.eventTs, next.id);
      newRows[place]! += end - start;
      start = end;
      if (++seeks % SEEKS_A_SLICE === 0) await pause();
    }
    if (last) newRowsBehind += all - memtable.seek(last.last.eventTs, last.last.id + 1);
    totalNewRows += all;
  }
  return { segments, newRows, newRowsBehind, totalNewRows, ...limits };
}
