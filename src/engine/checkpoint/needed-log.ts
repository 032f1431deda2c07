// Finds out which part of the log a data directory needs, without opening it.

import { type Crc32c, type Fs, manifestPath, readManifest } from '../../storage/index.ts';
import { appliedEverywhere, checkCheckpoint } from './checkpoint.ts';

/**
 * Returns the LSN after which the directory needs the log; undefined if it has no manifest. Throws
 * `corrupt`.
 */
export function neededLogLsn(fs: Fs, dir: string, crc32c: Crc32c): number | undefined {
  const manifest = readManifest(fs, dir, crc32c);
  return manifest === null ? undefined : appliedEverywhere(checkCheckpoint(manifest, manifestPath(dir)));
}
