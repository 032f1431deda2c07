// Compacts one table: freezes its memtables, chooses stretches, has them merged, installs the manifest, swaps the version.
//
// Readers and writers go on all the while. The manifest is the only commit point: before it nothing has changed, after it everything has.

import { type BuilderColumn, type CoreMemtable, encodeProperties, type SegmentFacts } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { ChangedTable } from '../checkpoint.ts';
import { type SegmentFile, segmentNumber } from '../segment-file.ts';
import { openSegmentFile, refreshFilters, type SegmentEntry } from '../segments-on-disk.ts';
import type { LateDeath, Table } from '../table.ts';
import type { RowKey } from '../types.ts';
import { Version } from '../version.ts';
import { chooseStretches, type Stretch } from './choose.ts';
import { countDropped, deadAt } from './count-dropped.ts';
import { compactionError } from './failure.ts';
import type { CompactionRunner } from './work.ts';

/** New rows of one part, about: as many as a segment has, where that is not very few. 65,536 rows are some 2 MB of records. */
const LEAST_PART_ROWS = 4096;

export interface TableCompaction {
  pendingBefore: number;
  tombstones: number;
  edgesDropped: number;
  bucketsDropped: number;
}

export interface CompactionOptions {
  runner: CompactionRunner;
  maxRows: number;
  /** Rows with a smaller time go; -Infinity: none. */
  cutoffTs: number;
  /** A column, by id, that gets its order as if it had an index already. */
  alsoIndexed?: number | undefined;
  /** Makes the manifest that holds this table with these segments and everything else as it is. */
  installManifest: (changed: ChangedTable) => Promise<void>;
}

/** What a compaction reads: frozen at one LSN. */
interface Frozen {
  lsn: number;
  segments: readonly SegmentFile[];
  memtables: readonly CoreMemtable[];
  late: LateDeath[];
  pending: number;
  tombstones: number;
  /** Columns that get an order, by id. */
  indexed: ReadonlySet<number>;
}

/** Compacts; resolves when readers see the new segments. Rejects with nothing changed. One at a time a table. */
export async function compactTable(table: Table, options: CompactionOptions): Promise<TableCompaction> {
  const { committer } = table.context;
  // A frame that is applied in slices is in the log as a whole, and in memtables not yet.
  while (committer.isTaken) await committer.free();
  table.assertUsable();
  const frozen = freeze(table, options.alsoIndexed);
  try {
    await committer.log.flush();
    const dropped = countDropped(table, frozen.segments, frozen.memtables, frozen.lsn, options.cutoffTs);
    const stretches = chooseStretches(figuresOf(frozen, options));
    const segments = await mergeSegments(table, frozen, stretches, options);
    await install(table, frozen, segments, dropped.edgesDropped > 0, options);
    return { pendingBefore: frozen.pending, tombstones: frozen.tombstones, ...dropped };
  } catch (error) {
    const file = error instanceof HedgerowError && error.code === 'corrupt' ? error.fields?.file : undefined;
    if (frozen.segments.some((segment) => segment.path === file)) {
      table.corrupt = error as HedgerowError;
      table.assertUsable();
    }
    throw compactionError(error);
  } finally {
    table.compacting = undefined;
  }
}

/** The segments after the compaction, the new ones written and synced. When it fails, what was written is removed again. */
async function mergeSegments(
  table: Table,
  frozen: Frozen,
  stretches: readonly Stretch[],
  options: CompactionOptions,
): Promise<SegmentFile[]> {
  const firstNumber = table.nextSegment;
  try {
    const replaced = await mergeStretches(table, frozen, stretches, options);
    return replace(table, frozen, stretches, replaced);
  } catch (error) {
    await removeFrom(table, firstNumber);
    throw error;
  }
}

async function removeFrom(table: Table, firstNumber: number): Promise<void> {
  const { fs } = table.context;
  if (!fs.exists(table.dir)) return;
  for (const name of fs.list(table.dir)) {
    const number = segmentNumber(name);
    if (number === null || number < firstNumber) continue;
    // Not used again: the removal may fail, or a crash undo it.
    table.nextSegment = Math.max(table.nextSegment, number + 1);
    await fs.remove(`${table.dir}/${name}`).catch(() => undefined);
  }
}

