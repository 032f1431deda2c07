import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Load, usualLimits } from '../../src/http/load.ts';
import { Sample } from '../../src/http/sample.ts';
import { USUAL } from '../support/transport.ts';
import { manyEdges, NDJSON, openSocket, Recorder, raw, send, sleep, startServer, type TestServer } from './support.ts';

let server: TestServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
});

const RANGE = '/v1/hyperedges?start_ts=0&end_ts=1000000';
const EDGE = { event_ts: 1, members: [1] };
const insert = () => send(server, 'POST', '/v1/hyperedges', EDGE);
const TYPE = 'Content-Type: application/json\r\n';
const request = (line: string, headers = '', body = '') =>
  `${line} HTTP/1.1\r\nHost: x\r\n${line.startsWith('POST') ? TYPE : ''}${headers}\r\n${body}`;
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));

/** Makes inserts wait until the returned function is called. */
function holdInserts(): () => void {
  const table = server.database.table();
  const { insert: real } = table;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  table.insert = async (edge, attach) => {
    await released;
    return real.call(table, edge, attach);
  };
  return () => {
    table.insert = real;
    release();
  };
}

/** Opens a socket, sends the text and never reads the answer. */
async function silentReader(text: string): Promise<Socket> {
  const socket = await openSocket(server);
  sockets.push(socket);
  socket.pause();
  socket.on('error', () => {});
  socket.write(text);
  return socket;
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5);
}

describe('requests that wait', () => {
  test('are limited: beyond the limit, requests are refused before their body is read, except probes', async () => {
    const observer = new Recorder();
    server = await startServer({ limits: { requests: 3 }, observer });
    const release = holdInserts();
    const running = [insert(), insert(), insert()];
    await until(async () => (await send(server, 'GET', '/v1/tables')).status === 503);
    const refused = await raw(server, [request('POST /v1/hyperedges', 'Content-Length: 1000\r\n')]);
    expect(statuses(refused)).toEqual([503]);
    expect(refused).toContain('"code":"overloaded"');
    expect(refused).toMatch(/retry-after: 1\r\n/i);
    expect(refused).toMatch(/x-ratelimit-limit: /i);
    for (const probe of ['/health/live', '/health/ready']) expect((await send(server, 'GET', probe)).status).toBe(200);
    // Unknown paths and wrong methods are still refused as usual, not as `overloaded`.
    expect((await send(server, 'GET', '/nope')).status).toBe(404);
    expect((await send(server, 'PUT', '/v1/tables')).status).toBe(405);
    expect(observer.refusals.every((code) => code === 'overloaded')).toBe(true);
    expect(observer.refusals.length).toBeGreaterThanOrEqual(2);
    release();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await insert()).status).toBe(201);
    expect(server.errors).toEqual([]);
  });

  test('are counted after the checks of key and role, so a caller without access cannot see the load', async () => {
    server = await startServer({ auth: true, limits: { requests: 0 } });
    expect((await send(server, 'GET', '/v1/tables')).status).toBe(401);
    const ask = (key: string) => send(server, 'GET', '/v1/keys', undefined, { 'x-api-key': key });
    expect([(await ask(server.keys.readonly)).status, (await ask(server.keys.admin)).status]).toEqual([403, 503]);
  });

  test('free their place when the client disconnects', async () => {
    server = await startServer({ limits: { requests: 2 } });
    for (let i = 0; i < 5; i++) {
      const socket = await silentReader(request('POST /v1/hyperedges', 'Content-Length: 100\r\n', '{'));
      await silentReader(request('POST /v1/hyperedges', 'Content-Length: 100\r\n', '{'));
      await until(async () => (await send(server, 'GET', '/v1/tables')).status === 503);
      socket.destroy();
      for (const other of sockets.splice(0)) other.destroy();
      await until(async () => (await send(server, 'GET', '/v1/tables')).status === 200);
    }
  });
});

describe('streams', () => {
  test('are limited, and small answers are still served', async () => {
    server = await startServer({ limits: { streams: 2 } });
    await send(server, 'POST', '/v1/hyperedges', manyEdges(100_000), NDJSON);
    await silentReader(request(`GET ${RANGE}`));
    await silentReader(request(`GET ${RANGE}`, 'Accept: application/x-ndjson\r\n'));
    await until(async () => (await raw(server, [request(`GET ${RANGE}`)], 50)).startsWith('HTTP/1.1 503'));
    const third = await send(server, 'GET', RANGE);
    expect([third.status, third.json.code]).toEqual([503, 'overloaded']);
    expect((await send(server, 'GET', '/v1/hyperedges?start_ts=0&end_ts=5')).status).toBe(200);
    expect((await send(server, 'HEAD', RANGE)).status).toBe(200);
    for (const socket of sockets.splice(0)) socket.destroy();
    await until(async () => (await send(server, 'GET', RANGE)).status === 200);
    await until(() => server.database.table().version.references === 1);
    expect(server.errors).toEqual([]);
  });
});

