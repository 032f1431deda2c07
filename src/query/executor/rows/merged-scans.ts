// Merges several scans in key order (event_ts, id) into large batches: each scan is read and
// filtered block by block, and the rows that remain are merged.
//
// The frontier of a scan is the last key that it has read. The scan with the lowest frontier is
// read next. Then all rows up to the new lowest frontier can be yielded ("given"), since every
// unread row has a later key. So when a scan is read, all its earlier rows have been given, and the
// scan holds at most one block:
//
//   segments   1  2  3  5 | 7 8 ...   frontier 5
//   memory     2' 4' 9'   | ...       frontier 9     given: 1 2 2' 3 4' 5; next to read: segments

import type { Batches } from '../context.ts';
import { pickRows } from '../sorts/pick-rows.ts';
import { concatenated } from '../values/concatenation.ts';
import { NO_ROWS, type PropertyColumn, type RowSet } from './row-set.ts';

interface Stream {
  readonly blocks: Batches<RowSet>;
  /**
   * The rows of the last block read that passed the filter. `lastTs` and `lastId` are the last key
   * of the whole block.
   */
  set: RowSet;
  /** Number of rows of the set that were already given. */
  given: number;
  lastTs: number;
  lastId: number;
}

/**
 * Yields all wanted rows in key order. Each scan must yield its rows in key order, with times and
 * ids. `filtered` yields the wanted rows of a block in the same order.
 */
export function* mergedScans(
  scans: readonly Batches<RowSet>[],
  filtered: (set: RowSet) => Batches<RowSet>,
): Batches<RowSet> {
  const streams = scans.map(
    (blocks): Stream => ({ blocks, set: NO_ROWS, given: 0, lastTs: -Infinity, lastId: -Infinity }),
  );
  try {
    for (let lowest = streams[0]!; lowest.lastTs < Infinity; lowest = streams.reduce(lower)) {
      yield* advance(lowest, filtered);
      const { lastTs, lastId } = streams.reduce(lower);
      const parts = streams.map((stream) => takeUpTo(stream, lastTs, lastId)).filter((part) => part.rows > 0);
      if (parts.length === 0) yield null;
      else yield parts.length === 1 ? parts[0]! : yield* inOrder(parts);
    }
  } finally {
    for (const { blocks } of streams) blocks.return();
  }
}

function lower(a: Stream, b: Stream): Stream {
  return b.lastTs < a.lastTs || (b.lastTs === a.lastTs && b.lastId < a.lastId) ? b : a;
}

/** Reads the next block of a scan. If the scan has ended, its frontier becomes infinity. */
function* advance(stream: Stream, filtered: (set: RowSet) => Batches<RowSet>): Generator<null, void, void> {
  let block = stream.blocks.next();
  while (block.done !== true && (block.value === null || block.value.rows === 0)) {
    yield null;
    block = stream.blocks.next();
  }
  stream.given = 0;
  stream.set = NO_ROWS;
  if (block.done === true) {
    stream.lastTs = Infinity;
    return;
  }
  const read = block.value!;
  stream.lastTs = read.times[read.rows - 1]!;
  stream.lastId = read.ids[read.rows - 1]!;
  const kept: RowSet[] = [];
  for (const set of filtered(read)) {
    if (set !== null) kept.push(set);
    if (set === null || kept.length > 1) yield null;
  }
  stream.set = yield* concatenated(kept);
}

/** Returns the rows that were not given yet, up to a key. */
function takeUpTo(stream: Stream, lastTs: number, lastId: number): RowSet {
  const { set, given } = stream;
  let low = given;
  let high = set.rows;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const time = set.times[middle]!;
    if (time < lastTs || (time === lastTs && set.ids[middle]! <= lastId)) low = middle + 1;
    else high = middle;
  }
  stream.given = low;
  if (given === 0 && low === set.rows) return set;
  return pickRows(
    set,
    Uint32Array.from({ length: low - given }, (_, place) => given + place),
  );
}

/** Merges sets, each of which is in order. */
function* inOrder(parts: readonly RowSet[]): Generator<null, RowSet, void> {
  const all = yield* concatenated(parts.map(withOwnTexts));
  return pickRows(all, mergedPlaces(parts, all));
}

/**
 * Returns the positions of all rows in key order. The second parameter is the concatenation of the
 * parts. The rows in each part are already in this order.
 */
function mergedPlaces(parts: readonly RowSet[], { rows, times, ids }: RowSet): Uint32Array {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const part of parts) {
    starts.push(ends[ends.length - 1] ?? 0);
    ends.push(starts[starts.length - 1]! + part.rows);
  }
  const places = new Uint32Array(rows);
  for (let at = 0; at < rows; at++) {
    let best = -1;
    for (let index = 0; index < starts.length; index++) {
      const row = starts[index]!;
      if (row === ends[index]) continue;
      const first = best < 0 ? -1 : starts[best]!;
      if (first < 0 || times[row]! < times[first]! || (times[row] === times[first] && ids[row]! < ids[first]!))
        best = index;
    }
    places[at] = starts[best]!++;
  }
  return places;
}

/** Drops the texts that occur in no row from each column that has more texts than rows. */
function withOwnTexts(set: RowSet): RowSet {
  const columns = new Map<number, PropertyColumn>();
  for (const [id, column] of set.columns) columns.set(id, ownTexts(column));
  return { ...set, columns };
}

function ownTexts(column: PropertyColumn): PropertyColumn {
  if (column.kind === 'number' || column.texts.length <= column.codes.length) return column;
  const places = new Map<number, number>();
  const texts: string[] = [];
  const codes = column.codes.map((code) => {
    let place = places.get(code);
    if (place === undefined) {
      place = texts.push(column.texts[code] ?? '') - 1;
      places.set(code, place);
    }
    return place;
  });
  return { ...column, codes, texts };
}
