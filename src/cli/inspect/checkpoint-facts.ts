// Reads the manifest of the data directory that contains a file, because the manifest has the names
// of tables and columns.

import { dirname, resolve } from 'node:path';
import { type Checkpoint, checkCheckpoint, type FileTools, type TableDefinition } from '../../engine/verify/index.ts';
import { manifestPath, readManifest } from '../../storage/index.ts';

/** Returns the checkpoint of a data directory; null when there is none. Throws `corrupt`. */
export function readCheckpoint(tools: FileTools, dir: string): Checkpoint | null {
  const document = readManifest(tools.fs, dir, tools.crc32c);
  return document === null ? null : checkCheckpoint(document, manifestPath(dir));
}

/**
 * Returns the tables by number from the manifest `levels` directories above `path`; none when there
 * is no valid manifest.
 */
export function tablesAround(tools: FileTools, path: string, levels: number): ReadonlyMap<number, TableDefinition> {
  let dir = resolve(path);
  for (let i = 0; i < levels; i++) dir = dirname(dir);
  try {
    const checkpoint = readCheckpoint(tools, dir);
    return new Map((checkpoint?.tables ?? []).map(({ definition }) => [definition.id, definition]));
  } catch {
    // Names only make the output easier to read. A damaged manifest is reported when the manifest
    // itself is inspected.
    return new Map();
  }
}
