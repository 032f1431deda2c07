// Entry script of the measure worker thread: connects its port to ThreadCalls.

import { parentPort, workerData } from 'node:worker_threads';
import { loadCore } from '../core/index.ts';
import { nodeFs } from '../storage/index.ts';
import type { ToThread } from '../threads/messages.ts';
import { lowerPriority } from '../threads/priority.ts';
import { ThreadCalls } from './thread-calls.ts';

lowerPriority();
const port = parentPort!;
const calls = new ThreadCalls({
  post: (message, transfer) => port.postMessage(message, transfer),
  fs: nodeFs,
  module: loadCore(),
  cacheBytes: (workerData as { cacheBytes: number }).cacheBytes,
  now: () => performance.now(),
});

port.on('message', (message: ToThread) => calls.receive(message));