function freeze(table: Table, alsoIndexed: number | undefined): Frozen {
  const lsn = table.context.committer.headLsn;
  const memtables = table.version.memtables.map((entry) => entry.memtable).filter((memtable) => memtable.rows > 0);
  const newest = table.version.memtables[table.version.memtables.length - 1];
  if (newest !== undefined && newest.memtable.rows > 0) table.rotateMemtable(lsn);
  const { segments } = table.version;
  const late: LateDeath[] = [];
  table.compacting = { segments: new Set(segments), memtables: new Set(memtables), late };
  const indexed = new Set(table.definition.indexes.map(({ column }) => column));
  if (alsoIndexed !== undefined) indexed.add(alsoIndexed);
  const { pending, pendingTombstones: tombstones } = table;
  return { lsn, segments, memtables, late, pending, tombstones, indexed };
}

/** Whether a segment has values of an indexed column without their order. */
function lacksOrder({ columns }: SegmentFacts, indexed: ReadonlySet<number>): boolean {
  return columns.some(({ id, numeric, allNull, ordered }) => numeric && !allNull && !ordered && indexed.has(id));
}

function figuresOf(frozen: Frozen, options: CompactionOptions) {
  const segments = frozen.segments.map(({ facts, dead }) => ({
    rows: facts.rows,
    dead: deadAt(dead, frozen.lsn),
    stale: lacksOrder(facts, frozen.indexed),
    first: { eventTs: facts.timeMin, id: facts.firstId },
    last: { eventTs: facts.timeMax, id: facts.lastId },
  }));
  const newRows = segments.map(() => 0);
  let newRowsBehind = 0;
  let totalNewRows = 0;
  for (const memtable of frozen.memtables) {
    const ends = segments.slice(1).map(({ first }) => memtable.seek(first.eventTs, first.id));
    ends.push(memtable.seek(Infinity, Infinity));
    let start = 0;
    for (const [place, end] of ends.entries()) {
      newRows[place]! += end - start;
      start = end;
    }
    const last = segments[segments.length - 1];
    const all = ends[ends.length - 1]!;
    if (last) newRowsBehind += all - memtable.seek(last.last.eventTs, last.last.id + 1);
    totalNewRows += all;
  }
  if (segments.length === 0) newRows.length = 0;
  return { segments, newRows, newRowsBehind, totalNewRows, cutoffTs: options.cutoffTs, maxRows: options.maxRows };
}

/** Merges every stretch; returns the new files of each. */
async function mergeStretches(
  table: Table,
  frozen: Frozen,
  stretches: readonly Stretch[],
  options: CompactionOptions,
): Promise<SegmentEntry[][]> {
  if (stretches.length === 0) return [];
  const { runner } = options;
  await runner.open({
    kind: 'open',
    dir: table.dir,
    firstNumber: table.nextSegment,
    tableId: table.id,
    bucketSeconds: table.bucketSeconds,
    columns: builderColumns(table, frozen.indexed),
    cutoffTs: options.cutoffTs,
    maxRows: options.maxRows,
  });
  const replaced: SegmentEntry[][] = [];
  for (const stretch of stretches) {
    const files: SegmentEntry[] = [];
    const parts = partsOf(frozen, stretch, Math.max(LEAST_PART_ROWS, options.maxRows));
    for (const [index, part] of parts.entries()) {
      const done = await runner.part({
        kind: 'part',
        segment:
          part.segment && part.segment.facts.timeMax >= options.cutoffTs
            ? segmentWork(part.segment, frozen.lsn)
            : undefined,
        runs: runsOf(frozen, part, options.cutoffTs),
        last: index === parts.length - 1,
        even: !stretch.append,
      });
      for (const file of done.files) table.nextSegment = Math.max(table.nextSegment, file.number + 1);
      files.push(...done.files);
    }
    replaced.push(files);
  }
  await runner.close();
  return replaced;
}

function segmentWork(segment: SegmentFile, lsn: number) {
  const { dead } = segment;
  return {
    path: segment.path,
    bytes: segment.facts.bytes,
    deadRows: dead.rows.slice(0, dead.count),
    deadLsns: dead.lsns.slice(0, dead.count),
    lsn,
  };
}

/** Columns for the builder. Borrowed property bytes are copied. */
function builderColumns(table: Table, indexed: ReadonlySet<number>): BuilderColumn[] {
  return table.columns.columns.map((column) => ({
    id: column.id,
    type: column.type,
    indexed: indexed.has(column.id),
    // Copied by the constructor: `slice` of what is a Buffer would be a view that the next column overwrites.
    missing:
      column.default === null
        ? new Uint8Array(0)
        : new Uint8Array(
            encodeProperties([{ column: column.id, type: column.type, value: column.default }]).subarray(2),
          ),
  }));
}

interface Part {
  segment: SegmentFile | undefined;
  lower: RowKey | undefined;
  upper: RowKey | undefined;
}

