// Errors of failed compactions: translates the disk's error into words that say what to do.

import { HedgerowError } from '../../errors.ts';
import { FileInDoubt } from '../../storage/index.ts';

/**
 * Turns an operating system error into `disk_full` or `disk_failed`, with its code in `fields`;
 * returns any other error unchanged. To be used where nothing was changed.
 */
export function compactionError(error: unknown): unknown {
  if (error instanceof HedgerowError) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== 'string' || !/^E[A-Z0-9]+$/.test(code)) return error;
  const more = { cause: error, fields: { system_code: code } };
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new HedgerowError(
      'disk_full',
      `The disk is full: ${message}. Free space, then compact again; nothing was changed.`,
      more,
    );
  }
  return new HedgerowError(
    'disk_failed',
    `The disk failed: ${message}. Check the disk and the rights on the data directory, then compact again; nothing was changed.`,
    more,
  );
}

/**
 * Whether installing a manifest failed at a point where the new one may already be in place; only a
 * restart shows which one it is.
 */
export function isInDoubt(error: unknown): boolean {
  return error instanceof FileInDoubt || (error instanceof HedgerowError && error.cause instanceof FileInDoubt);
}
