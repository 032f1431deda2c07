// Opens an address in the user's browser on this machine.

import { spawn } from 'node:child_process';

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // Does not use the command `start` of cmd, for which an `&` in the address would end the command.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Resolves with false when no browser could be started. */
export function openPage(url: string): Promise<boolean> {
  const [command, ...parameters] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(command, [...parameters, url], { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
