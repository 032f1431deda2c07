// Lists the frames of a log file, valid and damaged, for the commands that inspect a log.

import type { Crc32c } from './crc32c.ts';
import {
  decodeFileHeader,
  FILE_HEADER_BYTES,
  type FoundHeader,
  findFrame,
  frameBytes,
  isZeroFrom,
  peekFrame,
  readFrame,
  regionOf,
} from './frame.ts';
import type { Fs } from './fs.ts';
import { readFully, readWhole } from './whole-file.ts';

/**
 * A frame, or a place where a frame should be. `ok` means that the frame is complete, that its
 * checksum matches, that it has the epoch of the file, and that its LSNs follow those of the
 * previous frame. If `ok` is false, the other fields contain what was found there, or zeros.
 */
export interface InspectedFrame {
  offset: number;
  firstLsn: number;
  /** Number of operations; 0 for a seal, and usually if `ok` is false. */
  operations: number;
  payloadBytes: number;
  epoch: number;
  durableLsn: number;
  ok: boolean;
}

/** Returns the header of the log file at `path`. Throws `corrupt`. */
export function readLogFileHeader(fs: Fs, path: string, crc32c: Crc32c): FoundHeader {
  const handle = fs.open(path, 'read');
  try {
    const page = new Uint8Array(FILE_HEADER_BYTES);
    return decodeFileHeader(path, page.subarray(0, readFully(handle, page, 0)), crc32c);
  } finally {
    handle.close();
  }
}

/**
 * Yields every frame in the file. After a place without a complete frame, continues at the next
 * complete frame. Ends where only zeros follow. Throws `corrupt` if the file header is invalid.
 */
export function* inspectLogFile(fs: Fs, path: string, crc32c: Crc32c): Iterable<InspectedFrame> {
  const region = regionOf(readWhole(fs, path));
  const header = decodeFileHeader(path, region.bytes, crc32c);
  let expectedLsn = header.firstLsn;
  let offset = FILE_HEADER_BYTES;
  while (offset >= 0 && offset < region.bytes.length) {
    const frame = readFrame(region, offset, crc32c);
    if (frame !== null) {
      yield { offset, ...frame, ok: frame.epoch === header.epoch && frame.firstLsn === expectedLsn };
      expectedLsn = frame.firstLsn + frame.operations;
      offset += frameBytes(frame.payloadBytes);
      continue;
    }
    if (isZeroFrom(region, offset)) return;
    const seen = peekFrame(region, offset) ?? { firstLsn: 0, operations: 0, payloadBytes: 0, epoch: 0, durableLsn: 0 };
    yield { offset, ...seen, ok: false };
    offset = findFrame(region, offset + 8, header.epoch, header.firstLsn, crc32c);
  }
}