/** The parts of a stretch: each segment with the rows that interleave it, then the rows behind it in slices of about `partRows`. */
function partsOf(frozen: Frozen, stretch: Stretch, partRows: number): Part[] {
  const parts: Part[] = [];
  let lower = stretch.lower;
  for (let place = stretch.from; place < stretch.to; place++) {
    const segment = frozen.segments[place]!;
    const behind = { eventTs: segment.facts.timeMax, id: segment.facts.lastId + 1 };
    parts.push({ segment, lower, upper: behind });
    const next = frozen.segments[place + 1];
    const upper =
      place + 1 < stretch.to && next ? { eventTs: next.facts.timeMin, id: next.facts.firstId } : stretch.upper;
    parts.push(...slices(frozen, behind, upper, partRows));
    lower = upper;
  }
  if (stretch.from === stretch.to) parts.push(...slices(frozen, lower, stretch.upper, partRows));
  if (parts.length === 0) parts.push({ segment: undefined, lower, upper: lower });
  return parts;
}

function positions(
  memtable: CoreMemtable,
  lower: RowKey | undefined,
  upper: RowKey | undefined,
): { from: number; to: number } {
  const from = lower ? memtable.seek(lower.eventTs, lower.id) : 0;
  const to = upper ? memtable.seek(upper.eventTs, upper.id) : memtable.seek(Infinity, Infinity);
  return { from, to };
}

function slices(frozen: Frozen, lower: RowKey | undefined, upper: RowKey | undefined, partRows: number): Part[] {
  const parts: Part[] = [];
  let start = lower;
  while (true) {
    let cut: RowKey | undefined;
    let rows = 0;
    for (const memtable of frozen.memtables) {
      const { from, to } = positions(memtable, start, upper);
      rows += to - from;
      if (to - from <= partRows) continue;
      const key = memtable.keyAt(from + partRows);
      if (cut === undefined || key.eventTs < cut.eventTs || (key.eventTs === cut.eventTs && key.id < cut.id)) cut = key;
    }
    if (rows === 0) return parts;
    parts.push({ segment: undefined, lower: start, upper: cut ?? upper });
    if (cut === undefined) return parts;
    start = cut;
  }
}

function runsOf(frozen: Frozen, part: Part, cutoffTs: number): Uint8Array[] {
  const runs: Uint8Array[] = [];
  for (const memtable of frozen.memtables) {
    const { from, to } = positions(memtable, part.lower, part.upper);
    const start = cutoffTs === -Infinity ? from : Math.max(from, memtable.seek(cutoffTs, -Infinity));
    if (start < to) runs.push(memtable.exportRecords(start, to, frozen.lsn).bytes);
  }
  return runs;
}

function replace(
  table: Table,
  frozen: Frozen,
  stretches: readonly Stretch[],
  replaced: readonly SegmentEntry[][],
): SegmentFile[] {
  const scratch = table.context.module.instantiate();
  const segments: SegmentFile[] = [];
  let place = 0;
  for (const [index, stretch] of stretches.entries()) {
    segments.push(...frozen.segments.slice(place, stretch.from));
    for (const entry of replaced[index]!) segments.push(openSegmentFile(table, entry, scratch));
    place = stretch.to;
  }
  segments.push(...frozen.segments.slice(place));
  return segments;
}

async function install(
  table: Table,
  frozen: Frozen,
  segments: readonly SegmentFile[],
  expired: boolean,
  options: CompactionOptions,
): Promise<void> {
  const entries = segments.map((segment) => ({ number: segment.number, bytes: segment.facts.bytes }));
  await options.installManifest({ table, segments: entries, appliedLsn: frozen.lsn, expired });
  if (expired) table.expirations++;
  const gone = new Set(frozen.memtables);
  const memtables = table.version.memtables.filter((entry) => !gone.has(entry.memtable));
  table.install(new Version(segments, memtables, table.bucketSeconds));
  table.appliedLsn = frozen.lsn;
  table.pending -= frozen.pending;
  table.pendingTombstones -= frozen.tombstones;
  table.retryPending = 0;
  buryLate(table, frozen, new Set(frozen.segments));
  refreshFilters(table);
}

/** Rows that died while the compaction ran: marks them dead where they stand now. */
function buryLate(table: Table, frozen: Frozen, old: ReadonlySet<SegmentFile>): void {
  for (const { eventTs, id, lsn } of frozen.late) {
    for (const segment of table.version.segments) {
      const { facts } = segment;
      if (facts.timeMin > eventTs || facts.timeMax < eventTs || old.has(segment)) continue;
      const row = table.resident(segment).find(eventTs, id);
      if (row >= 0) segment.dead.add(row, lsn);
    }
  }
}
