// The directories of the workers' databases. Whatever is in them comes from the leader, and can
// come again.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Name of the directory, in the data directory, of the workers' own directories. */
export const WORKERS_DIR = 'workers';

export function directoryOf(dataDir: string, number: number): string {
  return join(dataDir, WORKERS_DIR, String(number));
}

/** Removes the directories of workers above `count`, and nothing that a worker has not made. */
export function removeOthers(dataDir: string, count: number): void {
  const dir = join(dataDir, WORKERS_DIR);
  for (const name of existsSync(dir) ? readdirSync(dir) : [])
    if (/^[1-9]\d{0,3}$/.test(name) && Number(name) > count) emptyDirectory(join(dir, name));
}

/** Removes a worker's directory, which the worker makes anew. */
export function emptyDirectory(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}
