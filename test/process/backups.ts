// Checks the backup archives that writers left. Every file with the final name of an archive must
// be complete. The newest must also restore to a directory that opens.

import { readdirSync, rmSync } from 'node:fs';
import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { checkArchive } from '../../src/engine/backup/check-archive.ts';
import { restoreBackup } from '../../src/engine/backup/restore.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

const NAME = /^hedgerow-\d{8}T\d{6}Z-\d+\.tar\.gz$/;
const core = loadCore();

/** Checks all archives, restores the newest into `target`, then removes `dir` and `target`. */
export async function checkBackups(dir: string, target: string): Promise<void> {
  const names = readdirSync(dir).filter((name) => NAME.test(name));
  for (const name of names) await checkArchive({ fs: nodeFs, path: `${dir}/${name}`, progress: () => undefined });
  const newest = names.sort().at(-1);
  if (newest !== undefined) await restoreAndOpen(`${dir}/${newest}`, target);
  rmSync(dir, { recursive: true });
}

async function restoreAndOpen(file: string, dir: string): Promise<void> {
  const idle = { progress: () => undefined, checkStopped: () => undefined };
  await restoreBackup({ fs: nodeFs, crc32c: makeChecksum(core.instantiate()), core, file, dir, ...idle });
  const database = await openDatabase({ dir, memoryBudgetMb: 64 });
  await database.close();
  rmSync(dir, { recursive: true });
}
