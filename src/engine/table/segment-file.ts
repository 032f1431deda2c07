// A segment file of a table as the engine sees it: its path, the facts in its header and its
// reference count.

import { assert } from '../../assert.ts';
import type { SegmentFacts } from '../../core/index.ts';
import { corruption, HedgerowError } from '../../errors.ts';
import { DeadList } from './dead-rows.ts';

export class SegmentFile {
  /** Unique in its table and ascending; part of the file name. */
  readonly number: number;
  readonly path: string;
  readonly facts: SegmentFacts;
  readonly dead = new DeadList();
  /** Number of versions that contain it. At 0 the file may be removed. */
  references = 0;
  /**
   * Cached figures of whole columns (scan-segments.ts): 40 bytes each, compared with about 3 MB for
   * a full segment.
   */
  readonly figures = new Map<number, Float64Array>();
  /** Whether this process has checked it in depth. */
  checked = false;

  constructor(number: number, path: string, facts: SegmentFacts) {
    assert(facts.timeMin <= facts.timeMax && facts.rows > 0, 'a segment has rows, in the order of their times');
    this.number = number;
    this.path = path;
    this.facts = facts;
  }
}

/** Whether all rows of the second segment come after those of the first, by time, then by id. */
export function isInOrder({ facts: before }: SegmentFile, { facts: after }: SegmentFile): boolean {
  return before.timeMax < after.timeMin || (before.timeMax === after.timeMin && before.lastId < after.firstId);
}

export function segmentName(number: number): string {
  return `seg-${number.toString(16).padStart(12, '0')}.hgs`;
}

/** The number in a segment file's name; null if it is not such a name. */
export function segmentNumber(name: string): number | null {
  const match = /^seg-([0-9a-f]{12})\.hgs$/.exec(name);
  return match ? Number.parseInt(match[1]!, 16) : null;
}

/**
 * Turns a failed read of a segment file into corruption if the file is corrupt, missing or
 * unreadable; throws any other error.
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
