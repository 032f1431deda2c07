// Entry point of the compaction worker thread: receives the parts of a compaction and answers with
// the files that it wrote.

import { parentPort } from 'node:worker_threads';
import { loadCore } from '../../core/index.ts';
import { nodeFs } from '../../storage/index.ts';
import { serve } from '../../threads/serve.ts';
import { InlineRunner } from './merge-files.ts';
import type { CompactionCalls } from './work.ts';

const port = parentPort!;
const runner = new InlineRunner(nodeFs, loadCore());

const receive = serve<CompactionCalls>((message, transfer) => port.postMessage(message, transfer), {
  open: (work) => runner.open(work),
  part: (work) => runner.part(work),
  close: () => runner.close(),
  flush: () => runner.flush(),
});
port.on('message', receive);
