// Errors of opening a database that say what to do.

import { HedgerowError } from '../errors.ts';

/**
 * Turns the error of a full disk into one that says what to do; returns any other error unchanged.
 */
export function openingError(error: unknown, dir: string): unknown {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (error instanceof HedgerowError || (code !== 'ENOSPC' && code !== 'EDQUOT')) return error;
  return new HedgerowError(
    'disk_full',
    `There is no room on the disk to open ${dir} (${message}). Free some space, then start again; nothing was changed.`,
    { fields: { file: dir }, cause: error },
  );
}
