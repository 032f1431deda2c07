// Merges the chosen stretches of a table (runs of neighbouring segments, see choose.ts) with the
// new rows, part by part. Only the new rows of a part are bounded in bytes; they are read from the
// memtables in slices. The runner merges them with the rows of the segment.

import { assert } from '../../assert.ts';
import { type BuilderColumn, encodeProperties } from '../../core/index.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { SegmentEntry } from '../table/segments-on-disk.ts';
import type { Table } from '../table/table.ts';
import { textWorkOf } from '../texts/text-tag.ts';
import type { RowKey } from '../types.ts';
import type { Stretch } from './choose.ts';
import type { ChooseSource } from './choose-input.ts';
import { FrozenRuns } from './frozen-runs.ts';
import type { CompactionRunner, SegmentWork } from './work.ts';

export interface MergeLimits {
  runner: CompactionRunner;
  maxRows: number;
  maxBytes: number;
  /** Rows with a smaller time are dropped. If it is -Infinity, none are dropped. */
  cutoffTs: number;
}

export interface MergedStretches {
  /** New files per stretch. */
  files: SegmentEntry[][];
  /** Number of new rows merged: visible rows from the memtables that were not expired. */
  newRows: number;
  /** Rows that the runner read (without dead and expired ones), and rows that it wrote. */
  rowsIn: number;
  rowsOut: number;
}

/**
 * One unit of merge work: rows from at most one segment, and new rows. All keys of a part are above
 * those of the previous part.
 */
interface Part {
  segment: SegmentWork | undefined;
  runs: Uint8Array[];
  newRows: number;
}

export async function mergeStretches(
  table: Table,
  source: ChooseSource,
  stretches: readonly Stretch[],
  limits: MergeLimits,
): Promise<MergedStretches> {
  const merged: MergedStretches = { files: [], newRows: 0, rowsIn: 0, rowsOut: 0 };
  if (stretches.length === 0) return merged;
  const { runner, maxRows, maxBytes, cutoffTs } = limits;
  await runner.open({
    dir: table.dir,
    firstNumber: table.nextSegment,
    tableId: table.id,
    bucketSeconds: table.bucketSeconds,
    columns: builderColumns(table, source.indexed),
    text: source.text && textWorkOf(table.columns, source.text),
    ...{ cutoffTs, maxRows, maxBytes, syncLater: runner.flush !== undefined },
  });
  const runs = await FrozenRuns.of(source.memtables, source.lsn, table.context.pauses.compaction);
  for (const stretch of stretches) {
    const files: SegmentEntry[] = [];
    const parts = partsOf(source, stretch, runs, limits);
    for (let part = await parts.next(); !part.done; ) {
      const following = await parts.next();
      const { segment, runs: bytes, newRows } = part.value;
      const last = following.done === true;
      const done = await runner.part({ segment, runs: bytes, last, even: !stretch.append });
      for (const file of done.files) table.change({ nextSegment: Math.max(table.nextSegment, file.number + 1) });
      files.push(...done.files);
      merged.newRows += newRows;
      merged.rowsIn += done.rowsIn;
      merged.rowsOut += done.rowsOut;
      part = following;
    }
    merged.files.push(files);
  }
  await runner.close();
  assert(runs.isTaken, 'the stretches together cover every row of the memtables');
  assert(merged.files.length === stretches.length, 'each stretch has its files');
  return merged;
}

/** Returns the column descriptions for the segment builder. */
function builderColumns(table: Table, indexed: ReadonlySet<number>): BuilderColumn[] {
  return table.columns.columns.map((column) => ({
    id: column.id,
    type: column.type,
    indexed: indexed.has(column.id),
    ends: column === table.columns.end,
    // The constructor copies the bytes. `slice` of a Buffer would return a view, which the next
    // column would overwrite.
    missing:
      column.default === null
        ? new Uint8Array(0)
        : new Uint8Array(
            encodeProperties([{ column: column.id, type: column.type, value: column.default }]).subarray(2),
          ),
  }));
}

/**
 * Yields the parts of a stretch, at least one: for each segment, first its rows with the new rows
 * up to its last key, then the new rows up to the next segment or the end of the stretch. A stretch
 * without segments has only new rows.
 */
async function* partsOf(
  source: ChooseSource,
  stretch: Stretch,
  runs: FrozenRuns,
  limits: MergeLimits,
): AsyncGenerator<Part> {
  let count = 0;
  for (let place = stretch.from; place < stretch.to; place++) {
    const segment = source.segments[place]!;
    const next = place + 1 < stretch.to ? source.segments[place + 1] : undefined;
    const upper = next ? { eventTs: next.facts.timeMin, id: next.facts.firstId } : stretch.upper;
    yield* interleaved(segment, source.lsn, runs, limits);
    yield* newParts(upper, runs, limits);
    count++;
  }
  if (stretch.from < stretch.to) return;
  for await (const part of newParts(stretch.upper, runs, limits)) {
    count++;
    yield part;
  }
  if (count === 0) yield { segment: undefined, runs: [], newRows: 0 };
}

/** Yields parts that consist only of new rows below `upper`. */
async function* newParts(upper: RowKey | undefined, runs: FrozenRuns, limits: MergeLimits): AsyncGenerator<Part> {
  while (await runs.hasBelow(upper)) {
    const cut = await runs.cut(upper, limits.maxBytes);
    const taken = await runs.take(cut, limits.cutoffTs);
    yield { segment: undefined, runs: taken.runs, newRows: taken.rows };
  }
}

/**
 * Yields the parts for one segment: the rows of the segment, all at once or one key range at a
 * time, with the remaining new rows up to the last key of the segment. The segment is read again
 * for each part, or never if all its rows have expired.
 */
async function* interleaved(
  segment: SegmentFile,
  lsn: number,
  runs: FrozenRuns,
  { cutoffTs, maxBytes }: MergeLimits,
): AsyncGenerator<Part> {
  const { facts, dead, path } = segment;
  const { bytes, checksum } = facts;
  const behind = { eventTs: facts.timeMax, id: facts.lastId + 1 };
  const isExpired = facts.timeMax < cutoffTs;
  let lower: RowKey | undefined;
  while (true) {
    const cut = await runs.cut(behind, maxBytes);
    const isLast = cut === behind || !isBefore(cut!, behind);
    const upper = isLast ? undefined : cut;
    const taken = await runs.take(isLast ? behind : cut, cutoffTs);
    const deaths = { deadRows: dead.rows.slice(0, dead.count), deadLsns: dead.lsns.slice(0, dead.count) };
    const work: SegmentWork = { path, bytes, checksum, ...deaths, lsn, lower, upper };
    yield { segment: isExpired ? undefined : work, runs: taken.runs, newRows: taken.rows };
    if (isLast) return;
    lower = cut;
  }
}

function isBefore(a: RowKey, b: RowKey): boolean {
  return a.eventTs !== b.eventTs ? a.eventTs < b.eventTs : a.id < b.id;
}
