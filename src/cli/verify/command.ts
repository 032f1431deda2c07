// `hedgerow verify DIR`: reads every byte of a data directory and reports what is corrupt, without
// changing anything.

import { resolve } from 'node:path';
import { loadCore, makeChecksum } from '../../core/index.ts';
import { verifyDirectory } from '../../engine/index.ts';
import { nodeFs } from '../../storage/index.ts';
import { reportFailure, type World } from '../world.ts';
import { verificationText } from './verification-text.ts';

export interface VerifyFlags {
  json?: boolean | undefined;
}

/** Resolves with the exit code: 0 on success, 1 when something is corrupt or cannot be read. */
export async function verifyCommand(path: string, flags: VerifyFlags, world: World): Promise<number> {
  try {
    const dir = resolve(world.cwd, path);
    if (!['manifest', 'log'].some((name) => nodeFs.exists(`${dir}/${name}`)))
      throw new Error(`${dir} is not a data directory: it contains neither a manifest nor a log.`);
    const core = loadCore();
    const tools = { fs: nodeFs, crc32c: makeChecksum(core.instantiate()), core };
    const report = await verifyDirectory(tools, dir, () => Promise.resolve());
    world.stdout.write(
      flags.json === true ? `${JSON.stringify(report)}\n` : `${verificationText(report).join('\n')}\n`,
    );
    return report.problems.length === 0 ? 0 : 1;
  } catch (error) {
    return reportFailure(world, error);
  }
}
