// `hedgerow restore FILE --data DIR`: makes a data directory from a backup.

import { basename, resolve } from 'node:path';
import { loadCore, makeChecksum } from '../../core/index.ts';
import { restoreBackup } from '../../engine/index.ts';
import { nodeFs } from '../../storage/index.ts';
import { startWorkProgress } from '../progress.ts';
import { reportFailure, UsageError, type World } from '../world.ts';

export interface RestoreFlags {
  data?: string | undefined;
}

/**
 * Resolves with the exit code: 0 on success, 1 when the file or the directory cannot be used, 2 for
 * a wrong call.
 */
export async function restoreCommand(file: string, flags: RestoreFlags, world: World): Promise<number> {
  let stopped = false;
  const forget = world.onInterrupt(() => {
    stopped = true;
  });
  const progress = startWorkProgress({ output: world.stderr, label: basename(file), now: world.now });
  try {
    if (flags.data === undefined || flags.data === '') throw new UsageError('restore needs --data DIR.');
    const core = loadCore();
    const dir = resolve(world.cwd, flags.data);
    const { lsn, tables, files } = await restoreBackup({
      fs: nodeFs,
      crc32c: makeChecksum(core.instantiate()),
      core,
      file: resolve(world.cwd, file),
      dir,
      progress: (done) => progress.update(done),
      checkStopped: () => {
        if (stopped) throw new Error(`Interrupted; nothing was left in ${dir}.`);
      },
    });
    progress.stop();
    world.stdout.write(`restored ${dir}: LSN ${lsn}, ${files} files, tables ${tables.join(', ')}\n`);
    return 0;
  } catch (error) {
    progress.stop();
    return reportFailure(world, error);
  } finally {
    forget();
  }
}
