// The worker thread of compaction: takes parts, answers what was written.

import { parentPort } from 'node:worker_threads';
import { loadCore } from '../../core/index.ts';
import { nodeFs } from '../../storage/index.ts';
import { InlineRunner } from './merge-files.ts';
import type { Work } from './work.ts';

const port = parentPort!;
const runner = new InlineRunner(nodeFs, loadCore());

async function answer(work: Work): Promise<unknown> {
  if (work.kind === 'open') return runner.open(work);
  if (work.kind === 'part') return runner.part(work);
  return work.kind === 'close' ? runner.close() : runner.flush();
}

port.on('message', (message: { call: number; work: Work }) => {
  answer(message.work).then(
    (value) => port.postMessage({ call: message.call, value }),
    (error: Error & { code?: string; fields?: unknown }) =>
      port.postMessage({
        call: message.call,
        error: { message: error.message, code: error.code, fields: error.fields },
      }),
  );
});
