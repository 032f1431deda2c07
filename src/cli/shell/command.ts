// `hedgerow shell`: runs statements one after another, on a terminal or from a script.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { formatOf, openRunner, type RunnerFlags, timesOf } from '../query/options.ts';
import { reportFailure, type World } from '../world.ts';
import { runScript } from './script.ts';
import { ShellSession } from './session.ts';
import { runTerminal } from './terminal.ts';

export interface ShellFlags extends RunnerFlags {
  format?: string | undefined;
  times?: string | undefined;
}

/**
 * Resolves with the exit code: 0 on success; 1 when the database cannot be opened, or a statement
 * or command of a script fails; 2 for a wrong call.
 */
export async function shellCommand(flags: ShellFlags, world: World): Promise<number> {
  try {
    const format = formatOf(flags.format, world);
    const times = timesOf(flags.times);
    const session = new ShellSession(await openRunner(flags, world), { format, times }, world);
    try {
      if (world.stdin.isTTY !== true || world.stdout.isTTY !== true) return await runScript(session);
      world.stdout.write('Statements end with a semicolon. .help lists the commands of the shell.\n');
      await session.learnNames();
      const home = world.environment.HOME ?? homedir();
      return await runTerminal(session, join(home, '.hedgerow_history'));
    } finally {
      await session.close();
    }
  } catch (error) {
    return reportFailure(world, error);
  }
}
