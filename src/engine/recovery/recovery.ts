// Opens the tables listed in the manifest, and applies the operations in the log that are in no
// segment. The order of these steps is in recover-database.ts.

import { assert } from '../../assert.ts';
import type { Core } from '../../core/index.ts';
import { corruption, HedgerowError } from '../../errors.ts';
import type { LogFrame } from '../../storage/index.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import type { CatalogChange } from '../catalog/changes.ts';
import type { Documents } from '../catalog/documents.ts';
import type { CheckpointTable } from '../checkpoint/checkpoint.ts';
import { decodeKills, OPERATION, type Run, readRuns } from '../commit/operations.ts';
import type { EngineContext } from '../context.ts';
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import { findLive, findMatches, killRow, type RowPlace } from '../table/live-rows.ts';
import { asCorruption, isInOrder, type SegmentFile, segmentName } from '../table/segment-file.ts';
import { openSegmentFile, refreshFilters } from '../table/segments-on-disk.ts';
import { Table } from '../table/table.ts';
import { Version } from '../table/version.ts';

/**
 * Opens a table listed in the manifest. If a segment is corrupt, this table refuses requests, but
 * the database opens.
 */
export function openTable(context: EngineContext, item: CheckpointTable, scratch: Core): Table {
  const { nextId, appliedLsn, nextSegment, expirations = 0, unlogged, held = [] } = item;
  const table = new Table(context, item.definition, { nextId, appliedLsn, nextSegment, expirations, unlogged, held });
  const segments: SegmentFile[] = [];
  for (const entry of item.segments) {
    try {
      const segment = openSegmentFile(table, entry, scratch);
      checkOrder(segments[segments.length - 1], segment);
      segments.push(segment);
    } catch (error) {
      const corrupt = asCorruption(error, `${table.dir}/${segmentName(entry.number)}`);
      table.change({ corrupt, unopened: item.segments });
      return table;
    }
  }
  table.install(new Version(segments, [], table.bucketSeconds));
  refreshFilters(table);
  return table;
}

/**
 * Checks that the segments of a table are disjoint and in key order: a file in the wrong place
 * would hide rows from every search. Throws `corrupt`.
 */
export function checkOrder(before: SegmentFile | undefined, segment: SegmentFile): void {
  if (before === undefined || isInOrder(before, segment)) return;
  throw corruption(segment.path, 48, `its rows do not come after those of ${before.path}`);
}

/** The objects to which replayed operations are applied. */
export interface ReplayTarget {
  tables: { byId(id: number): Table | undefined; apply(change: CatalogChange, lsn: number): void };
  /** Catalog and document operations up to this LSN are in the manifest. */
  catalogLsn: number;
  documents: Documents;
  replays: IdempotencyStore;
}

/**
 * Applies one frame, run by run. If there is too little memory for a run, yields the LSN before
 * that run, up to which everything has been applied, and tries the run again when resumed. Throws
 * `corrupt` if a payload with a valid checksum contains something impossible.
 */
export function* replayFrame(frame: LogFrame, target: ReplayTarget): Generator<number, void, void> {
  let lsn = frame.firstLsn;
  assert(frame.operations > 0, 'a frame has operations');
  for (const run of readRuns(frame.payload, frame.operations, `log frame at LSN ${frame.firstLsn}`)) {
    for (let isApplied = false; !isApplied; ) {
      try {
        replayAny(run, lsn, target);
        isApplied = true;
      } catch (error) {
        if (!(error instanceof HedgerowError) || error.code !== 'overloaded') throw error;
        yield lsn - 1;
      }
    }
    lsn += run.operations;
  }
}

function replayAny(run: Run, lsn: number, target: ReplayTarget): void {
  if (run.kind === OPERATION.catalog) {
    if (lsn > target.catalogLsn)
      target.tables.apply(JSON.parse(Buffer.from(run.bytes).toString()) as CatalogChange, lsn);
  } else if (run.kind === OPERATION.document) {
    if (lsn > target.catalogLsn) target.documents.replay(run.bytes, lsn);
  } else if (run.kind === OPERATION.replay) target.replays.replay(run.bytes, lsn);
  else if (run.kind === OPERATION.before || run.kind === OPERATION.more) return;
  else if (lsn > heldUpTo(target.tables.byId(run.tableId))) replayRun(run, lsn, target);
}

