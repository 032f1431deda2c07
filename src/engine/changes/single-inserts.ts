// The usual frames of a busy service: each inserts one row and does nothing else. The changes of
// many of them are read together, because the core writes a hundred rows in little more time than
// one.

import type { LogFrame } from '../../storage/index.ts';
import { OPERATION, RUN_HEADER_BYTES } from '../commit/operations.ts';
import { MIN_RECORD_BYTES, wordAt } from './before-rows.ts';
import { type ChangeText, type FrameReading, idOf } from './frame-changes.ts';
import { type FrameTable, type RowReading, rowTexts, tableOf } from './row-texts.ts';

/** Frames that are read together, which takes a ms at most unless their rows are large. */
const FRAMES_AT_ONCE = 128;
/** Their rows have at most about this many bytes. */
const BYTES_AT_ONCE = 2 ** 16;

/** Consecutive frames, each of which inserts one row of the table. */
export interface SingleInserts {
  readonly table: FrameTable;
  readonly frames: readonly LogFrame[];
}

/**
 * Returns the frames from `at` on that only insert one row, all of the same table; undefined if the
 * first does more, or if its changes are not wanted.
 */
export function insertsFrom(frames: readonly LogFrame[], at: number, reading: FrameReading): SingleInserts | undefined {
  const first = frames[at]!;
  const tableId = tableOfInsert(first);
  if (tableId === undefined || (reading.tableId !== undefined && reading.tableId !== tableId)) return undefined;
  const definition = reading.definitionAt(tableId, first.firstLsn);
  if (definition === undefined) return undefined;
  let to = at + 1;
  let bytes = first.payload.length;
  for (; to < frames.length && to - at < FRAMES_AT_ONCE; to++) {
    const frame = frames[to]!;
    bytes += frame.payload.length;
    if (bytes > BYTES_AT_ONCE || tableOfInsert(frame) !== tableId) break;
    if (reading.definitionAt(tableId, frame.firstLsn) !== definition) break;
  }
  return { table: tableOf(definition), frames: frames.slice(at, to) };
}

/** Returns the changes of such frames, one each. */
export function changesOfInserts({ table, frames }: SingleInserts, reading: RowReading): ChangeText[] {
  const rows = frames.map(({ payload }) => payload.subarray(RUN_HEADER_BYTES));
  const texts = rowTexts(rows, table, reading);
  const name = JSON.stringify(table.name);
  return frames.map(({ firstLsn, seconds }, place) => ({
    lsn: firstLsn,
    text: `{"lsn":${firstLsn},"ts":${seconds},"table":${name},"op":"${table.ops.insert}","id":${idOf(rows[place]!)},"row":${texts[place]}`,
  }));
}

/** Returns the table if the frame only inserts one row; undefined otherwise. */
function tableOfInsert({ operations, payload }: LogFrame): number | undefined {
  if (operations !== 1 || payload[0] !== OPERATION.insert) return undefined;
  if (payload.length < RUN_HEADER_BYTES + MIN_RECORD_BYTES) return undefined;
  const record = wordAt(payload, RUN_HEADER_BYTES);
  return record === payload.length - RUN_HEADER_BYTES ? wordAt(payload, 4) : undefined;
}
