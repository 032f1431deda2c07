import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Scan } from '../../src/engine/index.ts';
import { manyEdges, NDJSON, openSocket, send, sleep, startServer, type TestServer } from './support.ts';

const EDGES = 200_000;
const ALL = '/v1/hyperedges?start_ts=0&end_ts=1000000';
const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  for (let from = 0; from < EDGES; from += 50_000) {
    await send(server, 'POST', '/v1/hyperedges', manyEdges(50_000, from), NDJSON);
  }
});
afterAll(() => server.close());

/** Watches the scans of the primary table, and counts the slices read and the open scans. */
function watchScans() {
  const table = server.database.table();
  const { scan } = table;
  const seen = { slices: 0, open: 0 };
  table.scan = (...parameters: Parameters<typeof scan>): Scan => {
    const inner = scan.apply(table, parameters);
    const { fill, close } = inner;
    let isOpen = true;
    seen.open += 1;
    inner.fill = (sink) => {
      seen.slices += 1;
      return fill.call(inner, sink);
    };
    inner.close = () => {
      if (isOpen) seen.open -= 1;
      isOpen = false;
      close.call(inner);
    };
    return inner;
  };
  return { seen, restore: () => void Object.assign(table, { scan }) };
}

test('a full export is complete, in order and valid JSON', async () => {
  const { json } = await send(server, 'GET', ALL);
  expect(json.num_tuples).toBe(EDGES);
  expect(json.hyperedges).toHaveLength(EDGES);
  expect(json.hyperedges.every((row: { event_ts: number }, i: number) => row.event_ts === i)).toBe(true);
});

test('a slow client receives everything while the scan waits', async () => {
  const { seen, restore } = watchScans();
  const socket = await openSocket(server);
  socket.pause();
  socket.write(request(ALL));
  // Waits until the buffers between server and client are full, which takes a while on a busy
  // machine.
  let early = -1;
  for (let tries = 0; tries < 100 && (seen.slices === 0 || seen.slices !== early); tries++) {
    early = seen.slices;
    await sleep(300);
  }
  expect(seen.slices).toBe(early);
  let size = 0;
  let tail = '';
  await new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      size += data.length;
      tail = (tail + data.toString('latin1')).slice(-20);
      if (tail.endsWith('0\r\n\r\n')) resolve();
      else if (size % 7 === 0) {
        socket.pause();
        setTimeout(() => socket.resume(), 2);
      }
    });
    socket.resume();
  });
  expect(seen.slices).toBeGreaterThan(early * 2);
  expect(seen.open).toBe(0);
  socket.destroy();
  restore();
});

test('a client that disconnects stops its scan', async () => {
  const { seen, restore } = watchScans();
  const socket = await openSocket(server);
  socket.write(request(ALL));
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  await sleep(50);
  expect(seen.open).toBe(1);
  socket.destroy();
  await sleep(200);
  expect(seen.open).toBe(0);
  const stopped = seen.slices;
  await sleep(100);
  expect(seen.slices).toBe(stopped);
  restore();
});

test('the scan stops if the client disconnects while the rows of a limited NDJSON answer are counted', async () => {
  const { seen, restore } = watchScans();
  const socket = await openSocket(server);
  socket.write(`GET ${ALL}&limit=150000 HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\n\r\n`);
  await sleep(5);
  socket.destroy();
  await sleep(300);
  expect(seen.open).toBe(0);
  restore();
});

test('HEAD of a large result closes its scan', async () => {
  const { seen, restore } = watchScans();
  const answer = await send(server, 'HEAD', ALL);
  expect([answer.status, answer.text, seen.open]).toEqual([200, '', 0]);
  restore();
});

test('a scan that fails midway cuts off the answer', async () => {
  const table = server.database.table();
  const { scan } = table;
  table.scan = (...parameters: Parameters<typeof scan>): Scan => {
    const inner = scan.apply(table, parameters);
    const { fill } = inner;
    let count = 0;
    inner.fill = (sink) => {
      count += 1;
      if (count > 20) throw new Error('disk gone');
      return fill.call(inner, sink);
    };
    return inner;
  };
  await expect(send(server, 'GET', ALL)).rejects.toThrow();
  Object.assign(table, { scan });
  expect(server.errors.splice(0).join()).toContain('disk gone');
  expect((await send(server, 'GET', '/health/live')).status).toBe(200);
});

test('small requests stay fast while exports run', async () => {
  const exports = Array.from({ length: 6 }, () => send(server, 'GET', ALL).then((answer) => answer.json.num_tuples));
  const waits: number[] = [];
  let running = true;
  const done = Promise.all(exports).then((counts) => {
    running = false;
    return counts;
  });
  const socket = await openSocket(server);
  while (running) {
    const begun = performance.now();
    socket.write(request('/health/live'));
    await new Promise((resolve) => socket.once('data', resolve));
    waits.push(performance.now() - begun);
  }
  socket.destroy();
  expect(await done).toEqual(Array(6).fill(EDGES));
  waits.sort((a, b) => a - b);
  expect(waits[Math.floor(waits.length / 2)]).toBeLessThan(200);
});

test('closing the service waits for running answers and refuses new requests', async () => {
  const own = await startServer();
  await send(own, 'POST', '/v1/hyperedges', manyEdges(50_000), NDJSON);
  const socket = await openSocket(own);
  const idle = await openSocket(own);
  let text = '';
  // The answer has begun, but it does not continue until this client reads again.
  const begun = new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      if (text === '') socket.pause();
      text += data.toString('latin1');
      resolve();
    });
  });
  socket.write(request(ALL));
  await begun;
  const closing = own.close();
  idle.write(request('/health/ready'));
  const refused = await new Promise<Buffer>((resolve) => idle.once('data', resolve));
  expect(refused.toString()).toMatch(/^HTTP\/1\.1 503 .*"code":"draining"/s);
  socket.resume();
  await closing;
  expect(text.endsWith('0\r\n\r\n')).toBe(true);
  await expect(openSocket(own)).rejects.toThrow();
});
