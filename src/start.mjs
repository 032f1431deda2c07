// Implements `npm start`: builds what serving needs if it is missing, then serves. A missing
// console is built while the service runs, so that requests need not wait for it.

import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { buildMissing, stateOf } from './build-missing.mjs';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

try {
  buildMissing('service');
  // An old console is rebuilt before the service starts, because the service keeps its pages in
  // memory.
  if (stateOf('pages') === 'old') buildMissing('pages');
  if (stateOf('pages') === 'none') buildPagesMeanwhile();
} catch (error) {
  process.stderr.write(`hedgerow: not built (${error.message}); \`npm install\` installs what the build needs.\n`);
  process.exit(1);
}
process.argv.splice(1, 1, pathOf('../dist/main.js'), 'serve');
await import('../dist/main.js');

function buildPagesMeanwhile() {
  process.stderr.write('hedgerow: the console and the page at /docs are being built meanwhile.\n');
  const isWindows = process.platform === 'win32';
  const child = spawn(process.execPath, [pathOf('build-missing.mjs'), 'pages'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // A process group of its own, so that it can be ended together with all its child processes.
    detached: !isWindows,
  });
  child.on('error', (error) => process.stderr.write(`hedgerow: the console is not built: ${error.message}\n`));
  child.on('exit', (code) => {
    if (code !== 0) process.stderr.write('hedgerow: the console is not built; `npm run build:console` says why.\n');
  });
  child.unref();
  const { pid } = child;
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Without permission to lower the priority, the build runs at the normal one.
  }
  process.once('exit', () => {
    try {
      process.kill(isWindows ? pid : -pid);
    } catch {
      // The build has already ended.
    }
  });
}
