// A worker of a service: a process that answers reads for another one, which starts it
// (src/workers).

import { startApp } from './app.ts';
import type { Config } from './config.ts';
import { WorkerPeer } from './workers/index.ts';

// A signal to all processes of a terminal is for the one that leads; it ends its workers.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const peer = await WorkerPeer.begin<Config>();
try {
  const app = await startApp({ config: peer.config, sources: new Map(), warnings: [] }, peer);
  peer.listen({
    answer: (question) => app.answer(question),
    usage: (usage) => app.charge(usage),
    reopen: () => app.reopenLogs(),
    close: (reason) =>
      void app.close(reason).then(
        () => process.exit(0),
        () => process.exit(1),
      ),
  });
  await app.ready;
  await peer.tell({ kind: 'ready' });
} catch (error) {
  // A copy is not synced, so a crash of the machine may have damaged it.
  const isDamaged = (error as { code?: unknown }).code === 'corrupt';
  await peer.fail((error as Error).message, isDamaged);
}
