// Records in the log that a compaction with a TTL has dropped the rows of a table before a time.
//
// Rows before that time may have been inserted while the compaction ran; they are still there. The
// same frame, after others if there are many, deletes them, so that at its LSN the table has no row
// before the time: a follower that drops all of them at this LSN then has the same rows.
//
// The rows are gone with the manifest of the compaction, before the frame is logged. So the
// manifest names the time, and a database that died in between logs the frame when it is opened. It
// does not if the replay of the log has found the record: rows that were inserted since then stay.

import { encodeBefore, recordsOf } from '../changes/before-rows.ts';
import type { CommittedFrame } from '../commit/committer.ts';
import { encodeKills, OPERATION, runHeader, singleRun } from '../commit/operations.ts';
import { Scan } from '../scan/scan.ts';
import { findLive, killRow, type RowPlace } from '../table/live-rows.ts';
import { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';
import type { CatalogChange } from './changes.ts';
import type { TableSet } from './table-set.ts';

/** Maximum number of late rows that one frame deletes, which takes a few milliseconds. */
export const MOST_LATE = 512;

interface StagedExpiration extends CommittedFrame {
  /** False if there are more late rows: the frame deletes some and records nothing yet. */
  readonly isRecorded: boolean;
}

/**
 * Commits a frame that deletes late rows and, if it deletes the last of them, the record. Call it
 * as the `stage` of a write, while nobody else changes the catalog, until `isRecorded`. Throws
 * `overloaded`, `table_corrupt`, or the error of the log.
 */
export function stageExpiration(table: Table, beforeTs: number, tables: TableSet): StagedExpiration {
  table.assertUsable();
  const { committer, afterCommit } = table.context;
  const late = rowsBefore(table, beforeTs, MOST_LATE + 1);
  const isRecorded = late.length <= MOST_LATE;
  if (!isRecorded) late.pop();
  const room = new RowRoom();
  for (const place of late) room.addDeath(place);
  const change: CatalogChange = { op: 'drop_buckets', id: table.id, beforeTs };
  const record = isRecorded ? singleRun(OPERATION.catalog, Buffer.from(JSON.stringify(change))) : [];
  const parts = [...killsOf(table, late), ...record];
  const operations = late.length + (isRecorded ? 1 : 0);
  let lastLsn = 0;
  const committed = committer.commit(operations, parts, {
    apply: (firstLsn) => {
      lastLsn = firstLsn + operations - 1;
      for (const [index, place] of late.entries())
        if (killRow(table, place, firstLsn + index)) table.changeRows(lastLsn, -1);
      table.countOperations(late.length, late.length);
      table.changed(lastLsn);
    },
    visible: () => {
      if (isRecorded) tables.apply(change, lastLsn);
    },
  });
  afterCommit(table.id);
  return { ...committed, isRecorded };
}

/** Returns at most `limit` live rows before a time, as the next commit finds them. */
function rowsBefore(table: Table, beforeTs: number, limit: number): RowPlace[] {
  const view = { version: table.pin(), lsn: table.context.committer.headLsn, overlay: undefined };
  // At its end, the scan releases the version.
  const scan = new Scan(table, view, { format: 'json', endTs: beforeTs - 1, limit });
  let text = '';
  for (let slice = scan.next(); slice !== null; slice = scan.next()) text += Buffer.from(slice).toString();
  const rows = JSON.parse(`[${text}]`) as { id: number; event_ts: number }[];
  return rows.flatMap(({ id, event_ts: eventTs }) => findLive(table, { eventTs, id }) ?? []);
}

function killsOf(table: Table, places: readonly RowPlace[]): Uint8Array[] {
  if (places.length === 0) return [];
  const before = encodeBefore(places.map((place) => recordsOf(table, [place])));
  const kills = encodeKills(places);
  return [
    runHeader(OPERATION.before, table.id, 0, before.length),
    before,
    runHeader(OPERATION.kill, table.id, places.length, kills.length),
    kills,
  ];
}
