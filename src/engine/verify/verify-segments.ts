// Checks the segments that a manifest lists for a table: the whole content of each segment, the
// order of the segments, and the held files.

import { type Core, loadSegment, type ResidentSegment } from '../../core/index.ts';
import { corruption } from '../../errors.ts';
import { heldFileName, readFully, readHeldFile } from '../../storage/index.ts';
import type { CheckpointTable } from '../checkpoint/checkpoint.ts';
import { checkOrder } from '../recovery/recovery.ts';
import { asCorruption, SegmentFile, segmentName } from '../table/segment-file.ts';
import { gapFault, readSegmentHead, segmentGaps } from '../table/segment-sections.ts';
import type { SegmentEntry } from '../table/segments-on-disk.ts';
import { type FileTools, type Problem, problemOf } from './problem.ts';
import type { NodeCheck } from './verify-nodes.ts';

/** Totals of the segments of a table in which no problem was found. */
export interface SegmentSums {
  segments: number;
  rows: number;
  bytes: number;
}

export interface SegmentWork {
  tools: FileTools;
  /** Data directory. */
  dir: string;
  problems: Problem[];
  /** What is known of nodes. */
  nodes: NodeCheck;
  /** Called before each file: yields to other work, and may throw to abort. */
  pause: () => Promise<void>;
}

export async function verifySegments(work: SegmentWork, item: CheckpointTable): Promise<SegmentSums> {
  const { tools, dir, problems, nodes, pause } = work;
  const sums: SegmentSums = { segments: 0, rows: 0, bytes: 0 };
  const core = tools.core.instantiate();
  let before: SegmentFile | undefined;
  for (const entry of item.segments) {
    await pause();
    const path = `${dir}/tables/${item.definition.id}/${segmentName(entry.number)}`;
    try {
      const { segment, resident } = readSegment(tools, core, path, entry);
      checkFacts(segment, item);
      nodes.takeSegment(item.definition, resident, path);
      checkOrder(before, segment);
      before = segment;
      sums.segments++;
      sums.rows += segment.facts.rows;
      sums.bytes += segment.facts.bytes;
    } catch (error) {
      problems.push(problemOf(asCorruption(error, path), path));
      nodes.unreadable(item.definition);
    }
  }
  await verifyHeld(work, item);
  return sums;
}

/** Checks the files of operations copied out of the log while the table was corrupt. */
async function verifyHeld({ tools, dir, problems, pause }: SegmentWork, item: CheckpointTable): Promise<void> {
  const { id } = item.definition;
  for (const { number, bytes, lsn } of item.held ?? []) {
    await pause();
    const path = `${dir}/tables/${id}/${heldFileName(number)}`;
    try {
      for (const record of readHeldFile(tools.fs, path, id, bytes, tools.crc32c)) {
        if (record.lsn > lsn) throw corruption(path, 0, `it has LSN ${record.lsn}, the manifest says ${lsn} at most`);
      }
    } catch (error) {
      problems.push(problemOf(asCorruption(error, path), path));
    }
  }
}

/**
 * Reads a segment file into the core instance, which is used for one file after another, and checks
 * every reference in the segment. Throws `corrupt` or the system's error.
 */
function readSegment(
  { fs }: FileTools,
  core: Core,
  path: string,
  entry: SegmentEntry,
): { segment: SegmentFile; resident: ResidentSegment } {
  const { number, bytes, checksum } = entry;
  const handle = fs.open(path, 'read');
  try {
    const size = handle.size();
    if (size !== bytes)
      throw corruption(path, Math.min(size, bytes), `it has ${size} bytes, the manifest says ${bytes}`);
    core.exports.hg_memory_reset();
    const read = (target: Uint8Array) => void readFully(handle, target, 0);
    const resident = loadSegment(core, bytes, read, { deep: true, file: path, checksum });
    for (const gap of segmentGaps(readSegmentHead(handle), bytes)) {
      const found = new Uint8Array(gap.bytes);
      readFully(handle, found, gap.offset);
      if (found.some((byte) => byte !== 0)) throw gapFault(path, gap.offset);
    }
    return { segment: new SegmentFile(number, path, resident.facts), resident };
  } finally {
    handle.close();
  }
}

/**
 * Checks that the header of a segment fits its table. The offsets in the errors are those of the
 * header fields (assembly/FORMAT.md section 2).
 */
function checkFacts({ path, facts }: SegmentFile, { definition, nextId }: CheckpointTable): void {
  const { id, bucketSeconds } = definition;
  if (facts.table !== id) throw corruption(path, 120, `it belongs to table number ${facts.table}, not ${id}`);
  if (facts.bucketSeconds !== bucketSeconds)
    throw corruption(path, 40, `its buckets have ${facts.bucketSeconds} s, those of the table ${bucketSeconds} s`);
  if (facts.idMax >= nextId)
    throw corruption(path, 72, `it holds edge id ${facts.idMax}, but the next id to be given out is ${nextId}`);
}