/**
 * Returns the LSN up to which the table's operations are read from its held files
 * (held-operations.ts) and not from the log.
 */
function heldUpTo(table: Table | undefined): number {
  return table?.held[table.held.length - 1]?.lsn ?? 0;
}

/** Applies the operations of a run that are not in the segments of their table. */
export function replayRun(run: Run, lsn: number, target: ReplayTarget): void {
  if (run.kind !== OPERATION.insert && run.kind !== OPERATION.tombstone && run.kind !== OPERATION.kill) {
    throw new HedgerowError(
      'corrupt',
      `The log holds an operation of kind ${run.kind} at LSN ${lsn}, which this build does not know. Use a newer version.`,
    );
  }
  const table = target.tables.byId(run.tableId);
  if (table === undefined || table.corrupt !== null || lsn <= table.appliedLsn) return;
  if (run.kind === OPERATION.insert) replayInsert(run, lsn, table);
  else replayDeaths(run, lsn, table);
}

function replayInsert(run: Run, lsn: number, table: Table): void {
  const memtable = table.writableMemtable(run.operations, lsn - 1);
  const reserved = memtable.reserve(run.bytes.length, run.operations);
  const bad = memtable.checkRecords(reserved, run.bytes, run.operations);
  if (bad >= 0) throw corruption(`log frame at LSN ${lsn}`, bad, 'a record is malformed');
  assert(lsn > table.appliedLsn, 'a replay adds nothing that is in segments');
  memtable.append(reserved, run.bytes, run.operations, lsn);
  table.change({ nextId: Math.max(table.nextId, greatestId(run.bytes) + 1) });
  table.countOperations(run.operations, 0);
}

/** Returns the greatest id of consecutive records. */
export function greatestId(records: Uint8Array): number {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  let greatest = 0;
  for (let at = 0; at < records.length; at += view.getUint32(at, true)) {
    const id = view.getInt32(at + 20, true) * 2 ** 32 + view.getUint32(at + 16, true);
    if (id > greatest) greatest = id;
  }
  return greatest;
}

/**
 * Replays tombstones and kills. If a row to be deleted is missing, a compaction with a TTL has
 * dropped it.
 */
function replayDeaths(run: Run, firstLsn: number, table: Table): void {
  const killed = run.kind === OPERATION.kill ? killsOf(run, firstLsn, table) : matchesOf(run, table);
  let lsn = firstLsn;
  try {
    for (const places of killed) {
      for (const place of places) killRow(table, place, lsn);
      lsn++;
    }
  } catch (error) {
    if (table.corrupt !== null) return;
    throw error;
  }
  table.countOperations(run.operations, run.operations);
}

function* killsOf(run: Run, lsn: number, table: Table): Generator<RowPlace[]> {
  for (const key of decodeKills(run, `log frame at LSN ${lsn}`, 0)) {
    const place = findLive(table, key);
    yield place === undefined ? [] : [place];
  }
}

function* matchesOf(run: Run, table: Table): Generator<RowPlace[]> {
  const view = new DataView(run.bytes.buffer, run.bytes.byteOffset, run.bytes.byteLength);
  let at = 0;
  for (let i = 0; i < run.operations; i++) {
    const size = view.getUint32(at, true);
    const record = run.bytes.subarray(at, at + size);
    yield findMatches(table, record, Number(view.getBigInt64(at + 8, true)));
    at += size;
  }
}

/** Returns the table that a catalog change creates. */
export function createdTable(context: EngineContext, definition: TableDefinition, lsn: number): Table {
  return new Table(context, definition, { appliedLsn: lsn, shapeLsn: lsn });
}
