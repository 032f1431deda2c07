// The document that describes a backup; it is the first entry of the archive.

import { HedgerowError } from '../../errors.ts';

const KIND = 'hedgerow backup';
/**
 * In version 2 the log has format 2, which includes a mark file. Backups of version 1 can still be
 * read.
 */
const VERSION = 2;
const VERSIONS: readonly unknown[] = [1, VERSION];

/** The document `backup.json`. */
export interface BackupFacts {
  kind: typeof KIND;
  version: 1 | typeof VERSION;
  lsn: number;
  /** Epoch seconds. */
  created_at: number;
  /** Table names. */
  tables: string[];
}

export function backupFacts(lsn: number, createdAt: number, tables: readonly string[]): BackupFacts {
  return { kind: KIND, version: VERSION, lsn, created_at: createdAt, tables: [...tables] };
}

/** Parses and checks the document of a backup. Throws `invalid_input` if it is not valid. */
export function readBackupFacts(text: string): BackupFacts {
  let value: Partial<Record<keyof BackupFacts, unknown>> | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch (error) {
    throw noBackup(`its first entry is not JSON (${(error as Error).message})`);
  }
  if (value?.kind !== KIND) throw noBackup('its first entry does not say that it is one');
  if (!VERSIONS.includes(value.version))
    throw noBackup(`its version is ${String(value.version)}, and this build reads versions ${VERSIONS.join(' and ')}`);
  const { lsn, created_at: createdAt, tables } = value;
  const isWhole = Number.isSafeInteger(lsn) && (lsn as number) >= 0 && Number.isSafeInteger(createdAt);
  if (!isWhole || !Array.isArray(tables) || tables.some((name) => typeof name !== 'string'))
    throw noBackup('its first entry lacks a field');
  return value as BackupFacts;
}

/**
 * Returns the error for a file that is not a backup, or that is damaged. `what` completes the
 * sentence "The file cannot be restored: ...".
 */
export function noBackup(what: string): HedgerowError {
  return new HedgerowError('invalid_input', `The file cannot be restored: ${what}. Use another backup.`);
}
