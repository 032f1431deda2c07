// What all inspectors share: the disk, the checksum, the core, and how a problem is told.

import type { CoreModule } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { Crc32c } from '../../storage/crc32c.ts';
import type { Fs } from '../../storage/fs.ts';

export interface InspectTools {
  readonly fs: Fs;
  readonly crc32c: Crc32c;
  readonly core: CoreModule;
}

/** Bytes that are not what was written. */
export interface Problem {
  file: string;
  offset: number;
  what: string;
}

/** The problem that a `corrupt` error tells; every other error is thrown on. */
export function problemOf(error: unknown, file: string): Problem {
  if (!(error instanceof HedgerowError) || error.code !== 'corrupt') throw error;
  const { file: named, offset } = error.fields ?? {};
  return {
    file: typeof named === 'string' ? named : file,
    offset: typeof offset === 'number' ? offset : 0,
    what: error.message,
  };
}

export function problemText({ file, offset, what }: Problem): string {
  return what.includes(file) ? `PROBLEM ${what}` : `PROBLEM ${file} at offset ${offset}: ${what}`;
}

/** Rows of cells as lines; columns of numbers are aligned to the right. */
export function tableText(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const isNumber = head.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  return cells.map((row) =>
    row
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}

/** An epoch second as UTC, where it is a date that people use. */
export function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace('.000Z', 'Z');
}
