// A segment file of a table as the engine knows it: where it is, what its header says, who still
// reads it.

import type { SegmentFacts } from '../../core/index.ts';
import { corruption, HedgerowError } from '../../errors.ts';
import { DeadList } from './dead-rows.ts';

export class SegmentFile {
  /** Unique in its table, counts up: the file's name. */
  readonly number: number;
  readonly path: string;
  readonly facts: SegmentFacts;
  readonly dead = new DeadList();
  /** Versions that hold it. At 0 the file may go. */
  references = 0;
  /**
   * Figures of whole columns that aggregates took (scan-segments.ts): 40 bytes for each, beside
   * some 3 MB of a full segment.
   */
  readonly figures = new Map<number, Float64Array>();
  /** Checked in depth in this process. */
  checked = false;

  constructor(number: number, path: string, facts: SegmentFacts) {
    this.number = number;
    this.path = path;
    this.facts = facts;
  }
}

/** Whether all rows of a segment come after those of another, by time and then by id. */
export function isInOrder({ facts: before }: SegmentFile, { facts: after }: SegmentFile): boolean {
  return before.timeMax < after.timeMin || (before.timeMax === after.timeMin && before.lastId < after.firstId);
}

export function segmentName(number: number): string {
  return `seg-${number.toString(16).padStart(12, '0')}.hgs`;
}

/** Number of a segment file's name, or null. */
export function segmentNumber(name: string): number | null {
  const match = /^seg-([0-9a-f]{12})\.hgs$/.exec(name);
  return match ? Number.parseInt(match[1]!, 16) : null;
}

/**
 * What a failed read of a segment file means; anything but corruption, a missing or an unreadable
 * file is thrown on.
 */
export function asCorruption(error: unknown, path: string): HedgerowError {
  if (error instanceof HedgerowError) {
    if (error.code === 'corrupt') return error;
    throw error;
  }
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ENOENT') return corruption(path, 0, 'the file is missing');
  if (code === 'EIO' || code === 'EACCES') return corruption(path, 0, `it cannot be read (${code})`);
  throw error;
}
