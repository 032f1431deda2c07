import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HedgerowApiError, HedgerowClient, HedgerowConnectionError } from '../../src/client/index.ts';
import { startWorld, type World } from '../service/worlds.ts';
import { caught } from './scripted-fetch.ts';

const ROWS = 5000;
const WINDOW = { start_ts: 0, end_ts: ROWS };

/**
 * Number of bytes of the compressed answer that the proxy passes on before it cuts the connection.
 */
const PASSED_BYTES = 20_000;

let world: World;
let client: HedgerowClient;
beforeAll(async () => {
  world = await startWorld();
  client = clientAt(world.url);
  const edges = Array.from({ length: ROWS }, (_, ts) => ({ event_ts: ts, members: [ts % 10, 100 + ts] }));
  expect(await client.hyperedges.insertMany(edges)).toMatchObject({ inserted: ROWS, first_id: 1, last_id: ROWS });
});
afterAll(() => world.close());

function clientAt(url: string, options = {}): HedgerowClient {
  return new HedgerowClient({ url, apiKey: 'bootstrap', maxAttempts: 1, ...options });
}

test('a stream returns every row of the window in order', async () => {
  let count = 0;
  for await (const row of client.hyperedges.rangeRows(WINDOW)) expect(row.event_ts).toBe(count++);
  expect(count).toBe(ROWS);
});

test('pages return the same rows as one answer', async () => {
  const rows: number[] = [];
  for await (const page of client.hyperedges.nodePages(3, { limit: 70 }))
    rows.push(...page.hyperedges.map((row) => row.id));
  const whole = await client.hyperedges.node(3);
  expect(rows).toEqual(whole.hyperedges.map((row) => row.id));
  expect(rows).toHaveLength(ROWS / 10);
});

test('a loop that is left early ends the stream at the service', async () => {
  for (let i = 0; i < 20; i++) {
    for await (const row of client.hyperedges.rangeRows(WINDOW)) {
      expect(row.event_ts).toBe(0);
      break;
    }
  }
  expect((await client.hyperedges.range({ ...WINDOW, limit: 1 })).num_tuples).toBe(1);
});

describe('errors', () => {
  test('contain the detail that the service sent', async () => {
    const error = (await caught(client.hyperedges.insert({ event_ts: 1.5, members: [1] }))) as HedgerowApiError;
    expect(error).toBeInstanceOf(HedgerowApiError);
    expect(error).toMatchObject({ statusCode: 400, code: 'invalid_input', errors: [{ loc: ['body', 'event_ts'] }] });
    expect(error.detail).toContain('event_ts');
    expect(error.requestId).toBeTruthy();
    expect(await caught(client.tables.get('nope'))).toMatchObject({ statusCode: 404, code: 'table_not_found' });
    expect(await caught(clientAt(world.url, { apiKey: 'x' }).tables.list())).toMatchObject({ statusCode: 401 });
  });

  test('are connection errors when the service is unreachable', async () => {
    const gone = await startWorld();
    await gone.close();
    expect(await caught(clientAt(gone.url).service.live())).toBeInstanceOf(HedgerowConnectionError);
  });

  test('contain how long to wait', async () => {
    const limited = await startWorld({ rateLimitQpm: 1 });
    const error = async () => (await caught(clientAt(limited.url).wal.status())) as HedgerowApiError | undefined;
    await error();
    expect(await error()).toMatchObject({ statusCode: 429, code: 'rate_limited', retryAfter: expect.any(Number) });
    await limited.close();
  });
});

test('a write whose answer is lost is executed once', async () => {
  let count = 0;
  const lossy = clientAt(world.url, {
    maxAttempts: 3,
    baseDelayMs: 1,
    fetch: async (url: string, init: RequestInit) => {
      const response = await fetch(url, init);
      count += 1;
      if (count === 3) return response;
      await response.arrayBuffer();
      throw new TypeError('fetch failed');
    },
  });
  const edge = await lossy.hyperedges.insert({ event_ts: -77, members: [1] });
  expect(count).toBe(3);
  const found = await client.hyperedges.range({ start_ts: -77, end_ts: -77 });
  expect(found.hyperedges.map((row) => row.id)).toEqual([edge.id]);
});

test('an Idempotency-Key of the caller identifies one write', async () => {
  const edge = { event_ts: -78, members: [1] };
  const first = await client.hyperedges.insert(edge, { idempotencyKey: 'import 1' });
  expect(await client.hyperedges.insert(edge, { idempotencyKey: 'import 1' })).toEqual(first);
  const other = client.hyperedges.insert({ ...edge, weight: 1 }, { idempotencyKey: 'import 1' });
  expect(await caught(other)).toMatchObject({ statusCode: 409, code: 'idempotency_conflict' });
});

test("minLsn waits for a log position, and readYourWrites for the position of the client's own writes", async () => {
  const own = clientAt(world.url, { readYourWrites: true });
  const before = world.database.lastLsn;
  await own.hyperedges.insert({ event_ts: -79, members: [1] });
  expect(own.lastLsn).toBeGreaterThan(before);
  expect((await own.hyperedges.range({ start_ts: -79, end_ts: -79 })).num_tuples).toBe(1);
  const hurried = await startWorld({ queryTimeoutMs: 20 });
  const error = await caught(clientAt(hurried.url).tables.list({ minLsn: 2 ** 50 }));
  expect(error).toMatchObject({ statusCode: 504, code: 'timeout' });
  await hurried.close();
});

describe('a connection that is cut in the middle of a stream', () => {
  let proxy: Server;
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    const target = Number(new URL(world.url).port);
    // Passes the head and some rows on, then closes both sides.
    proxy = createServer((socket) => {
      const upstream = connect(target, '127.0.0.1');
      for (const one of [socket, upstream]) {
        sockets.add(one);
        one.on('error', () => {});
      }
      socket.pipe(upstream);
      let passed = 0;
      upstream.on('data', (data) => {
        const part = data.subarray(0, PASSED_BYTES - passed);
        passed += part.length;
        socket.write(part, () => {
          if (passed < PASSED_BYTES) return;
          socket.destroy();
          upstream.destroy();
        });
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });

  test('makes the stream throw after the complete rows', async () => {
    const { port } = proxy.address() as { port: number };
    const far = clientAt(`http://127.0.0.1:${port}`);
    let count = 0;
    const read = async () => {
      for await (const row of far.hyperedges.rangeRows(WINDOW)) expect(row.event_ts).toBe(count++);
    };
    expect(await caught(read())).toBeInstanceOf(HedgerowConnectionError);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(ROWS);
  });
});
