// Compacts one table: freezes its memtables, chooses the stretches of segments to rewrite
// (choose.ts), and merges memtables and stretches into new segments. Once a manifest lists the new
// segments, readers get a new version of the table.
//
// Reads and writes continue throughout. Installing the manifest is the only commit point: before it
// nothing has changed, after it everything has. One manifest may cover several tables, so a
// compaction has two halves: `prepareTable` writes new segments, and one of three functions in its
// result ends the compaction. Rows that are deleted or replaced after the freeze are collected as
// late deaths. The end of the compaction marks them dead in the new segments.

import { assert } from '../../assert.ts';
import type { Core, CoreMemtable } from '../../core/index.ts';
import { corruption, HedgerowError } from '../../errors.ts';
import type { TextIndex } from '../catalog/catalog.ts';
import type { ChangedTable } from '../checkpoint/checkpoint.ts';
import { checkOrder } from '../recovery/recovery.ts';
import { type SegmentFile, segmentNumber } from '../table/segment-file.ts';
import { entryOf, openSegmentFile, refreshFilters } from '../table/segments-on-disk.ts';
import type { Table } from '../table/table.ts';
import type { LateDeath } from '../table/table-state.ts';
import { Version } from '../table/version.ts';
import { chooseStretches, type Stretch } from './choose.ts';
import { type ChooseSource, chooseInput, lacksIndex, type WantedIndexes } from './choose-input.ts';
import { countDropped, type Dropped, deadAt } from './count-dropped.ts';
import { compactionError } from './failure.ts';
import { type MergedStretches, type MergeLimits, mergeStretches } from './merge-stretches.ts';

/** Number of headers of new segments that are read between two pauses. */
const HEADS_A_SLICE = 16;

export interface TableCompaction {
  pendingBefore: number;
  tombstones: number;
  edgesDropped: number;
  bucketsDropped: number;
}

/** What segments get besides the indexes of the definition. */
export interface AlsoBuilt {
  /** Id of a column that gets a sort order. */
  readonly column?: number;
  readonly text?: TextIndex;
}

export interface CompactionOptions extends MergeLimits {
  /** What is written as if it were already in the definition. */
  also: AlsoBuilt;
  /** Core instance used to read the headers of new segments. */
  scratch: Core;
}

/**
 * New segments of a table that no manifest lists yet. Exactly one of `finish`, `giveUp` and `leave`
 * must be called, once.
 */
export interface PreparedTable {
  changed: ChangedTable;
  /** Total size of the new files in bytes. */
  newBytes: number;
  /** Makes readers see the new segments. Call this when the manifest with `changed` is durable. */
  finish: () => TableCompaction;
  /**
   * Removes the new files; the table is unchanged. Call this when no manifest with `changed` was
   * installed and none can appear after a restart.
   */
  giveUp: () => Promise<void>;
  /**
   * Keeps the new files. Call this when a restart may or may not find a manifest with `changed`.
   */
  leave: () => void;
}

/** The input of a compaction, frozen at one LSN. */
interface Frozen extends ChooseSource {
  memtables: readonly CoreMemtable[];
  late: LateDeath[];
  pending: number;
  tombstones: number;
}

/** Returns whether a compaction would change the table. */
export function needsCompaction(table: Table, cutoffTs: number, also: AlsoBuilt = {}): boolean {
  if (table.pending > 0 || table.pendingTombstones > 0) return true;
  const wanted = wantedIndexes(table, also);
  return table.version.segments.some(({ facts }) => facts.timeMin < cutoffTs || lacksIndex(facts, wanted));
}

/**
 * Freezes the table's memtables and writes the new segments. If this rejects, the rows and the
 * segments of the table are unchanged; if a segment was found corrupt, the table refuses requests.
 * A table has at most one prepared compaction at a time: end it before you prepare the next.
 */
export async function prepareTable(table: Table, options: CompactionOptions): Promise<PreparedTable> {
  const { committer } = table.context;
  // While an exclusive writer applies a frame in slices, the memtables contain only a part of the
  // frame, although the whole frame is in the log.
  while (committer.isTaken) await committer.free();
  table.assertUsable();
  assert(table.compacting === undefined, 'a table is compacted once at a time');
  const frozen = freeze(table, options.also);
  const firstNumber = table.nextSegment;
  try {
    await committer.log.flush();
    const dropped = await countDropped(table, frozen, options.cutoffTs);
    const stretches = chooseStretches(await chooseInput(frozen, options, table.context.pauses.compaction));
    const merged = await mergeStretches(table, frozen, stretches, options);
    checkRows(frozen, stretches, merged, dropped, options.cutoffTs);
    const segments = await replace(table, frozen, stretches, merged, options.scratch);
    return prepared(table, frozen, segments, dropped, firstNumber, options.cutoffTs);
  } catch (error) {
    table.change({ compacting: undefined });
    await removeFrom(table, firstNumber);
    throw failureOf(table, frozen, error);
  }
}

