// Writes the rows of an import in parts. Each request is stored completely or not at all. Rows that
// the service refuses are left out and collected; other failures end the import.

import { HedgerowApiError } from '../../client/index.ts';
import { dataChanged } from '../state.ts';

const PART_ROWS = 2000;
/** With more refusals than this, the whole file is probably wrong. */
const MOST_REFUSED = 20;

/** What an import writes. */
export interface Job {
  readonly table: string;
  readonly noun: 'edge' | 'node';
  readonly rows: readonly object[];
  /**
   * Creates what is missing, unless the import goes on. Resolves with a function that makes the
   * lines of some rows.
   */
  readonly open: (goesOn: boolean) => Promise<(rows: readonly object[]) => Promise<readonly object[]>>;
  /** Stores all of the lines or none. Sending them twice with one key stores them once. */
  readonly send: (lines: readonly object[], idempotencyKey: string) => Promise<unknown>;
}

export interface Refused {
  readonly row: object;
  readonly reason: string;
}

export interface Progress {
  readonly written: number;
  readonly refused: readonly Refused[];
}

/** One import. It may be stopped and continued; no part is written twice. */
export interface Import {
  readonly job: Job;
  /** Distinguishes the requests of this import from those of all others. */
  readonly key: string;
  /** The progress of an earlier call for the same import. */
  readonly before: Progress | undefined;
}

export function newImportKey(): string {
  return `import-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
}

/** Returns the number of rows that have been written or refused. */
export function doneRows(progress: Progress | undefined): number {
  return progress === undefined ? 0 : progress.written + progress.refused.length;
}

/** Returns whether a stopped import can continue. It cannot if too many rows were refused. */
export function canGoOn(progress: Progress | undefined): boolean {
  return (progress?.refused.length ?? 0) <= MOST_REFUSED;
}

/**
 * Writes the rows. When a part fails, the parts before it stay written and the error is rethrown
 * unchanged. Ends early when `leaving` is aborted.
 */
export async function writeRows(
  { job, key, before }: Import,
  leaving: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Progress> {
  let progress: Progress = before ?? { written: 0, refused: [] };
  onProgress(progress);
  const first = doneRows(before);
  const { rows } = job;
  try {
    const linesOf = await job.open(first > 0);
    for (let start = first; start < rows.length && !leaving.aborted; start += PART_ROWS) {
      const part = rows.slice(start, start + PART_ROWS);
      const { written, refused } = await writePart(part, await linesOf(part), job, `${key}-${start}`);
      progress = { written: progress.written + written, refused: [...progress.refused, ...refused] };
      onProgress(progress);
      if (!canGoOn(progress))
        throw new Error(`The service refuses one row after the other. The first: ${progress.refused[0]!.reason}`);
    }
    return progress;
  } finally {
    await dataChanged();
  }
}

async function writePart(
  part: readonly object[],
  lines: readonly object[],
  { send }: Job,
  key: string,
): Promise<Progress> {
  const refused: Refused[] = [];
  let written = 0;
  await insert(lines, 0);
  return { written, refused };

  /**
   * Sends lines. A part with a bad line is refused as a whole, so its halves are tried, down to the
   * single line.
   */
  async function insert(some: readonly object[], first: number): Promise<void> {
    if (some.length === 0 || refused.length > MOST_REFUSED) return;
    try {
      await send(some, `${key}-${first}-${some.length}`);
      written += some.length;
    } catch (error) {
      const isRefused = error instanceof HedgerowApiError && (error.statusCode === 400 || error.statusCode === 422);
      if (!isRefused) throw error;
      if (some.length === 1) {
        refused.push({ row: part[first]!, reason: error.detail });
        return;
      }
      const half = Math.ceil(some.length / 2);
      await insert(some.slice(0, half), first);
      await insert(some.slice(half), first + half);
    }
  }
}
