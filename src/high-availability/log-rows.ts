// The frames of the log as rows of PostgreSQL: inserts them, and reads them in batches.
//
// A row has the checksum of the row before it (`previous`), and its own (`crc`) covers that one,
// the LSNs, the time and the payload. So two histories that differ in one row have different
// checksums in all later rows.

import { corruption, HedgerowError } from '../errors.ts';
import type { Crc32c, LogFrame } from '../storage/index.ts';
import type { Connection, Row } from './connection.ts';

/** A frame with its place in the chain of checksums. */
export interface ChainedFrame extends LogFrame {
  readonly previous: number;
  readonly crc: number;
}

/** The last frame of a log. */
export interface LogEnd {
  readonly lsn: number;
  readonly crc: number;
}

export const EMPTY_LOG: LogEnd = { lsn: 0, crc: 0 };

export const LOG_TABLE = 'the table hedgerow_log';

/** Bytes of payload that one batch has at most, unless its first frame has more. */
const BATCH_BYTES = 2 ** 20;
const BATCH_FRAMES = 1024;
/** A larger payload is read in pieces of this size: a text of PostgreSQL has at most 1 GB. */
const PIECE_BYTES = 2 ** 24;
const WORD = 2 ** 32;
const HEADER_BYTES = 24;

export function lastLsnOf({ firstLsn, operations }: LogFrame): number {
  return firstLsn + operations - 1;
}

/** Returns the first part of a checksum; the one of the payload continues it. */
export function headerCrc(
  crc32c: Crc32c,
  { previous, firstLsn, operations, seconds }: Omit<ChainedFrame, 'crc' | 'payload'>,
): number {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES));
  view.setUint32(0, previous, true);
  view.setUint32(4, operations, true);
  putInteger(view, 8, firstLsn);
  putInteger(view, 16, seconds);
  return crc32c(new Uint8Array(view.buffer), 0);
}

function putInteger(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true);
  view.setUint32(at + 4, Math.floor(value / WORD), true);
}

/** Returns the checksum of a frame. */
export function frameCrc(crc32c: Crc32c, frame: Omit<ChainedFrame, 'crc'>): number {
  return crc32c(frame.payload, headerCrc(crc32c, frame)) >>> 0;
}

/**
 * Appends frames as one statement, which is one transaction, if the epoch is still that of the
 * lease and the log ends at `after`. Resolves with false if not; nothing was appended then.
 */
export async function insertFrames(
  connection: Connection,
  epoch: number,
  after: LogEnd,
  frames: readonly ChainedFrame[],
): Promise<boolean> {
  const payloads = frames.map(({ payload }) => payload);
  const bytes = payloads.length === 1 ? bufferOf(payloads[0]!) : Buffer.concat(payloads);
  let at = 1;
  const places = payloads.map(({ length }) => {
    at += length;
    return at - length;
  });
  const inserted = await connection.run(INSERT, [
    epoch,
    after.lsn,
    after.crc,
    bytes,
    listOf(frames, ({ firstLsn }) => firstLsn),
    listOf(frames, lastLsnOf),
    listOf(frames, ({ seconds }) => seconds),
    listOf(frames, ({ previous }) => previous),
    listOf(frames, ({ crc }) => crc),
    `{${places.join()}}`,
    listOf(frames, ({ payload }) => payload.length),
  ]);
  return Number(inserted[0]![0]) === frames.length;
}

// The lock of the key is kept until the transaction has ended. While a change of the epoch is being
// committed, it waits, and then finds that the epoch is another one.
const INSERT = `
WITH lease AS MATERIALIZED (SELECT epoch FROM hedgerow_lease WHERE epoch = $1 FOR KEY SHARE),
inserted AS (
  INSERT INTO hedgerow_log (first_lsn, last_lsn, seconds, epoch, previous, crc, payload)
  SELECT frame.first_lsn, frame.last_lsn, frame.seconds, lease.epoch, frame.previous, frame.crc,
    substring($4::bytea FROM frame.place FOR frame.bytes)
  FROM lease, unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::int[], $11::int[])
    AS frame(first_lsn, last_lsn, seconds, previous, crc, place, bytes)
  WHERE COALESCE(
    (SELECT last_lsn = $2 AND crc = $3 FROM hedgerow_log ORDER BY first_lsn DESC LIMIT 1),
    $2::bigint = 0)
  RETURNING 1)
SELECT count(*) FROM inserted`;