describe('the bytes held for bodies', () => {
  test('are limited: a body is refused by its length, or when it grows too large', async () => {
    server = await startServer({ limits: { heldBytes: 300_000 } });
    const post = (headers: string, body = '') => request('POST /v1/hyperedges', headers, body);
    const half = 'x'.repeat(200_000);
    await silentReader(post('Content-Length: 250000\r\n', half));
    const statusOf = async (length: number) =>
      statuses(await raw(server, [post(`Content-Length: ${length}\r\n`)], 100))[0];
    await until(async () => (await statusOf(150_000)) === 503);
    expect(await statusOf(1000)).toBeUndefined();
    const chunk = `${(60_000).toString(16)}\r\n${'x'.repeat(60_000)}\r\n`;
    const growing = await raw(server, [post('Transfer-Encoding: chunked\r\n'), chunk, 50, chunk, 50]);
    // Only node:http accepts chunked bodies.
    expect(statuses(growing)).toEqual([USUAL === 'node' ? 503 : 411]);
    expect((await insert()).status).toBe(201);
    for (const socket of sockets.splice(0)) socket.destroy();
    await until(async () => (await statusOf(290_000)) !== 503);
    expect(server.errors).toEqual([]);
  });

  test('are counted while a body is processed and are released afterwards', async () => {
    server = await startServer({ limits: { heldBytes: 200_000 } });
    for (let i = 0; i < 10; i++) {
      expect((await send(server, 'POST', '/v1/hyperedges', manyEdges(4000), NDJSON)).status).toBe(201);
    }
  });
});

