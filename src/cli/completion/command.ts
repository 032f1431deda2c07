// `hedgerow completion SHELL`: prints the completion script for a shell.

import { reportFailure, UsageError, type World } from '../world.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { type CommandTree, type Shell, shellOf } from './tree.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS: Readonly<Record<Shell, (tree: CommandTree) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Returns the exit code: 0 on success, 2 for an unknown shell. */
export function completionCommand(name: string, tree: CommandTree, world: World): number {
  const shell = shellOf(name);
  if (shell === undefined) {
    const known = Object.keys(SCRIPTS).join(', ');
    return reportFailure(
      world,
      new UsageError(`There is no completion for ${JSON.stringify(name)}, only for ${known}.`),
    );
  }
  world.stdout.write(SCRIPTS[shell](tree));
  return 0;
}