function listOf(frames: readonly ChainedFrame[], value: (frame: ChainedFrame) => number): string {
  return `{${frames.map(value).join()}}`;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Resolves with the end of the log. */
export async function readEnd(connection: Connection, timeoutMs?: number): Promise<LogEnd> {
  const sql = 'SELECT last_lsn, crc FROM hedgerow_log ORDER BY first_lsn DESC LIMIT 1';
  const [row] = await connection.run(sql, [], timeoutMs);
  return row === undefined ? EMPTY_LOG : { lsn: Number(row[0]), crc: Number(row[1]) };
}

/** Resolves with the oldest LSN in the log; undefined if it is empty. */
export async function readOldest(connection: Connection): Promise<number | undefined> {
  const [row] = await connection.run('SELECT min(first_lsn) FROM hedgerow_log');
  return row![0] === null ? undefined : Number(row![0]);
}

/** Whether the log has a frame that ends at an LSN with this checksum. */
export async function hasFrame(connection: Connection, { lsn, crc }: LogEnd): Promise<boolean> {
  const sql = 'SELECT last_lsn, crc FROM hedgerow_log WHERE first_lsn <= $1 ORDER BY first_lsn DESC LIMIT 1';
  const [row] = await connection.run(sql, [lsn]);
  return row !== undefined && Number(row[0]) === lsn && Number(row[1]) === crc;
}

/** A part of the log, of about equal size, to know what to remove. */
export interface LogPiece {
  readonly lastLsn: number;
  readonly bytes: number;
  /** When its newest frame was appended, in epoch seconds. */
  readonly seconds: number;
}

/** Resolves with the pieces of the log, oldest first. */
export async function readPieces(connection: Connection, pieceBytes: number): Promise<LogPiece[]> {
  const rows = await connection.run(
    `SELECT max(last_lsn), sum(bytes), max(seconds) FROM (
      SELECT last_lsn, octet_length(payload) AS bytes, seconds,
        div(sum(octet_length(payload)) OVER (ORDER BY first_lsn) - octet_length(payload), $1) AS piece
      FROM hedgerow_log) AS frames
    GROUP BY piece ORDER BY piece`,
    [pieceBytes],
  );
  return rows.map(([lsn, bytes, seconds]) => ({
    lastLsn: Number(lsn),
    bytes: Number(bytes),
    seconds: Number(seconds),
  }));
}

/**
 * Resolves with the next frames that contain LSNs from `fromLsn` to `upToLsn`, about 1 MB of them
 * but at least one; with none if there is none. Rejects with `corrupt` if the first is damaged or
 * LSNs are missing; if a later one is, with those before it.
 */
export async function readFrames(
  connection: Connection,
  crc32c: Crc32c,
  fromLsn: number,
  upToLsn: number,
): Promise<ChainedFrame[]> {
  const rows = await connection.run(SELECT, [fromLsn, upToLsn, BATCH_FRAMES, BATCH_BYTES, PIECE_BYTES]);
  const frames: ChainedFrame[] = [];
  let expected: number | undefined;
  let previous: number | undefined;
  for (const row of rows) {
    const frame = await frameOf(connection, row);
    const problem = problemOf(crc32c, frame, expected, previous);
    if (problem !== undefined) {
      if (frames.length > 0) return frames;
      throw corruption(LOG_TABLE, frame.firstLsn, problem);
    }
    expected = lastLsnOf(frame) + 1;
    previous = frame.crc;
    frames.push(frame);
  }
  return frames;
}

const SELECT = `
SELECT first_lsn, last_lsn - first_lsn + 1, seconds, previous, crc, bytes,
  CASE WHEN bytes <= $5 THEN payload END
FROM (
  SELECT *, octet_length(payload) AS bytes, sum(octet_length(payload)) OVER (ORDER BY first_lsn) AS total
  FROM (
    SELECT * FROM hedgerow_log
    WHERE first_lsn >= COALESCE((SELECT max(first_lsn) FROM hedgerow_log WHERE first_lsn <= $1), 0) AND first_lsn <= $2
      AND last_lsn >= $1
    ORDER BY first_lsn LIMIT $3) AS near) AS measured
WHERE total - bytes < $4
ORDER BY first_lsn`;

async function frameOf(connection: Connection, row: Row): Promise<ChainedFrame> {
  const [firstLsn, operations, seconds, previous, crc, bytes] = row.slice(0, 6).map(Number);
  const text = row[6]!;
  return {
    firstLsn: firstLsn!,
    operations: operations!,
    seconds: seconds!,
    previous: previous!,
    crc: crc!,
    payload: text === null ? await largePayload(connection, firstLsn!, bytes!) : bytesOf(text),
  };
}

/** Decodes PostgreSQL's text of a bytea: `\x` and hexadecimal digits. */
function bytesOf(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

async function largePayload(connection: Connection, firstLsn: number, bytes: number): Promise<Buffer> {
  const payload = Buffer.allocUnsafeSlow(bytes);
  for (let at = 0; at < bytes; at += PIECE_BYTES) {
    const sql = 'SELECT substring(payload FROM $2::int FOR $3::int) FROM hedgerow_log WHERE first_lsn = $1';
    const [row] = await connection.run(sql, [firstLsn, at + 1, PIECE_BYTES]);
    if (row === undefined) throw removed(firstLsn);
    payload.set(bytesOf(row[0]!), at);
  }
  return payload;
}

/** Returns the error for an LSN that the log no longer has. */
export function removed(lsn: number, oldestLsn?: number): HedgerowError {
  const begins = oldestLsn === undefined ? '' : `The log begins with LSN ${oldestLsn}: `;
  const detail = `${begins}older operations, such as LSN ${lsn}, were removed from it.`;
  return new HedgerowError('invalid_lsn', detail, oldestLsn === undefined ? {} : { fields: { oldest_lsn: oldestLsn } });
}

function problemOf(
  crc32c: Crc32c,
  frame: ChainedFrame,
  expected: number | undefined,
  previous: number | undefined,
): string | undefined {
  if (expected !== undefined && frame.firstLsn !== expected)
    return `LSN ${frame.firstLsn} follows, but LSN ${expected} is missing`;
  if (previous !== undefined && frame.previous !== previous) return 'it does not follow the row before it';
  return frameCrc(crc32c, frame) === frame.crc ? undefined : 'its checksum does not match';
}
