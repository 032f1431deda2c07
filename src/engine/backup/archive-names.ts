// Names used in backups: the name of the file, and the names of the entries that it may contain.

import { segmentName } from '../table/segment-file.ts';

/** The description of the backup, which is always the first entry. */
export const ABOUT_NAME = 'backup.json';
/**
 * The checksums, always the last entry: one line for each other entry, in the format of `sha256sum
 * -c`.
 */
export const SUMS_NAME = 'SHA256SUMS';
export const MANIFEST_NAME = 'manifest';

/** Files of a data directory that belong in a backup. No other file is archived or restored. */
const DATA_NAME =
  /^(?:manifest|log\/(?:mark|log-[0-9a-f]{16})|tables\/[1-9][0-9]{0,14}\/seg-[0-9a-f]{12}\.hgs|replays\/replays-[0-9a-f]{8})$/;

export function isDataName(name: string): boolean {
  return DATA_NAME.test(name);
}

export function segmentEntryName(table: number, segment: number): string {
  return `tables/${table}/${segmentName(segment)}`;
}

const STAMP = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/**
 * Returns the name of a backup file, with the time in UTC; example:
 * `hedgerow-20240131T235959Z-42.tar.gz`.
 */
export function archiveName(epochMs: number, lsn: number): string {
  const parts = new Map(STAMP.formatToParts(epochMs).map(({ type, value }) => [type, value]));
  const text = (type: Intl.DateTimeFormatPartTypes) => parts.get(type)!;
  const day = `${text('year')}${text('month')}${text('day')}`;
  return `hedgerow-${day}T${text('hour')}${text('minute')}${text('second')}Z-${lsn}.tar.gz`;
}
