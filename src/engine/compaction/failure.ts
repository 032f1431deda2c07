// What a failed compaction tells: the disk's own error in words that say what to do.

import { HedgerowError } from '../../errors.ts';
import { FileInDoubt } from '../../storage/index.ts';

/**
 * An error of the operating system becomes `disk_full` or `disk_failed`, with its code in `fields`;
 * any other stays. Nothing was changed.
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
 * An install of a manifest failed when the new one may be there already: only a restart tells which
 * one it is.
 */
export function isInDoubt(error: unknown): boolean {
  return error instanceof FileInDoubt || (error instanceof HedgerowError && error.cause instanceof FileInDoubt);
}
