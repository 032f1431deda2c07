// The error of a log that cannot be written any more.

import { HedgerowError } from '../errors.ts';

/** Returns the error for the first failure of a log, with what to do. */
export function failureOf(cause: unknown, path: string): HedgerowError {
  if (cause instanceof HedgerowError && cause.code === 'conflict') return cause;
  const full = (cause as { code?: unknown } | null)?.code === 'ENOSPC';
  const reason = cause instanceof Error ? cause.message : String(cause);
  const advice = full ? 'Free disk space, then restart' : 'Check the disk and the system journal, then restart';
  return new HedgerowError(
    full ? 'disk_full' : 'log_failed',
    `The log cannot be written any more (${path}: ${reason}). Reads go on, writes are refused. ${advice}: only a restart can determine what is on the disk.`,
    { fields: { file: path }, cause },
  );
}
