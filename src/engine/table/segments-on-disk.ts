// Opens segment files: reads the facts in their headers and their node filters, without loading the
// rows.

import { assertChecksum, type Core, FilterDirectory, readSegmentFacts } from '../../core/index.ts';
import { corruption } from '../../errors.ts';
import type { FileHandle } from '../../storage/index.ts';
import type { EngineContext } from '../context.ts';
import { asCorruption, SegmentFile, segmentName } from './segment-file.ts';
import { SEGMENT_HEADER_BYTES, segmentHeadBytes } from './segment-sections.ts';
import type { Table } from './table.ts';

const HEAD_BYTES = 4096;
const MAX_HEAD_BYTES = 1 << 20;

/** A segment as listed in the manifest. */
export interface SegmentEntry {
  number: number;
  bytes: number;
  /** The checksum stored in the file's header (SegmentFacts). Absent in older manifests. */
  checksum?: number;
}

/** Returns the manifest's entry for a segment. */
export function entryOf({ number, facts: { bytes, checksum } }: SegmentFile): SegmentEntry {
  return { number, bytes, checksum };
}

function readAt(handle: FileHandle, offset: number, bytes: number): Uint8Array {
  const target = new Uint8Array(bytes);
  let at = 0;
  while (at < bytes) {
    const n = handle.read(target.subarray(at), offset + at);
    if (n === 0) break;
    at += n;
  }
  return target.subarray(0, at);
}

/**
 * Opens a segment file and checks its header against the manifest's entry. Throws `corrupt` or the
 * system's error.
 */
export function openSegmentFile(table: Table, entry: SegmentEntry, scratch: Core): SegmentFile {
  const path = `${table.dir}/${segmentName(entry.number)}`;
  const handle = table.context.fs.open(path, 'read');
  try {
    if (handle.size() !== entry.bytes) {
      throw corruption(
        path,
        Math.min(handle.size(), entry.bytes),
        `it has ${handle.size()} bytes, the manifest says ${entry.bytes}`,
      );
    }
    const directoryEnd = segmentHeadBytes(readAt(handle, 0, SEGMENT_HEADER_BYTES));
    const headBytes = Math.min(entry.bytes, Math.max(HEAD_BYTES, Math.min(MAX_HEAD_BYTES, directoryEnd)));
    const facts = readSegmentFacts(scratch, readAt(handle, 0, headBytes), entry.bytes, path);
    if (facts.table !== table.id)
      throw corruption(path, 120, `it belongs to table number ${facts.table}, not ${table.id}`);
    assertChecksum(facts, entry.checksum, path);
    return new SegmentFile(entry.number, path, facts);
  } finally {
    handle.close();
  }
}

/**
 * Updates the table's node filters to the segments of its current version. If a filter cannot be
 * read, the table refuses requests from now on. If there is not enough memory for all filters, the
 * table has no filters, and lookups search every segment.
 */
export function refreshFilters(table: Table): void {
  const { filterRoom, nodeFilters } = table.context;
  const { segments } = table.version;
  const filters = table.filters ?? new FilterDirectory(filterRoom);
  // The table has no filters until all are read, because a lookup must not use the filters of the
  // previous version.
  table.change({ filters: undefined });
  if (segments.length < 2 || !nodeFilters) {
    filters.close();
    return;
  }
  const numbers = segments.map((segment) => segment.number);
  filters.keep(numbers);
  const missing = segments.filter((segment) => !filters.has(segment.number));
  const bytes = missing.reduce((sum, { facts }) => sum + facts.filterBytes, 0);
  let done: 'added' | 'damaged' | 'no_room' = filterRoom.fits(bytes) ? 'added' : 'no_room';
  for (let at = 0; at < missing.length && done === 'added'; at++) done = addFilter(table, filters, missing[at]!);
  if (done === 'added' && filters.arrange(numbers)) {
    table.change({ filters });
    return;
  }
  filters.close();
  if (done !== 'damaged') table.context.noFilters(table);
}

/**
 * Reads and adds the filter of one segment. Returns `damaged` if the filter cannot be read or its
 * checksum does not match. The table then refuses requests, because a wrong filter would hide rows.
 */
function addFilter(table: Table, filters: FilterDirectory, segment: SegmentFile): 'added' | 'damaged' | 'no_room' {
  const { path, facts } = segment;
  try {
    const done = filters.add(segment.number, readFilter(table.context, segment), facts);
    if (done === 'damaged') throw corruption(path, facts.filterOffset, "the node filter's checksum does not match");
    return done;
  } catch (error) {
    table.refuse(asCorruption(error, path));
    return 'damaged';
  }
}

function readFilter(context: EngineContext, segment: SegmentFile): Uint8Array {
  const handle = context.fs.open(segment.path, 'read');
  try {
    return readAt(handle, segment.facts.filterOffset, segment.facts.filterBytes);
  } finally {
    handle.close();
  }
}
