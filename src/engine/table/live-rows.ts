// Finds rows of a table by key or by time and members, and marks rows as dead ("kills" them).
//
// Several versions of a row, with the same id and even with the same key, may exist in the segments
// and memtables. At every LSN, at most one of them is alive.

import { assert } from '../../assert.ts';
import { CoreMemtable } from '../../core/index.ts';
import { firstReaching } from '../scan/scan-view.ts';
import type { RowKey } from '../types.ts';
import type { SegmentFile } from './segment-file.ts';
import type { Table } from './table.ts';
import type { Version } from './version.ts';

export type RowSource = SegmentFile | CoreMemtable;

/** Place and key of a row. The row number is valid as long as the source is in use. */
export interface RowPlace extends RowKey {
  readonly source: RowSource;
  readonly row: number;
}

function placeOf(source: RowSource, row: number, { eventTs, id }: RowKey): RowPlace {
  return { source, row, eventTs, id };
}

/**
 * Returns the live rows with the time and member set of a tombstone. A write calls this before it
 * logs the tombstone, so that a segment that cannot be read (`table_corrupt`) makes the whole
 * commit fail and does not leave it half applied.
 */
export function findMatches(table: Table, record: Uint8Array, eventTs: number): RowPlace[] {
  const { segments, memtables } = table.version;
  const found: RowPlace[] = [];
  for (const segment of segmentsAt(segments, eventTs)) {
    const resident = table.resident(segment);
    for (const row of resident.match(record))
      if (!segment.dead.has(row)) found.push(placeOf(segment, row, resident.keyOf(row)));
  }
  for (const { memtable } of memtables)
    for (const row of memtable.match(record, Infinity)) found.push(placeOf(memtable, row, memtable.keyOf(row)));
  return found;
}

/** Returns the live row with this key in the newest state. Throws `table_corrupt`. */
export function findLive(table: Table, key: RowKey): RowPlace | undefined {
  const { segments, memtables } = table.version;
  for (const { memtable } of memtables) {
    const row = memtable.rows === 0 ? -1 : memtable.find(key.eventTs, key.id);
    if (row >= 0) return placeOf(memtable, row, key);
  }
  for (let place = firstReaching(segments, key.eventTs); place < segments.length; place++) {
    const segment = segments[place]!;
    if (segment.facts.timeMin > key.eventTs) break;
    const row = table.resident(segment).find(key.eventTs, key.id);
    if (row >= 0 && !segment.dead.has(row)) return placeOf(segment, row, key);
  }
  return undefined;
}

/**
 * Returns the row with this key that a reader of a version at `lsn` sees. Throws `table_corrupt`.
 */
export function findSeen(
  table: Table,
  { segments, memtables }: Version,
  lsn: number,
  key: RowKey,
): RowPlace | undefined {
  for (const { memtable } of memtables) {
    const row = memtable.rows === 0 ? -1 : memtable.findAt(key.eventTs, key.id, lsn);
    if (row >= 0) return placeOf(memtable, row, key);
  }
  for (let place = firstReaching(segments, key.eventTs); place < segments.length; place++) {
    const segment = segments[place]!;
    if (segment.facts.timeMin > key.eventTs) break;
    const row = table.resident(segment).find(key.eventTs, key.id);
    if (row >= 0 && !segment.dead.isDead(row, lsn)) return placeOf(segment, row, key);
  }
  return undefined;
}

/** Yields the segments whose time range includes `eventTs`. */
export function* segmentsAt(segments: readonly SegmentFile[], eventTs: number): Generator<SegmentFile> {
  for (let place = firstReaching(segments, eventTs); place < segments.length; place++) {
    const segment = segments[place]!;
    if (segment.facts.timeMin > eventTs) return;
    yield segment;
  }
}

/**
 * Returns whether a row is alive in the newest state. Its source must be in the current version.
 */
export function isAlive({ source, row, eventTs, id }: RowPlace): boolean {
  return source instanceof CoreMemtable ? source.find(eventTs, id) === row : !source.dead.has(row);
}

/**
 * Marks a row as dead from `lsn` on; returns false if it was already dead. If a compaction is
 * reading the source of the row, also records the death for the compaction.
 */
export function killRow({ compacting }: Table, { source, row, eventTs, id }: RowPlace, lsn: number): boolean {
  assert(lsn > 0, 'a row dies by an operation of the log');
  const isMemtable = source instanceof CoreMemtable;
  if (!(isMemtable ? source.kill(row, lsn) : source.dead.add(row, lsn))) return false;
  const isRead = isMemtable ? compacting?.memtables.has(source) : compacting?.segments.has(source);
  if (isRead === true) compacting!.late.push({ eventTs, id, lsn });
  return true;
}
