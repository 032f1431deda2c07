// Shows an address in the browser of the person at this machine.

import { spawn } from 'node:child_process';

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // Not cmd's start: for it the & of an address ends the command.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** False when nothing could be started. */
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