function prepared(
  table: Table,
  frozen: Frozen,
  segments: readonly SegmentFile[],
  dropped: Dropped,
  firstNumber: number,
  cutoffTs: number,
): PreparedTable {
  const droppedTs = dropped.edgesDropped > 0 ? cutoffTs : undefined;
  const entries = segments.map(entryOf);
  const end = () => {
    table.change({ compacting: undefined });
  };
  return {
    changed: { table, segments: entries, appliedLsn: frozen.lsn, droppedTs },
    newBytes: entries.reduce((sum, { number, bytes }) => sum + (number >= firstNumber ? bytes : 0), 0),
    finish: () => {
      try {
        install(table, frozen, segments, droppedTs);
      } finally {
        end();
      }
      const { edgesDropped, bucketsDropped } = dropped;
      const { pending: pendingBefore, tombstones } = frozen;
      return { pendingBefore, tombstones, edgesDropped, bucketsDropped };
    },
    giveUp: () => {
      end();
      return removeFrom(table, firstNumber);
    },
    leave: end,
  };
}

/**
 * Returns the error to report. If a segment of the table is corrupt, makes the table refuse all
 * requests from now on.
 */
function failureOf(table: Table, frozen: Frozen, error: unknown): unknown {
  const file = error instanceof HedgerowError && error.code === 'corrupt' ? error.fields?.file : undefined;
  if (!frozen.segments.some((segment) => segment.path === file)) return compactionError(error);
  table.refuse(error as HedgerowError);
  try {
    table.assertUsable();
  } catch (refusal) {
    return refusal;
  }
  return compactionError(error);
}

async function removeFrom(table: Table, firstNumber: number): Promise<void> {
  const { fs } = table.context;
  if (!fs.exists(table.dir)) return;
  for (const name of fs.list(table.dir)) {
    const number = segmentNumber(name);
    if (number === null || number < firstNumber) continue;
    // The number is not used again, because the removal may fail or be undone by a crash.
    table.change({ nextSegment: Math.max(table.nextSegment, number + 1) });
    await fs.remove(`${table.dir}/${name}`).catch(() => undefined);
  }
}

function wantedIndexes({ definition }: Table, also: AlsoBuilt): WantedIndexes {
  const indexed = new Set(definition.indexes.map(({ column }) => column));
  if (also.column !== undefined) indexed.add(also.column);
  return { indexed, text: also.text ?? definition.text };
}

function freeze(table: Table, also: AlsoBuilt): Frozen {
  const lsn = table.context.committer.headLsn;
  assert(lsn >= table.appliedLsn, 'segments reach no further than the log');
  const memtables = table.version.memtables.map((entry) => entry.memtable).filter((memtable) => memtable.rows > 0);
  const newest = table.version.memtables[table.version.memtables.length - 1];
  if (newest !== undefined && newest.memtable.rows > 0) table.rotateMemtable(lsn);
  const { segments } = table.version;
  const late: LateDeath[] = [];
  table.change({ compacting: { segments: new Set(segments), memtables: new Set(memtables), late } });
  const wanted = wantedIndexes(table, also);
  const { pending, pendingTombstones: tombstones } = table;
  return { lsn, segments, memtables, late, pending, tombstones, ...wanted };
}

/**
 * Asserts that the merge read and wrote the expected number of rows: the live rows of the
 * stretches, without the expired ones, plus the new rows that were passed to the runner.
 */
function checkRows(
  frozen: Frozen,
  stretches: readonly Stretch[],
  merged: MergedStretches,
  dropped: Dropped,
  cutoffTs: number,
): void {
  let live = 0;
  for (const stretch of stretches) {
    for (const { facts, dead } of frozen.segments.slice(stretch.from, stretch.to))
      live += facts.rows - deadAt(dead, frozen.lsn);
  }
  const expected = live - dropped.fromSegments + merged.newRows;
  const { rowsIn, rowsOut } = merged;
  assert(rowsIn === expected, `a compaction up to time ${cutoffTs} takes ${expected} rows, not ${rowsIn}`);
  assert(rowsOut === expected, `a compaction up to time ${cutoffTs} writes ${expected} rows, not ${rowsOut}`);
}