describe('clients that do not read', () => {
  /** An observer whose metrics are too large for any socket to take at once. */
  class Talkative extends Recorder {
    readonly text = Array.from({ length: 400_000 }, (_, i) => `line_${i} é ${'x'.repeat(50)}\n`).join('');
    override metrics = async () => ({ contentType: 'text/plain; charset=utf-8', text: this.text });
  }

  test('receive a whole answer at their own pace', async () => {
    const observer = new Talkative();
    server = await startServer({ observer });
    const socket = await silentReader(request('GET /metrics', 'Connection: close\r\n'));
    await sleep(50);
    expect(observer.requests).toEqual([]);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.resume();
    await new Promise((resolve) => socket.on('close', resolve));
    const all = Buffer.concat(chunks);
    const head = all.subarray(0, all.indexOf('\r\n\r\n')).toString();
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(observer.text)}`);
    expect(all.subarray(head.length + 4).equals(Buffer.from(observer.text))).toBe(true);
    expect(observer.requests.map(({ route, status }) => [route, status])).toEqual([['GET /metrics', 200]]);
  });

  test('are counted as disconnected, and their memory is released, when they leave during an answer', async () => {
    const observer = new Talkative();
    server = await startServer({ observer, limits: { heldBytes: 60_000_000 } });
    for (let i = 0; i < 3; i++) {
      const socket = await silentReader(request('GET /metrics'));
      // The answer uses up the memory budget, so that a body is refused.
      await until(
        async () =>
          statuses(await raw(server, [request('POST /v1/batch', 'Content-Length: 50000000\r\n')], 50))[0] === 503,
      );
      socket.destroy();
      await until(() => observer.requests.filter(({ status }) => status === 499).length > i);
    }
    expect((await insert()).status).toBe(201);
    expect(server.errors).toEqual([]);
  });

  test.each(['GET', 'HEAD'])('are disconnected when they pipeline many %s requests', async (method) => {
    const observer = new Recorder();
    server = await startServer({ observer });
    await send(server, 'POST', '/v1/hyperedges', manyEdges(2000), NDJSON);
    const path = method === 'GET' ? '/v1/hyperedges?start_ts=0&end_ts=600' : `/${'x'.repeat(100)}`;
    const socket = await openSocket(server);
    sockets.push(socket);
    socket.pause();
    let cut = false;
    socket.on('error', () => {
      cut = true;
    });
    const many = request(`${method} ${path}`).repeat(500);
    let sent = 0;
    while (!cut && sent < 2_000_000) {
      if (socket.write(many)) sent += 500;
      else await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), sleep(200)]);
    }
    expect(cut).toBe(true);
    expect((await send(server, 'GET', '/health/live')).status).toBe(200);
    expect(server.errors).toEqual([]);
  });

  test('do not affect a client that reads: its pipelined requests are all answered in order', async () => {
    server = await startServer();
    await send(server, 'POST', '/v1/hyperedges', manyEdges(500), NDJSON);
    let text = '';
    for (let i = 0; i < 90; i++) {
      const close = i === 89 ? 'Connection: close\r\n' : '';
      text += request(`GET /v1/hyperedges?start_ts=${i}&end_ts=${i}`, `X-Request-Id: n${i}.\r\n${close}`);
    }
    // The connection is closed after the last answer, however long that takes.
    const answer = await raw(server, [text], 50_000);
    expect(answer).toContain('[closed]');
    expect(statuses(answer)).toEqual(new Array(90).fill(200));
    const ids = [...answer.matchAll(/X-Request-Id: n(\d+)\./g)].map((match) => Number(match[1]));
    expect(ids).toEqual(Array.from({ length: 90 }, (_, i) => i));
  });
});

describe('a turn of the event loop', () => {
  const limits = usualLimits(2 ** 20);

  const turnOver = () => new Promise((resolve) => setImmediate(resolve));

  test('serves requests for a limited time', async () => {
    const load = new Load(limits);
    const states: [number, boolean][] = [];
    for (let ms = 0; ms <= 120; ms += 0.25) {
      load.arrive(5000 + ms);
      if (states.at(-1)?.[1] !== load.isFull) states.push([ms, load.isFull]);
    }
    expect(states).toEqual([
      [0, false],
      [30, true],
    ]);
    await turnOver();
    load.arrive(5121);
    expect(load.isFull).toBe(false);
  });

  test('serves a minimum number of requests, however long they take', () => {
    const load = new Load(limits);
    for (let i = 0; i < 100; i++) {
      load.arrive(i * 3000);
      expect(load.isFull).toBe(false);
    }
    load.arrive(300_000);
    expect(load.isFull).toBe(true);
  });

  test('refuses all requests but probes when its time is used up, and cuts off a client that sent many', async () => {
    server = await startServer({ limits: { turnMs: 0 } });
    // All requests arrive in one packet, hence in one event loop turn or a few.
    const text = await raw(server, [request('GET /v1/tables').repeat(600)]);
    expect(text.endsWith('[closed]')).toBe(true);
    const answers = statuses(text);
    expect(answers.length).toBeGreaterThanOrEqual(100);
    expect(answers.length).toBeLessThan(600);
    expect(new Set(answers)).toEqual(new Set([200]));
    // Each request arrives on its own connection, all in one turn.
    const open = await Promise.all(Array.from({ length: 150 }, () => openSocket(server)));
    sockets.push(...open);
    const replies = open.map(
      (socket) => new Promise((resolve) => socket.once('data', (data) => resolve(data.toString()))),
    );
    for (const socket of open) socket.write(request('GET /v1/tables'));
    const codes = (await Promise.all(replies)).map((reply) => statuses(String(reply))[0]);
    expect(codes.filter((code) => code === 200).length).toBeGreaterThanOrEqual(100);
    expect(codes.filter((code) => code !== 200 && code !== 503)).toEqual([]);
    const probes = await raw(server, [request('GET /health/live').repeat(600)]);
    expect(statuses(probes)).toEqual(new Array(600).fill(200));
  });

  test('defers other requests to later turns when handlers are slow', async () => {
    server = await startServer({ limits: { handlersMs: 0 } });
    const open = await Promise.all(Array.from({ length: 20 }, () => openSocket(server)));
    sockets.push(...open);
    const replies = open.map(
      (socket) => new Promise((resolve) => socket.once('data', (data) => resolve(data.toString()))),
    );
    for (const socket of open) socket.write(request('GET /v1/tables'));
    const codes = (await Promise.all(replies)).map((reply) => statuses(String(reply))[0]);
    expect(codes).toEqual(new Array(20).fill(200));

    const load = new Load(limits);
    expect(load.isLongTurn(1000)).toBe(false);
    expect(load.isLongTurn(1029)).toBe(false);
    expect(load.isLongTurn(1031)).toBe(true);
    await turnOver();
    expect(load.isLongTurn(1032)).toBe(false);
  });

  test('accepts long bodies while there is memory to parse them, and always at least one', () => {
    const load = new Load({ ...limits, parsedBytes: 100 });
    expect(load.takeParsed(150)).toBe(true);
    expect(load.takeParsed(1)).toBe(false);
    load.parsedBytes -= 150;
    expect([load.takeParsed(60), load.takeParsed(40), load.takeParsed(1)]).toEqual([true, true, false]);
  });

  test('ends at once when the heap is full', () => {
    const load = new Load({ ...limits, heapShare: 0 });
    expect(load.isFull).toBe(false);
    load.look();
    expect(load.isFull).toBe(true);
  });
});

test('the sampler picks one request in sixteen, at irregular distances', () => {
  for (const seed of [0, 1, -5, 123456789]) {
    const sample = new Sample(seed);
    const distances = new Map<number, number>();
    let picked = 0;
    let since = 0;
    for (let i = 0; i < 160_000; i++) {
      since += 1;
      if (!sample.next()) continue;
      picked += 1;
      distances.set(since, (distances.get(since) ?? 0) + 1);
      since = 0;
    }
    expect(Math.abs(picked - 10_000)).toBeLessThan(500);
    expect(distances.size).toBeGreaterThan(40);
    expect(Math.max(...distances.values())).toBeLessThan(picked / 5);
  }
});
