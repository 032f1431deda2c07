// Translates the errors of failed compactions: a disk error becomes an error that says what to do.

import { HedgerowError } from '../../errors.ts';
import { FileInDoubt } from '../../storage/index.ts';

/**
 * Turns an operating system error into `disk_full` or `disk_failed`, with the system's code in
 * `fields`. Returns any other error unchanged. The message states that nothing was changed, so call
 * it only where that is true.
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
 * Returns whether installing a manifest failed at a point where the new manifest may already be in
 * place. Only a restart shows whether the old or the new one is.
 */
export function isInDoubt(error: unknown): boolean {
  return error instanceof FileInDoubt || (error instanceof HedgerowError && error.cause instanceof FileInDoubt);
}
