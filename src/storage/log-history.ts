// The history of the log: files that nobody needs for recovery, kept for those who read what has
// changed. A file is kept until its newest frame is older than the given time, but the oldest files
// are removed as soon as all of them together are larger than the given size.

import type { Crc32c } from './crc32c.ts';
import { FILE_HEADER_BYTES, FRAME_HEADER_BYTES, peekFrame, regionOf } from './frame.ts';
import type { Fs } from './fs.ts';
import { readLogFileHeader } from './inspect-log.ts';
import type { ClosedLogFile } from './log-file.ts';
import type { RecoveredLog } from './log-recovery.ts';
import type { LogHistory } from './log-store.ts';
import { readFully } from './whole-file.ts';

/**
 * Returns how many of the first `count` files, oldest first, are no longer part of the history.
 * `now` is in epoch seconds.
 */
export function beyondHistory(
  files: readonly ClosedLogFile[],
  count: number,
  { seconds, bytes }: LogHistory,
  now: number,
): number {
  let kept = 0;
  for (const file of files.slice(0, count)) kept += file.bytes;
  for (let place = 0; place < count; place++) {
    const file = files[place]!;
    // A file that did not belong to the log when it was opened has no LSN.
    const isOld = file.firstLsn === 0 || (file.newestSeconds ?? 0) < now - seconds;
    if (!isOld && kept <= bytes) return place;
    kept -= file.bytes;
  }
  return count;
}

/**
 * Finds, among the files that are not needed for recovery, those that directly precede the needed
 * ones, and gives them their LSNs. Older files remain without an LSN: a crash has undone their
 * removal, or one between them and the log is missing or damaged. They are removed later.
 */
export function adoptHistory(fs: Fs, crc32c: Crc32c, { obsolete, needed }: RecoveredLog): ClosedLogFile[] {
  const files = [...obsolete];
  let next: Pick<ClosedLogFile, 'sequence' | 'firstLsn'> | undefined = needed[0];
  for (let place = files.length - 1; place >= 0 && next !== undefined; place--) {
    const file = { ...files[place]!, firstLsn: firstLsnOf(fs, crc32c, files[place]!) };
    if (file.firstLsn === 0 || file.firstLsn > next.firstLsn || file.sequence !== next.sequence - 1) break;
    files[place] = file;
    next = file;
  }
  return files;
}

function firstLsnOf(fs: Fs, crc32c: Crc32c, { path, sequence }: ClosedLogFile): number {
  try {
    const header = readLogFileHeader(fs, path, crc32c);
    return header.sequence === sequence ? header.firstLsn : 0;
  } catch {
    // Nobody needs the file, so its damage is no reason not to open the log.
    return 0;
  }
}

/**
 * Records for each file, oldest first, when its newest frame was appended: at the time of the first
 * frame of the next file, which may be a little later; for the newest file at `now`.
 */
export function dateFiles(fs: Fs, files: readonly ClosedLogFile[], now: number): void {
  for (const [place, file] of files.entries()) {
    const next = files[place + 1];
    if (file.firstLsn > 0) file.newestSeconds = (next && firstSecondsOf(fs, next)) || now;
  }
}

/** Returns the time of the first frame of a file in epoch seconds; 0 if there is none. */
function firstSecondsOf(fs: Fs, { path }: ClosedLogFile): number {
  const handle = fs.open(path, 'read');
  try {
    const head = new Uint8Array(FRAME_HEADER_BYTES);
    const length = readFully(handle, head, FILE_HEADER_BYTES);
    return peekFrame(regionOf(head.subarray(0, length)), 0)?.seconds ?? 0;
  } finally {
    handle.close();
  }
}
