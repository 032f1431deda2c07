// Checks that a worker thread lowers its own priority and not that of the process.

import { once } from 'node:events';
import { constants, getPriority } from 'node:os';
import { platform } from 'node:process';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { builtScript } from '../../src/threads/script.ts';

const MODULE = builtScript(new URL('../../src/threads/serve.ts', import.meta.url).href, 'priority.js');
const SCRIPT = `
  import { readlinkSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { parentPort } from 'node:worker_threads';
  import { lowerPriority } from '${MODULE}';
  const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  const before = getPriority(thread);
  lowerPriority();
  parentPort.postMessage([before, getPriority(thread)]);
`;

test.skipIf(platform !== 'linux')(
  'a worker thread lowers its priority, and the main thread keeps its own',
  async () => {
    const ofProcess = getPriority();
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`));
    const [[before, after]] = await once(worker, 'message');
    await worker.terminate();
    expect(before).toBe(ofProcess);
    expect(after).toBe(Math.max(before, constants.priority.PRIORITY_BELOW_NORMAL));
    expect(getPriority()).toBe(ofProcess);
  },
);
