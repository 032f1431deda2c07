import type { Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import {
  manyEdges,
  NDJSON,
  openSocket,
  Recorder,
  type ServerOptions,
  send,
  sleep,
  startServer,
  type TestServer,
} from './support.ts';

const EDGES = 200_000;
/**
 * The transport itself closes a connection to which it could not write for 10 s. A connection that
 * ends before this time was closed by the service.
 */
const TRANSPORT_MS = 9000;
const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const ALL = request('/v1/hyperedges?start_ts=0&end_ts=1000000');

let server: TestServer;
let observer: Recorder;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
});

async function start(options: ServerOptions): Promise<void> {
  observer = new Recorder();
  server = await startServer({ observer, ...options });
  for (let from = 0; from < EDGES; from += 50_000)
    await send(server, 'POST', '/v1/hyperedges', manyEdges(50_000, from), NDJSON);
  observer.requests.length = 0;
}

async function silentReader(text: string): Promise<void> {
  const socket = await openSocket(server);
  sockets.push(socket);
  socket.pause();
  socket.on('error', () => {});
  socket.write(text);
}

/**
 * Reads `partBytes` every 20 ms until the answer or the connection ends. Returns whether the answer
 * was complete.
 */
async function slowReader(text: string, partBytes: number): Promise<boolean> {
  const socket = await openSocket(server);
  sockets.push(socket);
  let tail = '';
  let taken = 0;
  const ended = new Promise<boolean>((resolve) => {
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
    socket.on('data', (data) => {
      taken += data.length;
      tail = (tail + data.toString('latin1')).slice(-5);
      if (tail === '0\r\n\r\n') resolve(true);
      if (taken < partBytes) return;
      taken = 0;
      socket.pause();
      setTimeout(() => socket.resume(), 20);
    });
  });
  socket.write(text);
  return ended;
}

/**
 * Waits until a request has ended with this status, and returns how many milliseconds that took.
 */
async function until(status: number): Promise<number> {
  const startMs = performance.now();
  while (!observer.requests.some((request) => request.status === status)) await sleep(10);
  return performance.now() - startMs;
}

test('a stream whose client reads nothing is closed', async () => {
  await start({ limits: { stallMs: 500 } });
  await silentReader(ALL);
  const ms = await until(499);
  expect(ms).toBeGreaterThan(450);
  expect(ms).toBeLessThan(TRANSPORT_MS);
});

test('the connection of a client that reads nothing of a complete answer is closed', async () => {
  await start({ limits: { stallMs: 500 } });
  const text = 'x'.repeat(40_000_000);
  observer.metrics = async () => ({ contentType: 'text/plain', text });
  await silentReader(request('/metrics'));
  const ms = await until(499);
  expect(ms).toBeGreaterThan(450);
  expect(ms).toBeLessThan(TRANSPORT_MS);
});

test('a stream with a slow client is ended after HEDGEROW_STREAM_MAX_SECONDS', async () => {
  await start({ limits: { stallMs: 30_000 }, streamMaxSeconds: 2 });
  // At this pace, 14 MB take more than 4 seconds.
  expect(await slowReader(ALL, 64 * 1024)).toBe(false);
  expect(observer.requests.map(({ status }) => status)).toEqual([499]);
});

test('a slow client receives the whole stream when there is no limit', async () => {
  await start({ limits: { stallMs: 30_000 } });
  const startMs = performance.now();
  expect(await slowReader(ALL, 64 * 1024)).toBe(true);
  expect(performance.now() - startMs).toBeGreaterThan(2000);
});
