// Represents a segment file of a table in the engine: its path, the facts from its header, its dead
// rows and its reference count.

import { assert } from '../../assert.ts';
import type { SegmentFacts } from '../../core/index.ts';
import { corruption, HedgerowError } from '../../errors.ts';
import { DeadList } from './dead-rows.ts';

export class SegmentFile {
  /** Part of the file name. Unique within the table; newer segments have higher numbers. */
  readonly number: number;
  readonly path: string;
  readonly facts: SegmentFacts;
  readonly dead = new DeadList();
  /** Number of versions that contain the segment. At 0 the file may be removed. */
  references = 0;
  /**
   * Cached figures of whole columns (scan-segments.ts). They take 40 bytes per column, while a full
   * segment has several MB.
   */
  readonly figures = new Map<number, Float64Array>();
  /** Whether this process has checked the whole content of the segment. */
  checked = false;

  constructor(number: number, path: string, facts: SegmentFacts) {
    assert(facts.timeMin <= facts.timeMax && facts.rows > 0, 'a segment has rows, in the order of their times');
    this.number = number;
    this.path = path;
    this.facts = facts;
  }
}

/**
 * Returns whether all rows of the second segment come after those of the first, by time, then by
 * id.
 */
export function isInOrder({ facts: before }: SegmentFile, { facts: after }: SegmentFile): boolean {
  return before.timeMax < after.timeMin || (before.timeMax === after.timeMin && before.lastId < after.firstId);
}

export function segmentName(number: number): string {
  return `seg-${number.toString(16).padStart(12, '0')}.hgs`;
}

/**
 * Returns the number in the name of a segment file, or null if the name is not that of a segment.
 */
export function segmentNumber(name: string): number | null {
  const match = /^seg-([0-9a-f]{12})\.hgs$/.exec(name);
  return match ? Number.parseInt(match[1]!, 16) : null;
}

/**
 * Turns the error of a failed read into a `corrupt` error if the file is corrupt, missing or
 * unreadable. Throws any other error.
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
