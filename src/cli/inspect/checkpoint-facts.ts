// The manifest that belongs to a file, when the file lies in a data directory: it knows the names
// of tables and columns.

import { dirname, resolve } from 'node:path';
import { type Checkpoint, checkCheckpoint, type FileTools, type TableDefinition } from '../../engine/verify/index.ts';
import { manifestPath, readManifest } from '../../storage/index.ts';

/** The checkpoint of a data directory, null without one. Throws `corrupt`. */
export function readCheckpoint(tools: FileTools, dir: string): Checkpoint | null {
  const document = readManifest(tools.fs, dir, tools.crc32c);
  return document === null ? null : checkCheckpoint(document, manifestPath(dir));
}

/**
 * Tables by number as the manifest `levels` directories above `path` has them; none when there is
 * no good one.
 */
export function tablesAround(tools: FileTools, path: string, levels: number): ReadonlyMap<number, TableDefinition> {
  let dir = resolve(path);
  for (let i = 0; i < levels; i++) dir = dirname(dir);
  try {
    const checkpoint = readCheckpoint(tools, dir);
    return new Map((checkpoint?.tables ?? []).map(({ definition }) => [definition.id, definition]));
  } catch {
    // Names are a help only: a damaged manifest is reported when the manifest itself is inspected.
    return new Map();
  }
}
