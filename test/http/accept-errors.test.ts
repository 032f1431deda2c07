// Tests that an error while a connection is accepted reaches the listening server and does not end
// the process.

import { Server } from 'node:http';
import { expect, test } from 'vitest';
import { startServer } from './support.ts';

test('a failed accept does not end the process that serves over node:http', async () => {
  const server = await startServer({ transport: 'node' });
  try {
    const handles = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
    const [listening] = handles.filter(
      (handle): handle is Server =>
        handle instanceof Server && (handle.address() as { port: number } | null)?.port === server.port,
    );
    for (let attempt = 0; attempt < 3; attempt++)
      listening!.emit('error', Object.assign(new Error('accept ENFILE'), { code: 'ENFILE' }));
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
  } finally {
    await server.close();
  }
});