/**
 * Returns the segments after the compaction. Throws `corrupt` if they are not disjoint and in key
 * order.
 */
async function replace(
  table: Table,
  frozen: Frozen,
  stretches: readonly Stretch[],
  merged: MergedStretches,
  scratch: Core,
): Promise<SegmentFile[]> {
  const segments: SegmentFile[] = [];
  let place = 0;
  let rows = 0;
  let opened = 0;
  for (const [index, stretch] of stretches.entries()) {
    segments.push(...frozen.segments.slice(place, stretch.from));
    for (const entry of merged.files[index]!) {
      const segment = openSegmentFile(table, entry, scratch);
      rows += segment.facts.rows;
      segments.push(segment);
      if (++opened % HEADS_A_SLICE === 0) await table.context.pauses.compaction();
    }
    place = stretch.to;
  }
  segments.push(...frozen.segments.slice(place));
  assert(rows === merged.rowsOut, `new segments hold the rows that were written: ${rows} of ${merged.rowsOut}`);
  for (const [index, segment] of segments.entries()) checkOrder(segments[index - 1], segment);
  return segments;
}

function install(table: Table, frozen: Frozen, segments: readonly SegmentFile[], droppedTs: number | undefined): void {
  assert(table.compacting?.late === frozen.late, 'the compaction that ends is the one that began');
  const gone = new Set(frozen.memtables);
  const memtables = table.version.memtables.filter((entry) => !gone.has(entry.memtable));
  // Code that may fail an assertion runs before the version is replaced, because segments must
  // never contain rows above the applied LSN.
  const version = new Version(segments, memtables, table.bucketSeconds, table.context.committer.headLsn);
  table.change({
    appliedLsn: frozen.lsn,
    expirations: table.expirations + (droppedTs === undefined ? 0 : 1),
    unlogged: droppedTs ?? table.unlogged,
    pending: table.pending - frozen.pending,
    pendingTombstones: table.pendingTombstones - frozen.tombstones,
    retryPending: 0,
  });
  table.install(version);
  markLate(table, frozen);
  try {
    refreshFilters(table);
  } catch {
    // Lookups continue without filters; the next compaction rebuilds them.
    table.change({ filters: undefined });
  }
}

/**
 * Marks rows that were deleted or replaced during the compaction as dead in the new segments. By
 * now the manifest is installed, and the operations that killed the rows are in the log. If there
 * is too little memory to find the rows, the table refuses reads until the rows are marked.
 */
function markLate(table: Table, frozen: Frozen): void {
  const kept = new Set(frozen.segments);
  // Rows that died in a segment that was kept are already marked there.
  const late = frozen.late.filter(
    (death) => !table.version.segments.some((each) => kept.has(each) && holds(each, death)),
  );
  const mark = () => {
    table.change({ unmarked: undefined });
    try {
      markDead(table, late, kept);
    } catch (error) {
      if (error instanceof HedgerowError && error.code === 'overloaded')
        table.change({ unmarked: { mark, rows: late.length } });
      throw error;
    }
  };
  try {
    mark();
  } catch (error) {
    if (table.unmarked === undefined)
      table.refuse(corruption(table.dir, 0, `rows could not be read (${(error as Error).message})`));
  }
}

function holds({ facts }: SegmentFile, { eventTs, id }: LateDeath): boolean {
  const { timeMin, firstId, timeMax, lastId } = facts;
  const isBehindFirst = eventTs > timeMin || (eventTs === timeMin && id >= firstId);
  return isBehindFirst && (eventTs < timeMax || (eventTs === timeMax && id <= lastId));
}

/** Marks all rows or none: finds all rows and reserves memory before it marks the first. */
function markDead(table: Table, late: readonly LateDeath[], kept: ReadonlySet<SegmentFile>): void {
  const found: { segment: SegmentFile; row: number; lsn: number }[] = [];
  for (const death of late) {
    for (const segment of table.version.segments) {
      if (kept.has(segment) || !holds(segment, death)) continue;
      const row = table.resident(segment).find(death.eventTs, death.id);
      if (row >= 0) found.push({ segment, row, lsn: death.lsn });
    }
  }
  for (const segment of new Set(found.map((each) => each.segment))) segment.dead.reserve(found.length);
  for (const { segment, row, lsn } of found) segment.dead.add(row, lsn);
}
